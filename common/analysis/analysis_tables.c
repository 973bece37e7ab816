/* The analysis as TSV tables. An unknown figure is an empty field. */
#include "analysis/analysis.h"

#include "analysis/waste.h"
#include "base/files.h"
#include "vgpu/probe/model.h"
#include "vgpu/ptx/ptx_ir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_known(struct tsv_row *row, double value)
{
    tsv_row_add_if(row, value >= 0, "%.0f", value);
}

/* Adds a rate. 0, which part() returns without a base, becomes an empty field. */
static void add_rate(struct tsv_row *row, double value)
{
    tsv_row_add_if(row, value > 0, "%.3f", value);
}

static void add_count(struct tsv_row *row, uint64_t count)
{
    tsv_row_add(row, "%llu", (unsigned long long)count);
}

static void add_dim(struct tsv_row *row, const uint32_t dim[3])
{
    tsv_row_add(row, "%ux%ux%u", dim[0], dim[1], dim[2]);
}

static double part(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* calls total_ns average_ns min_ns max_ns share cumulative */
static void add_times(struct tsv_row *row, const struct an_kernel *k, double all_ns, double *sum)
{
    *sum += part((double)k->total_ns, all_ns);
    add_count(row, k->calls);
    add_count(row, k->total_ns);
    add_count(row, k->total_ns / k->calls);
    add_count(row, k->min_ns);
    add_count(row, k->max_ns);
    tsv_row_add(row, "%.6f", part((double)k->total_ns, all_ns));
    tsv_row_add(row, "%.6f", *sum);
}

#define HEADER(name, ...)                                                                          \
    void name(FILE *out)                                                                           \
    {                                                                                              \
        static const char *const columns[] = {__VA_ARGS__};                                        \
        tsv_write_row(out, sizeof columns / sizeof *columns, columns);                             \
    }

/* ---- kernels, calls ------------------------------------------------------------------------- */

HEADER(an_kernels_tsv_header, "images", "kind", "kernel", "calls", "total_ns", "average_ns",
       "min_ns", "max_ns", "share", "cumulative", "grid", "block", "registers", "shared_bytes",
       "occupancy", "limiter", "flop", "dram_bytes", "l2_bytes")

static void add_launch(struct tsv_row *row, const struct an_kernel *k, const struct an_verdict *v)
{
    const struct tr_row *r = k->longest;
    const bool l2_known = k->l2_read_bytes >= 0 && k->l2_write_bytes >= 0;
    add_dim(row, r->grid);
    add_dim(row, r->block);
    tsv_row_add(row, "%d", r->registers);
    tsv_row_add(row, "%.0f", r->static_shared_bytes + r->dynamic_shared_bytes);
    tsv_row_add_if(row, k->occupancy > 0, "%.4f", k->occupancy);
    tsv_row_add_text(row, an_limiter_text(v->limiter));
    add_known(row, k->counted ? an_flop(k) : -1);
    add_known(row, k->dram_bytes);
    add_known(row, l2_known ? k->l2_read_bytes + k->l2_write_bytes : -1);
}

void an_kernels_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    double sum = 0;
    for (size_t i = 0; i < a->activities.n; i++) {
        const struct an_kernel *k = &a->activities.group[i];
        const enum tr_kind kind = k->longest->kind;
        tsv_row_add(&row, "%zu", images);
        tsv_row_add_text(&row, kind == TR_KERNEL ? "kernel" : kind == TR_MEMSET ? "fill" : "copy");
        tsv_row_add_text(&row, k->longest->name);
        add_times(&row, k, (double)a->activities.total_ns, &sum);
        if (kind == TR_KERNEL)
            add_launch(&row, k, &a->summary[i]);
        else
            for (int field = 0; field < 9; field++)
                tsv_row_add_text(&row, "");
        tsv_row_write(&row, out);
    }
}

HEADER(an_calls_tsv_header, "images", "call", "calls", "total_ns", "average_ns", "min_ns", "max_ns",
       "share", "cumulative")

