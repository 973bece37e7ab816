/* The analysis as TSV tables. A figure that is not known is an empty field. */
#include "analysis/analysis.h"

#include "base/files.h"
#include "vgpu/probe/model.h"

#include <string.h>

static void add_known(struct tsv_row *row, double value)
{
    tsv_row_add_if(row, value >= 0, "%.0f", value);
}

/* A rate is 0 where there is nothing to rate. */
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

/* ---- what limits them ----------------------------------------------------------------------- */

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

/* ---- source lines --------------------------------------------------------------------------- */

HEADER(an_lines_tsv_header, "images", "kernel", "file", "line", "source", "share", "resource",
       "warp_instructions", "load_sectors_per_request", "store_sectors_per_request",
       "wavefronts_per_request", "divergence", "active_lanes")

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
        tsv_row_write(&row, out);
    }
}
