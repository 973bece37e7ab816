/* nvprof's summary. */
#include "analysis/kernels.h"
#include "trace/figures.h"
#include "trace/trace_cells.h"
#include "vprof/tables.h"

#include <inttypes.h>

/* A group of the summary: activities of the GPU, or calls. */
struct group {
    const char *name;
    struct an_kernels of;
};

static double share(const struct group *g, const struct an_kernel *l)
{
    return g->of.total_ns ? 100 * (double)l->total_ns / (double)g->of.total_ns : 0;
}

/* nvprof's means are whole nanoseconds, truncated. */
static uint64_t mean_ns(const struct an_kernel *l)
{
    return l->total_ns / l->calls;
}

/* The units of the columns, which depend on the largest figures of all groups. */
struct units {
    struct figure_unit total, mean, min, max;
};

static struct units units_of(const struct group groups[2])
{
    uint64_t total = 0, mean = 0, min = 0, max = 0;
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < groups[k].of.n; i++) {
            const struct an_kernel *l = &groups[k].of.group[i];
            total = LARGER(total, l->total_ns);
            mean = LARGER(mean, mean_ns(l));
            min = LARGER(min, l->min_ns);
            max = LARGER(max, l->max_ns);
        }
#undef LARGER
    return (struct units){figure_time_unit(total), figure_time_unit(mean), figure_time_unit(min),
                          figure_time_unit(max)};
}

static void print_line(struct cells *c, const struct group *g, size_t i, const struct units *u)
{
    const struct an_kernel *l = &g->of.group[i];
    char percent[FIGURE_MAX];
    if (c->csv)
        snprintf(percent, sizeof percent, "%.6f", share(g, l));
    else
        figure_percent(percent, share(g, l));
    if (c->csv)
        cell_named(c, 0, "%s", g->name);
    else
        cell_if(c, i == 0, 16, "%s:", g->name);
    cell(c, 7, "%s", percent);
    cell_time(c, l->total_ns, u->total);
    cell(c, 8, "%" PRIu64, l->calls);
    cell_time(c, mean_ns(l), u->mean);
    cell_time(c, l->min_ns, u->min);
    cell_time(c, l->max_ns, u->max);
    cell_named(c, 0, "%s", l->longest->name);
    cells_end(c);
}

static void print_header(struct cells *c, const struct units *u)
{
    static const char *const times[] = {"Avg", "Min", "Max"};
    cell_named(c, 16, "Type");
    cell_named(c, 7, "Time(%%)");
    cell_named(c, figure_time_width(), "Time");
    cell_named(c, 8, "Calls");
    for (int i = 0; i < 3; i++)
        cell_named(c, figure_time_width(), "%s", times[i]);
    cell_named(c, 0, "Name");
    cells_end(c);
    if (c->csv)
        fprintf(c->out, ",%%,%s,,%s,%s,%s,\n", u->total.name, u->mean.name, u->min.name,
                u->max.name);
}

void tables_summary(FILE *out, const struct tr_trace *trace, unsigned groups, bool csv)
{
    struct group g[2] = {{.name = "GPU activities"}, {.name = "API calls"}};
    struct cells c = {.out = out, .csv = csv};
    const bool good =
        (!(groups & TABLES_GPU) || !an_kernels_sum(&g[0].of, trace, AN_BY_ACTIVITY, NULL)) &&
        (!(groups & TABLES_API) || !an_kernels_sum(&g[1].of, trace, AN_BY_CALL, NULL));
    if (!good)
        fprintf(out, "out of memory for the summary\n");
    if (good && (groups & TABLES_GPU) && g[0].of.n == 0)
        fprintf(out, "No kernels were profiled.\n");
    if (good && (groups & TABLES_API) && g[1].of.n == 0)
        fprintf(out, "No API activities were profiled.\n");
    const struct units units = units_of(g);
    if (good && g[0].of.n + g[1].of.n)
        print_header(&c, &units);
    for (int k = 0; good && k < 2; k++)
        for (size_t i = 0; i < g[k].of.n; i++)
            print_line(&c, &g[k], i, &units);
    an_kernels_free(&g[0].of);
    an_kernels_free(&g[1].of);
}