void an_calls_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    double sum = 0;
    for (size_t i = 0; i < a->calls.n; i++) {
        const struct an_kernel *k = &a->calls.group[i];
        tsv_row_add(&row, "%zu", images);
        tsv_row_add_text(&row, k->longest->name);
        add_times(&row, k, (double)a->calls.total_ns, &sum);
        tsv_row_write(&row, out);
    }
}

/* ---- limiters ------------------------------------------------------------------------------- */

HEADER(an_analysis_tsv_header, "images", "kernel", "grid", "block", "calls", "total_ns", "share",
       "occupancy", "limiter", "title", "second", "saved", "figures", "file", "line", "source",
       "advice")

void an_analysis_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    for (size_t i = 0; i < a->launches.n; i++) {
        const struct an_kernel *k = &a->launches.group[i];
        const struct an_verdict *v = &a->verdict[i];
        const struct an_line *l = an_line_of(&a->lines, k->longest->name, v->limiter);
        char figures[AN_FIGURES_TEXT];
        an_figures_text(figures, v);
        tsv_row_add(&row, "%zu", images);
        tsv_row_add_text(&row, k->longest->name);
        add_dim(&row, k->longest->grid);
        add_dim(&row, k->longest->block);
        add_count(&row, k->calls);
        add_count(&row, k->total_ns);
        tsv_row_add(&row, "%.6f", part((double)k->total_ns, (double)a->activities.total_ns));
        tsv_row_add(&row, "%.4f", k->occupancy);
        tsv_row_add_text(&row, an_limiter_text(v->limiter));
        tsv_row_add_text(&row, an_limiter_title(v->limiter));
        tsv_row_add_text(&row, v->second == AN_UNKNOWN ? "" : an_limiter_text(v->second));
        add_rate(&row, v->saved);
        tsv_row_add_text(&row, figures);
        tsv_row_add_text(&row, l ? l->file : "");
        tsv_row_add_if(&row, l != NULL, "%d", l ? l->line : 0);
        tsv_row_add_text(&row, l ? l->source : "");
        tsv_row_add_text(&row, v->advice);
        tsv_row_write(&row, out);
    }
}

/* ---- resources of each kernel --------------------------------------------------------------- */

HEADER(an_resources_tsv_header, "images", "kernel", "grid", "block", "kind", "name", "share",
       "text")

/* A kernel, and the file that gets its rows. */
struct used {
    FILE *out;
    size_t images;
    const struct an_kernel *k;
};

static void add_used(const struct used *u, const char *kind, const char *name, double share,
                     const char *text)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add(&row, "%zu", u->images);
    tsv_row_add_text(&row, u->k->longest->name);
    add_dim(&row, u->k->longest->grid);
    add_dim(&row, u->k->longest->block);
    tsv_row_add_text(&row, kind);
    tsv_row_add_text(&row, name);
    tsv_row_add(&row, "%.4f", share < 1 ? share : 1);
    tsv_row_add_text(&row, text);
    tsv_row_write(&row, u->out);
}

static void add_busy(const struct used *u)
{
    for (int t = 0; t < VG_TERMS && u->k->has_terms; t++)
        if (u->k->term_ns[t] > 0)
            add_used(u, "busy", vg_clock_term_name((enum vg_term)t),
                     part(u->k->term_ns[t], (double)u->k->total_ns), an_term_text((enum vg_term)t));
}

/* Writes the kinds of instructions over all launches of the kernel. The row without a file name has
 * these sums. */
