/* The grader's sentence about what the virtual GPU found: "KIND at FILE:LINE, kernel ..., block ...,
 * thread ...: detail", with a hint from finding_hints.def. choose() selects the finding that is
 * closest to the mistake. A refused runtime call comes before the findings that follow from it. */
#include "grader/session/finding.h"

#include "grader/session/loop_names.h"
#include "grader/session/source_clues.h"
#include "base/files.h"
#include "base/shown_path.h"
#include "nn/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Matches a race in shared memory between two lines. */
#define IN_TWO_LINES ""

static const struct {
    const char *kind, *word, *hint;
} hints[] = {
#define FINDING(kind, word, hint) {kind, word, hint},
#include "grader/session/finding_hints.def"
};

static const struct {
    const char *words, *hint;
} refusal_hints[] = {
#define REFUSED(words, hint) {words, hint},
#include "grader/session/finding_hints.def"
};

#define HINT_MATRIX                                                                                \
    "does the fragment fit the array? row_major: the last argument is the length of the array's rows, in elements; col_major: of its columns, which then are contiguous. If it fits: which thread should have written the element?"

/* Whether the two accesses of a race ("at line N") are in different lines. */
static bool is_of_two_lines(const char *detail, int line)
{
    const char *at = strstr(detail, " at line ");
    return at && atoi(at + strlen(" at line ")) != line;
}

static bool fits(const char *word, const char *detail, int line)
{
    if (word && !word[0])
        return strstr(detail, "shared memory") && is_of_two_lines(detail, line);
    return !word || strstr(detail, word);
}

/* How close a kind of finding is to the mistake. A barrier that is missing, or that only some
 * threads reach, first shows as a read of data that another thread has not written yet. */
static int cause(const char *kind)
{
    return strcmp(kind, "barrier_divergence") == 0 ? 2 : strncmp(kind, "race_", 5) == 0;
}

/* A note: right programs may do this. */
static bool is_note(const struct tsv *table, size_t row, int kind)
{
    return strcmp(tsv_cell(table, row, kind), "store_order") == 0;
}

/* The finding to report: the first, unless it follows from another finding in the same kernel.
 * table->rows: there are only notes. */
static size_t choose(const struct tsv *table, int kind, int kernel)
{
    size_t first = 0;
    while (first < table->rows && is_note(table, first, kind))
        first++;
    size_t chosen = first;
    if (first == table->rows || (strcmp(tsv_cell(table, first, kind), "uninitialised") != 0 &&
                                 cause(tsv_cell(table, first, kind)) == 0))
        return first;
    for (size_t i = first + 1; i < table->rows; i++)
        if (strcmp(tsv_cell(table, i, kernel), tsv_cell(table, first, kernel)) == 0 &&
            cause(tsv_cell(table, i, kind)) > cause(tsv_cell(table, chosen, kind)))
            chosen = i;
    return chosen;
}

/* Whether a line of a source file contains a word. */
static bool line_has(const char *file, int line, const char *word)
{
    enum { MOST_BYTES = 4 << 20 };
    char *text;
    size_t bytes;
    if (line < 1 || file_read(file, MOST_BYTES, &text, &bytes, NULL))
        return false;
    const char *at = text;
    for (int i = 1; i < line && *at; i++)
        at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
    const char *found = strstr(at, word);
    const bool has = found && found < at + strcspn(at, "\n");
    free(text);
    return has;
}

bool gr_finding_first(const struct tsv *table, const char *source, struct gr_run *run)
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
    const size_t row = whole ? choose(table, column[KIND], column[KERNEL]) : 0;
    whole = whole && row < table->rows;
    for (int i = 0; whole && i < COLUMNS; i++)
        cell[i] = tsv_cell(table, row, column[i]);
    if (whole) {
        const char *file = path_shown(cell[FILE_NAME], source);
        char names[240] = "";
        int line = atoi(cell[LINE]);
        if (strcmp(cell[KIND], "no_progress") == 0)
            gr_loop_names(file, &line, names, sizeof names);
        snprintf(run->pattern, sizeof run->pattern, "%s", cell[KIND]);
        snprintf(run->message, sizeof run->message,
                 "%s at %.200s:%d, kernel %.60s, block %s, thread %s: %.200s%s%s (%s time%s%s)",
                 cell[KIND], file, line, cell[KERNEL], cell[BLOCK], cell[THREAD], cell[DETAIL],
                 names[0] ? "; " : "", names, cell[COUNT], strcmp(cell[COUNT], "1") ? "s" : "",
                 table->rows > 1 ? "; more findings below" : "");
        run->hint[0] = '\0';
        for (size_t i = 0; i < sizeof hints / sizeof *hints && !run->hint[0]; i++)
            if (strcmp(hints[i].kind, cell[KIND]) == 0 &&
                fits(hints[i].word, cell[DETAIL], atoi(cell[LINE])))
                snprintf(run->hint, sizeof run->hint, "%s", hints[i].hint);
        if (strstr(cell[DETAIL], "shared memory") && line_has(file, line, "load_matrix_sync"))
            snprintf(run->hint, sizeof run->hint, "%s", HINT_MATRIX);
    }
    return whole;
}

