/* nvprof's trace of events and metrics: the counters of each launch of a kernel. */
#include "vprof/metrics.h"
#include "vprof/metrics_table.h"
#include "trace/trace_cells.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct columns {
    size_t n;
    const struct metric *of[2 * METRICS_MAX];
};

/* Adds the metrics that the trace has; prints a line with the missing ones. */
static void add_columns(FILE *out, struct columns *c, const struct tr_trace *trace,
                        const struct metrics *chosen)
{
    int length;
    const struct metric *table = metric_table(chosen->events, &length);
    for (size_t k = 0; k < chosen->n; k++) {
        const struct metric *m = &table[chosen->index[k]];
        if (metric_recorded(trace, m))
            c->of[c->n++] = m;
        else
            fprintf(out, "======== Warning: %s is not in this trace\n", m->name);
    }
}

static int value_width(const struct metric *m)
{
    const int name = (int)strlen(m->name);
    return name > 10 ? name : 10;
}

static void print_header(struct cells *c, const struct columns *columns, int name_width)
{
    cell_named(c, 15, "Device");
    cell_named(c, 15, "Context");
    cell_named(c, 15, "Stream");
    cell_named(c, name_width, "Kernel");
    if (c->csv)
        cell_named(c, 0, "Correlation_ID");
    for (size_t k = 0; k < columns->n; k++)
        cell_named(c, value_width(columns->of[k]), "%s", columns->of[k]->name);
    cells_end(c);
}

static void print_row(struct cells *c, const struct tr_trace *trace, const struct columns *columns,
                      const struct tr_row *row, int name_width)
{
    char device[128], value[FIGURE_MAX];
    tables_device(trace, row, device, sizeof device);
    cell_named(c, 15, c->csv ? "%s" : "%.15s", device);
    cell_named(c, 15, "%d", tr_context(row));
    cell_named(c, 15, "%" PRIu64, row->stream_number);
    cell_named(c, name_width, "%s", row->name);
    if (c->csv)
        cell_if(c, row->correlation, 0, "%" PRIu64, row->correlation);
    for (size_t k = 0; k < columns->n; k++) {
        metric_value_text(value, columns->of[k], columns->of[k]->value(row), c->csv);
        cell(c, value_width(columns->of[k]), "%s", value);
    }
    cells_end(c);
}

void metrics_print_trace(FILE *out, const struct tr_trace *trace, const struct metrics *events,
                         const struct metrics *metrics, bool csv)
{
    struct columns columns = {.n = 0};
    struct cells c = {.out = out, .csv = csv};
    size_t n;
    const struct tr_row **rows = tr_select(trace, tr_is_counted, tr_by_start, &n);
    int name_width = 20; /* fits our names; nvprof truncates longer names, which then look equal */
    for (size_t i = 0; i < n; i++) {
        const int length = (int)strlen(rows[i]->name);
        name_width = length > name_width ? length : name_width;
    }
    if (n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        free(rows);
        return;
    }
    add_columns(out, &columns, trace, events);
    add_columns(out, &columns, trace, metrics);
    print_header(&c, &columns, name_width);
    for (size_t i = 0; i < n; i++)
        print_row(&c, trace, &columns, rows[i], name_width);
    free(rows);
}
