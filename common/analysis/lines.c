#include "analysis/lines.h"

#include "analysis/waste.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/printable.h"
#include "base/shown_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Approximate clocks that an instruction adds to the longest chain, by kind. */
enum { CLOCKS_ARITHMETIC = 4, CLOCKS_SHARED = 30, CLOCKS_GLOBAL = 400 };

/** Columns that the table has in addition to the trace's counters: warp instructions per class. */
#define CLASSES(X)                                                                                 \
    X(class_int)                                                                                   \
    X(class_fp32)                                                                                  \
    X(class_fp64)                                                                                  \
    X(class_fp16)                                                                                  \
    X(class_special)                                                                               \
    X(class_convert)                                                                               \
    X(class_tensor)                                                                                \
    X(class_exchange)

struct usage {
    struct tr_counters counters;
#define FIELD(name) double name;
    CLASSES(FIELD)
#undef FIELD
};

struct at {
    int symbol, file, line;
#define INDEX(name) int name;
    CLASSES(INDEX)
#define COUNTER(name, ...) INDEX(name)
#include "vgpu/api/trace_columns.def"
#undef INDEX
};

static enum st_code find(struct at *at, const struct tsv *t, struct st_error *err)
{
    const char *missing = NULL;
#define FIND(name)                                                                                 \
    at->name = tsv_column(t, #name);                                                               \
    missing = at->name < 0 ? #name : missing;
    FIND(symbol)
    FIND(file)
    FIND(line)
    CLASSES(FIND)
#define COUNTER(name, ...) FIND(name)
#include "vgpu/api/trace_columns.def"
#undef FIND
    if (!missing)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "not a table of counters: it has no column %s", missing);
    return st_detail(err, ST_HINT, "vgpu-run --counters FILE writes one");
}

/* Adds the counters of a row of the table. */
static void add_row(struct usage *u, const struct tsv *t, const struct at *at, size_t row)
{
#define ADD(name) u->name += strtod(tsv_cell(t, row, at->name), NULL);
    CLASSES(ADD)
#undef ADD
#define COUNTER(name, ...) u->counters.name += strtod(tsv_cell(t, row, at->name), NULL);
#include "vgpu/api/trace_columns.def"
}

/* ---- one line ------------------------------------------------------------------------------- */

/* How much of a term's resource a line, or a whole kernel, uses. Only ratios of values for the same
 * term are meaningful. */
static double use(const struct usage *u, enum vg_term term)
{
    const struct tr_counters *c = &u->counters;
    const double shared = c->shared_load_requests + c->shared_store_requests;
    const double global = c->global_load_requests + c->global_atomic_requests;
    switch (term) {
    case VG_TERM_ISSUE:
        return c->warp_instructions;
    case VG_TERM_FP32:
        return u->class_fp32;
    case VG_TERM_FP64:
        return u->class_fp64;
    case VG_TERM_FP16:
        return u->class_fp16;
    case VG_TERM_INT:
        return u->class_int;
    case VG_TERM_SPECIAL:
        return u->class_special + u->class_convert / 2;
    case VG_TERM_TENSOR:
        return u->class_tensor;
    case VG_TERM_SHARED:
        return c->shared_load_wavefronts + c->shared_store_wavefronts + u->class_exchange;
    case VG_TERM_L1:
    case VG_TERM_L2:
    case VG_TERM_DRAM:
        return c->global_load_sectors + c->global_store_sectors + c->local_load_sectors +
               c->local_store_sectors;
    case VG_TERM_ATOMIC:
        return c->global_atomic_sectors;
    case VG_TERM_LATENCY:
        return CLOCKS_ARITHMETIC * c->warp_instructions + CLOCKS_SHARED * shared +
               CLOCKS_GLOBAL * global;
    case VG_TERM_CONSTANT:
        return c->constant_wavefronts - c->constant_requests;
    case VG_TERM_BARRIERS:
        return c->barriers;
    default: /* caused by a launch or a block, not by a line */
        return 0;
    }
}

static double excess(double used, double requests, double bytes, double unit)
{
    return fmax(0, used - fmax(requests, bytes / unit));
}

static struct an_line line_of(const struct usage *u, const struct usage *all,
                              const double share[VG_TERMS])
{
    const struct tr_counters *c = &u->counters;
    struct an_line l = {
        .term = VG_TERM_ISSUE,
        .warp_instructions = c->warp_instructions,
        .sectors = use(u, VG_TERM_DRAM) + c->global_atomic_sectors,
        .all_wavefronts = c->shared_load_wavefronts + c->shared_store_wavefronts,
        .load_sectors = ratio(c->global_load_sectors, c->global_load_requests),
        .store_sectors = ratio(c->global_store_sectors, c->global_store_requests),
        .wavefronts = ratio(c->shared_load_wavefronts + c->shared_store_wavefronts,
                            c->shared_load_requests + c->shared_store_requests),
        .divergence = ratio(c->divergent_branches, c->branches),
        .divergent_branches = c->divergent_branches,
        .lanes = ratio(c->thread_instructions, 32 * c->warp_instructions),
        .wasted_wavefronts =
            excess(c->shared_load_wavefronts, c->shared_load_requests, c->shared_load_bytes, 128) +
            excess(c->shared_store_wavefronts, c->shared_store_requests, c->shared_store_bytes,
                   128),
        .wasted_sectors =
            excess(c->global_load_sectors, c->global_load_requests, c->global_load_bytes, 32) +
            excess(c->global_store_sectors, c->global_store_requests, c->global_store_bytes, 32)};
    double most = 0;
    for (int t = 0; t < VG_TERMS; t++) {
        const double part = share[t] * ratio(use(u, (enum vg_term)t), use(all, (enum vg_term)t));
        l.share += part;
        if (part > most) {
            most = part;
            l.term = (enum vg_term)t;
        }
    }
    return l;
}