/* Appends ", as large as x" for each tensor of this size. The harness allocates x, k and y first,
 * in this order.
 * @return whether a tensor has this size */
static bool name_sizes(const struct conv_shape *s, size_t bytes, unsigned long number, char to[32])
{
    const struct {
        const char *name;
        size_t elems;
    } tensor[] = {{"x", nn_conv_x_elems(s)}, {"k", nn_conv_k_elems(s)}, {"y", nn_conv_y_elems(s)}};
    to[0] = '\0';
    for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++)
        if (bytes == tensor[i].elems * sizeof(float) && (number > 3 || number == i + 1))
            sprintf(to + strlen(to), "%s%s", to[0] ? " and " : ", as large as ", tensor[i].name);
    return to[0] != '\0';
}

void gr_finding_name_memory(const struct conv_shape *shape, struct gr_run *run)
{
    static const char is_allocation[] = "-byte allocation from cudaMalloc #";
    char *at = strstr(run->message, is_allocation), name[32], rest[sizeof run->message];
    if (!at || strcmp(run->pattern, "out_of_bounds") != 0)
        return;
    char *digits = at;
    while (digits > run->message && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    at += strlen(is_allocation);
    const unsigned long number = strtoul(at, &at, 10);
    const bool behind = !strstr(run->message, "before the start");
    if (!name_sizes(shape, strtoull(digits, NULL, 10), number, name)) {
        snprintf(
            run->hint, sizeof run->hint,
            "that memory is neither x nor k nor y: is its size in bytes (elements times sizeof(float)), and is it large enough for everything that you store there? If so: which index of that line is too large?");
        return;
    }
    if (behind && strcmp(name, ", as large as y") == 0)
        snprintf(
            run->hint, sizeof run->hint,
            "y has [B][M][H_out][W_out] elements, with H_out = H - K + 1: does the index use H_out and W_out, not H and W or another K, and M, not C? Otherwise guard only that access: store nothing if the output does not exist (no return before __syncthreads())");
    snprintf(rest, sizeof rest, "%s", at);
    snprintf(at, sizeof run->message - (size_t)(at - run->message), "%s%s", name, rest);
}

static const char *error_name(int error)
{
    switch (error) {
#define X(number, name, text)                                                                      \
    case number:                                                                                   \
        return #name " (" text ")";
#include "vgpu/api/errors.def"
#undef X
    default:
        return "an error";
    }
}

/* The first printed line of the virtual GPU that contains the word, without the line's prefix. */
static bool line_with(const char *said, const char *word, char *to, size_t room)
{
    const char *at = said ? strstr(said, word) : NULL;
    if (at)
        snprintf(to, room, "%.*s", (int)strcspn(at, "\n"), at);
    return at != NULL;
}

/* A runtime call that may be refused: part of its name, the pattern of the mistake, the beginning of
 * the virtual GPU's line about the refusal, and the hint. */
struct refusal {
    const char *call, *pattern, *word, *hint;
};

/* Whether an error, such as cudaErrorIllegalAddress, ended a kernel: then all later calls return it
 * too. */
static bool is_of_kernel(int error)
{
    return error == 700 || error == 702 || error == 710 || (error >= 714 && error <= 719);
}

/* Finds where a refused call is. @param source  the student's file, NULL: others may have made the
 * call @param why  the virtual GPU's line, which names a launch's kernel */
static void find_place(const char *source, const char *call, const char *why, char *to, size_t room)
{
    static const char launch[] = "launch of ";
    char kernel[128] = "";
    if (strncmp(why, launch, strlen(launch)) == 0)
        snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(why + strlen(launch), " <("),
                 why + strlen(launch));
    gr_clue_place_in(source, kernel[0] ? kernel : call, kernel[0] != '\0', to, room);
}

