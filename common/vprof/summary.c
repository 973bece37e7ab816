/* nvprof's summary. */
#include "trace/figures.h"
#include "base/csv.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const char *name;
    bool is_api;
    uint64_t total, calls, min, max;
    size_t first; /* row: equal totals keep the order in which they came */
};

struct group {
    struct line *lines;
    size_t n;
    uint64_t total;
};

static void add(struct line *line, const struct tr_row *row)
{
    const uint64_t ns = row->end_ns - row->start_ns;
    line->total += ns;
    if (line->calls++ == 0 || ns < line->min)
        line->min = ns;
    if (ns > line->max)
        line->max = ns;
}

static int by_name(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

static int by_total(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sums up the rows of the API, or all others. */
static bool collect(const struct tr_trace *trace, bool api, struct group *g)
{
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    g->lines = calloc(trace->n + 1, sizeof *g->lines);
    g->n = 0;
    g->total = 0;
    size_t n = 0;
    for (size_t i = 0; rows && i < trace->n; i++)
        if ((trace->rows[i].kind == TR_API) == api)
            rows[n++] = &trace->rows[i];
    if (rows && g->lines) {
        qsort(rows, n, sizeof *rows, by_name);
        for (size_t i = 0; i < n; i++) {
            if (g->n == 0 || strcmp(g->lines[g->n - 1].name, rows[i]->name) != 0)
                g->lines[g->n++] = (struct line){
                    .name = rows[i]->name, .is_api = api, .first = (size_t)(rows[i] - trace->rows)};
            add(&g->lines[g->n - 1], rows[i]);
            g->total += rows[i]->end_ns - rows[i]->start_ns;
        }
        qsort(g->lines, g->n, sizeof *g->lines, by_total);
    }
    free(rows);
    return g->lines != NULL;
}

static double share(const struct group *g, const struct line *l)
{
    return g->total ? 100 * (double)l->total / (double)g->total : 0;
}

/* The units of the columns, from the largest figures of all groups. */
struct units {
    struct figure_unit total, mean, min, max;
};

static struct units units_of(const struct group groups[2])
{
    uint64_t total = 0, mean = 0, min = 0, max = 0;
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < groups[k].n; i++) {
            const struct line *l = &groups[k].lines[i];
            total = LARGER(total, l->total);
            mean = LARGER(mean, l->total / l->calls);
            min = LARGER(min, l->min);
            max = LARGER(max, l->max);
        }
#undef LARGER
    return (struct units){figure_time_unit(total), figure_time_unit(mean), figure_time_unit(min),
                          figure_time_unit(max)};
}

static void print_text(FILE *out, const struct group *g, const struct units *u)
{
    const int width = figure_time_width();
    for (size_t i = 0; i < g->n; i++) {
        const struct line *l = &g->lines[i];
        char percent[FIGURE_MAX], total[FIGURE_MAX], mean[FIGURE_MAX], min[FIGURE_MAX],
            max[FIGURE_MAX];
        figure_percent(percent, share(g, l));
        figure_time_in(total, l->total, u->total);
        /* nvprof's are whole nanoseconds, cut off */
        figure_time_in(mean, l->total / l->calls, u->mean);
        figure_time_in(min, l->min, u->min);
        figure_time_in(max, l->max, u->max);
        fprintf(out, "%16s  %7s  %*s  %8" PRIu64 "  %*s  %*s  %*s  %s\n",
                i           ? ""
                : l->is_api ? "API calls:"
                            : "GPU activities:",
                percent, width, total, l->calls, width, mean, width, min, width, max, l->name);
    }
}

static void csv_time(FILE *out, uint64_t ns, struct figure_unit column)
{
    fprintf(out, ",%.*f", figure_csv_decimals(column), (double)ns / column.scale);
}

static void print_csv(FILE *out, const struct group groups[2], const struct units *u)
{
    fprintf(out, "\"Type\",\"Time(%%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n");
    fprintf(out, ",%%,%s,,%s,%s,%s,\n", u->total.name, u->mean.name, u->min.name, u->max.name);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < groups[k].n; i++) {
            const struct line *l = &groups[k].lines[i];
            fprintf(out, "\"%s\",%.6f", l->is_api ? "API calls" : "GPU activities",
                    share(&groups[k], l));
            csv_time(out, l->total, u->total);
            fprintf(out, ",%" PRIu64, l->calls);
            csv_time(out, l->total / l->calls, u->mean);
            csv_time(out, l->min, u->min);
            csv_time(out, l->max, u->max);
            fputc(',', out);
            csv_quote(out, l->name);
            fputc('\n', out);
        }
}

void tables_summary(FILE *out, const struct tr_trace *trace, unsigned groups, bool csv)
{
    struct group g[2] = {{0}, {0}};
    const bool good = (!(groups & TABLES_GPU) || collect(trace, false, &g[0])) &&
                      (!(groups & TABLES_API) || collect(trace, true, &g[1]));
    if (!good)
        fprintf(out, "no memory for the summary\n");
    if (good && (groups & TABLES_GPU) && g[0].n == 0)
        fprintf(out, "No kernels were profiled.\n");
    if (good && (groups & TABLES_API) && g[1].n == 0)
        fprintf(out, "No API activities were profiled.\n");
    const struct units units = good ? units_of(g) : (struct units){{0}, {0}, {0}, {0}};
    const int width = figure_time_width();
    if (good && g[0].n + g[1].n && csv)
        print_csv(out, g, &units);
    if (good && g[0].n + g[1].n && !csv) {
        fprintf(out, "%16s  %7s  %*s  %8s  %*s  %*s  %*s  %s\n", "Type", "Time(%)", width, "Time",
                "Calls", width, "Avg", width, "Min", width, "Max", "Name");
        print_text(out, &g[0], &units);
        print_text(out, &g[1], &units);
    }
    free(g[0].lines);
    free(g[1].lines);
}