/* ---- ranking -------------------------------------------------------------------------------- */

static int by_share(const void *a, const void *b)
{
    const struct an_line *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->line - y->line;
}

/* Appends the lines of one kernel. The table's row without a file has the kernel's sums. */
static void rank_kernel(struct an_lines *lines, const struct an_kernel *k, const struct tsv *t,
                        const struct at *at)
{
    struct usage all = {0};
    double share[VG_TERMS];
    const size_t first = lines->n;
    an_term_shares(k, share);
    for (int whole = 1; whole >= 0; whole--)
        for (size_t i = 0; i < t->rows; i++) {
            if (strcmp(tsv_cell(t, i, at->symbol), k->longest->symbol) != 0 ||
                (tsv_cell(t, i, at->file)[0] == '\0') != whole)
                continue;
            if (whole) {
                add_row(&all, t, at, i);
                continue;
            }
            struct usage one = {0};
            add_row(&one, t, at, i);
            struct an_line *l = &lines->line[lines->n++];
            *l = line_of(&one, &all, share);
            l->kernel = k->longest->name;
            l->file = tsv_cell(t, i, at->file);
            l->line = atoi(tsv_cell(t, i, at->line));
        }
    qsort(lines->line + first, lines->n - first, sizeof *lines->line, by_share);
}

/* ---- the text of the lines ------------------------------------------------------------------ */

/* Copies line `number` without its indentation. */
static void take_line(char *to, size_t room, const char *text, int number)
{
    while (--number > 0 && text) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return;
    text += strspn(text, " \t");
    size_t n = strcspn(text, "\r\n");
    n = n < room - 1 ? n : room - 1;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    char raw[sizeof((struct an_line *)0)->source];
    memcpy(raw, text, n);
    raw[n] = '\0';
    for (char *tab = raw; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    text_printable(to, room, raw);
}

/* The file to read for a file name in the table; NULL: none. */
static const char *readable(const char *file, const struct an_source *source)
{
    if (!source)
        return file;
    return source->path[0] && strcmp(path_base(file), source->name) == 0 ? source->path : NULL;
}

static void take_sources(struct an_lines *lines, const struct an_source *source)
{
    for (size_t i = 0; i < lines->n; i++) {
        const char *path = lines->line[i].file, *from = readable(path, source);
        char *text;
        size_t bytes;
        bool done = !from;
        for (size_t k = 0; k < i && !done; k++)
            done = strcmp(lines->line[k].file, path) == 0;
        if (done || file_read(from, (size_t)16 << 20, &text, &bytes, NULL))
            continue;
        for (size_t k = i; k < lines->n; k++)
            if (strcmp(lines->line[k].file, path) == 0)
                take_line(lines->line[k].source, sizeof lines->line[k].source, text,
                          lines->line[k].line);
        free(text);
    }
}

enum st_code an_lines_rank(struct an_lines *lines, const struct tr_trace *trace,
                           const struct tsv *counters, const struct an_source *source,
                           struct st_error *err)
{
    struct at at;
    struct an_kernels kernels = {0};
    *lines = (struct an_lines){0};
    enum st_code code = find(&at, counters, err);
    if (!code)
        code = an_kernels_sum(&kernels, trace, AN_BY_ACTIVITY, err);
    if (code)
        return code;
    /* Kernels with the same symbol form one group, so no row is used twice. */
    lines->line = calloc(counters->rows + 1, sizeof *lines->line);
    if (!lines->line) {
        an_kernels_free(&kernels);
        return st_fail(err, ST_NO_MEMORY, "out of memory for the source lines");
    }
    for (size_t i = 0; i < kernels.n; i++) {
        const struct an_kernel *k = &kernels.group[i];
        if (k->longest->kind == TR_KERNEL && k->longest->symbol[0])
            rank_kernel(lines, k, counters, &at);
    }
    take_sources(lines, source);
    an_kernels_free(&kernels);
    return ST_OK;
}

void an_lines_free(struct an_lines *lines)
{
    free(lines->line);
    *lines = (struct an_lines){0};
}

/* ---- the line to report ---------------------------------------------------------------------- */

/* How much waste the line causes; for limiters without waste, its share of the time, or 0 if no
 * line is the cause. */
static double blame(const struct an_line *l, enum an_limiter limiter)
{
    switch (limiter) {
    case AN_BANK_CONFLICTS:
        return l->wasted_wavefronts;
    case AN_UNCOALESCED:
        return l->wasted_sectors;
    case AN_DIVERGENCE:
        return l->divergent_branches > 0 ? l->divergent_branches
                                         : 1e-9 * l->warp_instructions * (1 - l->lanes);
    case AN_LAUNCH:
    case AN_FEW_BLOCKS:
    case AN_SMALL_BLOCKS:
    case AN_UNKNOWN:
        return 0; /* no line causes it */
    default:
        return l->share;
    }
}

const struct an_line *an_line_of(const struct an_lines *lines, const char *kernel,
                                 enum an_limiter limiter)
{
    const struct an_line *worst = NULL;
    for (size_t i = 0; lines && i < lines->n; i++) {
        const struct an_line *l = &lines->line[i];
        const double b = strcmp(l->kernel, kernel) == 0 ? blame(l, limiter) : 0;
        if (b > 0 && (!worst || b > blame(worst, limiter)))
            worst = l;
    }
    return worst;
}