static void add_instructions(const struct used *u, const struct tsv *counters)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        IR_CLASS_MAP(NAME)
#undef NAME
    };
    static const char *const titles[IR_CLASSES] = {[IR_CLASS_INT] = "integers and addresses",
                                                   [IR_CLASS_FP32] = "FP32",
                                                   [IR_CLASS_FP64] = "FP64",
                                                   [IR_CLASS_FP16] = "FP16",
                                                   [IR_CLASS_SPECIAL] = "special functions",
                                                   [IR_CLASS_CONVERT] = "conversions",
                                                   [IR_CLASS_MOVE] = "moves and selections",
                                                   [IR_CLASS_CONTROL] = "branches",
                                                   [IR_CLASS_SYNC] = "barriers",
                                                   [IR_CLASS_GLOBAL] = "global memory",
                                                   [IR_CLASS_SHARED] = "shared memory",
                                                   [IR_CLASS_LOCAL] = "local memory",
                                                   [IR_CLASS_CONSTANT] = "constant memory",
                                                   [IR_CLASS_ATOMIC] = "atomic operations",
                                                   [IR_CLASS_EXCHANGE] = "exchange between lanes",
                                                   [IR_CLASS_TENSOR] = "tensor cores"};
    const int symbol = tsv_column(counters, "symbol"), file = tsv_column(counters, "file"),
              all = tsv_column(counters, "warp_instructions");
    size_t row = 0;
    while (row < counters->rows &&
           (strcmp(tsv_cell(counters, row, symbol), u->k->longest->symbol) != 0 ||
            tsv_cell(counters, row, file)[0]))
        row++;
    for (int c = 0; c < IR_CLASSES && row < counters->rows; c++) {
        char column[32];
        snprintf(column, sizeof column, "class_%s", names[c]);
        const int at = tsv_column(counters, column);
        const double count = at < 0 ? 0 : strtod(tsv_cell(counters, row, at), NULL);
        if (count > 0)
            add_used(u, "instruction", names[c],
                     part(count, strtod(tsv_cell(counters, row, all), NULL)), titles[c]);
    }
}

static void add_occupancy(const struct used *u, const struct vg_profile *gpu)
{
    const struct tr_row *r = u->k->longest;
    const struct an_use use = an_use_of(u->k, gpu);
    const double bytes = r->static_shared_bytes + r->dynamic_shared_bytes;
    char text[200];
    if (u->k->occupancy > 0)
        add_used(u, "occupancy", "achieved", u->k->occupancy,
                 "the average number of resident warps, as a share of the maximum");
    if (!gpu || use.resident_blocks <= 0)
        return;
    snprintf(
        text, sizeof text,
        "%d blocks of %.0f threads (registers per thread: %d, shared memory per block: %.0f bytes); limited by %s",
        use.resident_blocks, tr_threads(r), r->registers, bytes, use.resident_limit);
    add_used(u, "occupancy", "possible",
             part(use.resident_blocks * 32 * ceil(tr_threads(r) / 32),
                  gpu->max_threads_per_multiprocessor),
             text);
}

void an_resources_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    for (size_t i = 0; i < a->launches.n; i++) {
        const struct used u = {out, images, &a->launches.group[i]};
        add_busy(&u);
        if (a->counters.rows)
            add_instructions(&u, &a->counters);
        add_occupancy(&u, a->has_gpu ? &a->gpu : NULL);
    }
}

/* ---- source lines --------------------------------------------------------------------------- */

HEADER(an_lines_tsv_header, "images", "kernel", "file", "line", "source", "share", "resource",
       "warp_instructions", "load_sectors_per_request", "store_sectors_per_request",
       "wavefronts_per_request", "divergence", "active_lanes", "sectors", "wavefronts",
       "wasted_sectors", "wasted_wavefronts")

void an_lines_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct an_line *l = &a->lines.line[i];
        tsv_row_add(&row, "%zu", images);
        tsv_row_add_text(&row, l->kernel);
        tsv_row_add_text(&row, l->file);
        tsv_row_add(&row, "%d", l->line);
        tsv_row_add_text(&row, l->source);
        tsv_row_add(&row, "%.6f", l->share);
        tsv_row_add_text(&row, vg_clock_term_name(l->term));
        tsv_row_add(&row, "%.0f", l->warp_instructions);
        add_rate(&row, l->load_sectors);
        add_rate(&row, l->store_sectors);
        add_rate(&row, l->wavefronts);
        add_rate(&row, l->divergence);
        tsv_row_add(&row, "%.4f", l->lanes);
        tsv_row_add(&row, "%.0f", l->sectors);
        tsv_row_add(&row, "%.0f", l->all_wavefronts);
        tsv_row_add(&row, "%.0f", l->wasted_sectors);
        tsv_row_add(&row, "%.0f", l->wasted_wavefronts);
        tsv_row_write(&row, out);
    }
}
