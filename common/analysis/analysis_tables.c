/* The analysis as TSV tables. A figure that is not known is an empty field. */
#include "analysis/analysis.h"

#include "base/files.h"
#include "vgpu/probe/model.h"

#include <stdarg.h>
#include <string.h>

enum { FIELDS_MAX = 24, FIELD_ROOM = 320 };

/* A row under construction. */
struct row {
    char text[FIELDS_MAX][FIELD_ROOM];
    const char *field[FIELDS_MAX];
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) add(struct row *row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(row->text[row->n], FIELD_ROOM, format, args);
    va_end(args);
    row->field[row->n] = row->text[row->n];
    row->n++;
}

static void add_text(struct row *row, const char *text)
{
    row->field[row->n++] = text;
}

static void add_known(struct row *row, double value)
{
    if (value < 0)
        add_text(row, "");
    else
        add(row, "%.0f", value);
}

/* A rate that is 0 where there is nothing to rate. */
static void add_rate(struct row *row, double value)
{
    if (value > 0)
        add(row, "%.3f", value);
    else
        add_text(row, "");
}

static void add_dim(struct row *row, const uint32_t dim[3])
{
    add(row, "%ux%ux%u", dim[0], dim[1], dim[2]);
}

static void end(struct row *row, FILE *out)
{
    tsv_write_row(out, row->n, row->field);
    row->n = 0;
}

static double part(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* calls total_ns average_ns min_ns max_ns share cumulative */
static void add_times(struct row *row, const struct an_kernel *k, double all_ns, double *sum)
{
    *sum += part((double)k->total_ns, all_ns);
    add(row, "%llu", (unsigned long long)k->calls);
    add(row, "%llu", (unsigned long long)k->total_ns);
    add(row, "%llu", (unsigned long long)(k->total_ns / k->calls));
    add(row, "%llu", (unsigned long long)k->min_ns);
    add(row, "%llu", (unsigned long long)k->max_ns);
    add(row, "%.6f", part((double)k->total_ns, all_ns));
    add(row, "%.6f", *sum);
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

static void add_launch(struct row *row, const struct an_kernel *k, const struct an_verdict *v)
{
    const struct tr_row *r = k->longest;
    const bool l2_known = k->l2_read_bytes >= 0 && k->l2_write_bytes >= 0;
    add_dim(row, r->grid);
    add_dim(row, r->block);
    add(row, "%d", r->registers);
    add(row, "%.0f", r->static_shared_bytes + r->dynamic_shared_bytes);
    if (k->occupancy > 0)
        add(row, "%.4f", k->occupancy);
    else
        add_text(row, "");
    add_text(row, an_limiter_text(v->limiter));
    add_known(row, k->counted ? an_flop(k) : -1);
    add_known(row, k->dram_bytes);
    add_known(row, l2_known ? k->l2_read_bytes + k->l2_write_bytes : -1);
}

void an_kernels_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct row row = {.n = 0};
    double sum = 0;
    for (size_t i = 0; i < a->activities.n; i++) {
        const struct an_kernel *k = &a->activities.group[i];
        const enum tr_kind kind = k->longest->kind;
        add(&row, "%zu", images);
        add_text(&row, kind == TR_KERNEL ? "kernel" : kind == TR_MEMSET ? "fill" : "copy");
        add_text(&row, k->longest->name);
        add_times(&row, k, (double)a->activities.total_ns, &sum);
        if (kind == TR_KERNEL)
            add_launch(&row, k, &a->summary[i]);
        else
            for (int field = 0; field < 9; field++)
                add_text(&row, "");
        end(&row, out);
    }
}

HEADER(an_calls_tsv_header, "images", "call", "calls", "total_ns", "average_ns", "min_ns", "max_ns",
       "share", "cumulative")

void an_calls_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct row row = {.n = 0};
    double sum = 0;
    for (size_t i = 0; i < a->calls.n; i++) {
        const struct an_kernel *k = &a->calls.group[i];
        add(&row, "%zu", images);
        add_text(&row, k->longest->name);
        add_times(&row, k, (double)a->calls.total_ns, &sum);
        end(&row, out);
    }
}

/* ---- what limits them ----------------------------------------------------------------------- */

HEADER(an_analysis_tsv_header, "images", "kernel", "grid", "block", "calls", "total_ns", "share",
       "occupancy", "limiter", "title", "second", "saved", "figures", "file", "line", "source",
       "advice")

static void figures_text(char *to, size_t room, const struct an_verdict *v)
{
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; i < v->figures && n < room; i++)
        n += (size_t)snprintf(to + n, room - n, "%s%s %s", i ? ", " : "", v->figure[i].name,
                              v->figure[i].value);
}

void an_analysis_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct row row = {.n = 0};
    for (size_t i = 0; i < a->launches.n; i++) {
        const struct an_kernel *k = &a->launches.group[i];
        const struct an_verdict *v = &a->verdict[i];
        const struct an_line *l = an_line_of(&a->lines, k->longest->name, v->limiter);
        char figures[AN_FIGURES_MAX * sizeof v->figure[0]];
        figures_text(figures, sizeof figures, v);
        add(&row, "%zu", images);
        add_text(&row, k->longest->name);
        add_dim(&row, k->longest->grid);
        add_dim(&row, k->longest->block);
        add(&row, "%llu", (unsigned long long)k->calls);
        add(&row, "%llu", (unsigned long long)k->total_ns);
        add(&row, "%.6f", part((double)k->total_ns, (double)a->activities.total_ns));
        add(&row, "%.4f", k->occupancy);
        add_text(&row, an_limiter_text(v->limiter));
        add_text(&row, an_limiter_title(v->limiter));
        add_text(&row, v->second == AN_UNKNOWN ? "" : an_limiter_text(v->second));
        add_rate(&row, v->saved);
        add_text(&row, figures);
        add_text(&row, l ? l->file : "");
        if (l)
            add(&row, "%d", l->line);
        else
            add_text(&row, "");
        add_text(&row, l ? l->source : "");
        add_text(&row, v->advice);
        end(&row, out);
    }
}

/* ---- source lines --------------------------------------------------------------------------- */

HEADER(an_lines_tsv_header, "images", "kernel", "file", "line", "source", "share", "resource",
       "warp_instructions", "load_sectors_per_request", "store_sectors_per_request",
       "wavefronts_per_request", "divergence", "active_lanes")

void an_lines_tsv(FILE *out, const struct an_analysis *a, size_t images)
{
    struct row row = {.n = 0};
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct an_line *l = &a->lines.line[i];
        add(&row, "%zu", images);
        add_text(&row, l->kernel);
        add_text(&row, l->file);
        add(&row, "%d", l->line);
        add_text(&row, l->source);
        add(&row, "%.6f", l->share);
        add_text(&row, vg_clock_term_name(l->term));
        add(&row, "%.0f", l->warp_instructions);
        add_rate(&row, l->load_sectors);
        add_rate(&row, l->store_sectors);
        add_rate(&row, l->wavefronts);
        add_rate(&row, l->divergence);
        add(&row, "%.4f", l->lanes);
        end(&row, out);
    }
}
