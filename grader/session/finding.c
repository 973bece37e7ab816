#include "grader/session/finding.h"

#include <stdio.h>
#include <string.h>

/* What to do about each kind of finding. */
static const struct {
    const char *kind, *hint;
} hints[] = {
    {"out_of_bounds",
     "which index of that line reaches its tensor's size? A thread beyond the last output must return before it reads or writes"},
    {"misaligned", "an access of 8 or 16 bytes needs an address that is a multiple of it"},
    {"uninitialised",
     "memory is read that nothing was written to: which thread should have, and has it reached __syncthreads()?"},
    {"use_after_free",
     "memory of an earlier call is used: take scratch memory from conv_workspace() in every call"},
    {"invalid_address",
     "a null or host pointer in a kernel: x, k and y are device pointers, what else does that line follow?"},
    {"race_raw",
     "a value is read that another thread writes without a barrier between: add __syncthreads() after the tile is loaded"},
    {"race_war",
     "a value is overwritten that another thread may still read: add __syncthreads() before the next tile is loaded"},
    {"race_waw", "two threads write the same place: give each its own, or use an atomic"},
    {"race_global",
     "several blocks add to the same element, and x += a is a load, an addition and a store: use atomicAdd()"},
    {"barrier_divergence",
     "__syncthreads() must be reached by all threads of the block: not inside an if, not behind a return"},
    {"no_progress", "does every loop of the kernel end? Check each condition and step"},
};

/* How near a kind of finding is to the mistake. A barrier that only some threads reach, or that is
 * missing, shows first in a read of what another thread has not written yet. */
static int cause(const char *kind)
{
    return strcmp(kind, "barrier_divergence") == 0 ? 2 : strncmp(kind, "race_", 5) == 0;
}

/* The finding to tell of: the first, unless it follows from another in the same kernel. */
static size_t choose(const struct tsv *table, int kind, int kernel)
{
    size_t chosen = 0;
    const char *first = tsv_cell(table, 0, kind);
    if (strcmp(first, "uninitialised") != 0 && cause(first) == 0)
        return 0;
    for (size_t i = 1; i < table->rows; i++)
        if (strcmp(tsv_cell(table, i, kernel), tsv_cell(table, 0, kernel)) == 0 &&
            cause(tsv_cell(table, i, kind)) > cause(tsv_cell(table, chosen, kind)))
            chosen = i;
    return chosen;
}

bool gr_finding_first(const struct tsv *table, struct gr_run *run)
{
    static const char *const columns[] = {"kind",  "kernel", "file",   "line",
                                          "block", "thread", "detail", "count"};
    enum { KIND, KERNEL, FILE_NAME, LINE, BLOCK, THREAD, DETAIL, COUNT, COLUMNS };
    int column[COLUMNS];
    const char *cell[COLUMNS];
    bool whole = table->rows > 0;
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = tsv_column(table, columns[i]);
        whole = whole && column[i] >= 0;
    }
    size_t row = whole ? choose(table, column[KIND], column[KERNEL]) : 0;
    for (int i = 0; whole && i < COLUMNS; i++)
        cell[i] = tsv_cell(table, row, column[i]);
    if (whole) {
        const char *slash = strrchr(cell[FILE_NAME], '/');
        snprintf(run->pattern, sizeof run->pattern, "%s", cell[KIND]);
        snprintf(run->message, sizeof run->message,
                 "%s at %s:%s, kernel %.100s, block %s, thread %s: %.200s (%s time%s%s)",
                 cell[KIND], slash ? slash + 1 : cell[FILE_NAME], cell[LINE], cell[KERNEL],
                 cell[BLOCK], cell[THREAD], cell[DETAIL], cell[COUNT],
                 strcmp(cell[COUNT], "1") ? "s" : "",
                 table->rows > 1 ? "; more findings below" : "");
        run->hint[0] = '\0';
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
            if (strcmp(hints[i].kind, cell[KIND]) == 0)
                snprintf(run->hint, sizeof run->hint, "%s", hints[i].hint);
        if (strstr(cell[DETAIL], "asynchronous copy"))
            snprintf(
                run->hint, sizeof run->hint,
                "asynchronous copies must be waited for, by the threads that began them, before __syncthreads() and the first read: __pipeline_wait_prior(0)");
    }
    return whole;
}

bool gr_finding_refused(const struct gr_device_record *record, struct gr_run *run)
{
    static const struct {
        const char *call, *pattern, *hint;
    } calls[] = {
        {"Launch", "launch_failed",
         "look at the launch: at least one and at most 1024 threads per block, no grid size 0 (is the number of blocks rounded up?), y and z at most 65535, shared memory; the virtual GPU says below which it was"},
        {"Symbol", "symbol_copy_failed",
         "is the __constant__ array large enough for what is copied, and are sizes in bytes?"},
        {"FuncSetAttribute", "attribute_refused",
         "a block has no more shared memory than the device says (cudaDevAttrMaxSharedMemoryPerBlockOptin): what does your code do for larger layers?"},
    };
    /* Other calls a program may make in vain and do without: for memory, for one. */
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        for (size_t i = 0; i < record->rows; i++) {
            const struct gr_device_row *row = &record->row[i];
            if (strcmp(row->kind, "api") != 0 || !row->error || !strstr(row->name, calls[k].call))
                continue;
            snprintf(run->pattern, sizeof run->pattern, "%s", calls[k].pattern);
            snprintf(run->message, sizeof run->message, "%.100s was refused with CUDA error %d",
                     row->name, row->error);
            snprintf(run->hint, sizeof run->hint, "%s", calls[k].hint);
            return true;
        }
    }
    return false;
}