static bool find_refusal(const struct gr_device_record *record, const char *source,
                         const char *said, const struct refusal *of, struct gr_run *run)
{
    for (size_t i = 0; i < record->rows; i++) {
        const struct gr_device_row *row = &record->row[i];
        char why[256] = "", place[160];
        if (strcmp(row->kind, "api") != 0 || !row->error || is_of_kernel(row->error) ||
            !strstr(row->name, of->call))
            continue;
        snprintf(run->pattern, sizeof run->pattern, "%s", of->pattern);
        line_with(said, of->word, why, sizeof why);
        find_place(source, row->name, why, place, sizeof place);
        snprintf(run->message, sizeof run->message, "%.100s%s was refused with %s%s%s", row->name,
                 place, error_name(row->error), why[0] ? ": " : "", why);
        snprintf(run->hint, sizeof run->hint, "%s", of->hint);
        return true;
    }
    return false;
}

bool gr_finding_refused(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run)
{
    static const struct refusal calls[] = {
        {"Launch", "launch_failed", "launch of ",
         "check the launch: 1 to 1024 threads per block, no grid size 0 (is the number of blocks rounded up?), y and z at most 65535, shared memory"},
        {"Symbol", "symbol_copy_failed", "cudaMemcpyToSymbol",
         "is the first argument the variable itself (without & and quotes), is the __constant__ array large enough for the copy, does the copy end inside k (the last portion may have fewer maps), and are sizes in bytes?"},
        {"MemcpyAsync", "copy_failed", "cudaMemcpyAsync: ",
         "does the copy end inside both arrays (sizes are in bytes; the last part may have fewer images than the others), and does each pointer match the direction (device or host)?"},
        {"Memcpy", "copy_failed", "cudaMemcpy: ",
         "does each pointer match the direction (device or host), and are sizes in bytes? Fill a __constant__ array with cudaMemcpyToSymbol"},
        {"Memset", "copy_failed", "cudaMemset",
         "is it a device pointer, and is the size in bytes?"},
        {"Free", "free_failed", "cudaFree",
         "pass each pointer that cudaMalloc() set to cudaFree() exactly once, and no other pointer: not x, k, y or memory from conv_workspace()"},
        {"FuncSetAttribute", "attribute_refused", "cudaFuncSetAttribute",
         "cudaDevAttrMaxSharedMemoryPerBlockOptin is the limit of a block's shared memory: what does your code do for larger layers?"},
    };
    bool found = false;
    for (size_t k = 0; k < sizeof calls / sizeof *calls && !found; k++) {
        found = find_refusal(record, source, said, &calls[k], run);
        /* Otherwise the harness's own memory may be gone, after cudaDeviceReset(). */
        if (found && strcmp(calls[k].call, "Free") == 0 && !strstr(run->message, "already freed")) {
            found = false;
            run->pattern[0] = '\0';
        }
    }
    for (size_t i = 0; i < sizeof refusal_hints / sizeof *refusal_hints && found; i++)
        if (strstr(run->message, refusal_hints[i].words))
            snprintf(run->hint, sizeof run->hint, "%s", refusal_hints[i].hint);
    return found;
}

/* Reports a failed allocation as the cause, but only if a kernel followed an invalid pointer or
 * there is no finding: a program may handle the failure and have another mistake. */
static bool find_no_memory(const struct gr_device_record *record, const char *said, bool found,
                           struct gr_run *run)
{
    static const struct refusal of = {
        "Malloc", "out_of_memory", "cudaMalloc",
        "a grading has 8 GiB of device memory: process only as many images at a time as fit; if cudaMalloc() fails or conv_workspace() returns NULL, request less"};
    if ((found && strcmp(run->pattern, "invalid_address") != 0) ||
        !find_refusal(record, NULL, said, &of, run)) /* (conv_workspace() may have made the call) */
        return false;
    char *advice = strstr(run->message, " (hint: "); /* advice for another GPU */
    if (advice)
        *advice = '\0';
    return true;
}

bool gr_finding_explain(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run)
{
    struct gr_run refused = {.pattern = ""};
    const bool found = gr_finding_first(&record->findings, source, run);
    char then[sizeof run->message];
    snprintf(then, sizeof then, "%s", run->message);
    if (gr_finding_refused(record, source, said, &refused)) {
        if (found && strcmp(refused.pattern, "attribute_refused") == 0)
            return found;
    } else {
        refused = *run;
        if (!find_no_memory(record, said, found, &refused))
            return found;
    }
    snprintf(run->pattern, sizeof run->pattern, "%s", refused.pattern);
    snprintf(run->message, sizeof run->message, "%.380s%s%.220s", refused.message,
             found ? ", and the code ignored that; then " : "", found ? then : "");
    snprintf(run->hint, sizeof run->hint, "%s", refused.hint);
    return true;
}
