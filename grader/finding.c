#include "grader/finding.h"

#include <stdio.h>
#include <string.h>

/* What to do about each kind of finding. */
static const struct {
    const char *kind, *hint;
} hints[] = {
    {"out_of_bounds",
     "which index of that line reaches its tensor's size? A thread beyond the last "
     "output must return before it reads or writes"},
    {"misaligned", "an access of 8 or 16 bytes needs an address that is a multiple of it"},
    {"uninitialised",
     "memory is read that nothing was written to: which thread should have, and has "
     "it reached __syncthreads()?"},
    {"use_after_free", "memory of an earlier call is used: take scratch memory from "
                       "conv_workspace() in every call"},
    {"invalid_address", "a null or host pointer in a kernel: x, k and y are device pointers, what "
                        "else does that line follow?"},
    {"race_raw", "a value is read that another thread writes without a barrier between: add "
                 "__syncthreads() after the tile is loaded"},
    {"race_war", "a value is overwritten that another thread may still read: add __syncthreads() "
                 "before the next tile is loaded"},
    {"race_waw", "two threads write the same place: give each its own, or use an atomic"},
    {"barrier_divergence",
     "__syncthreads() must be reached by all threads of the block: not inside "
     "an if, not behind a return"},
    {"no_progress", "does every loop of the kernel end? Check each condition and step"},
};

bool gr_finding_first(const struct tsv *table, struct gr_run *run)
{
    static const char *const columns[] = {"kind",  "kernel", "file",   "line",
                                          "block", "thread", "detail", "count"};
    enum { KIND, KERNEL, FILE_NAME, LINE, BLOCK, THREAD, DETAIL, COUNT, COLUMNS };
    const char *cell[COLUMNS];
    bool whole = table->rows > 0;
    for (int i = 0; whole && i < COLUMNS; i++) {
        int column = tsv_column(table, columns[i]);
        whole = column >= 0;
        if (whole)
            cell[i] = tsv_cell(table, 0, column);
    }
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
    }
    return whole;
}
