/* nvprof's trace of events and metrics: what each launch of a kernel counted. */
#include "vprof/metrics.h"
#include "vprof/metrics_table.h"
#include "base/csv.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct columns {
    size_t n;
    const struct metric *of[2 * METRICS_MAX];
};

/* Those that the trace has; a line says which it has not. */
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

static int by_start(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    if ((*x)->start_ns != (*y)->start_ns)
        return (*x)->start_ns < (*y)->start_ns ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static int value_width(const struct metric *m)
{
    const int name = (int)strlen(m->name);
    return name > 10 ? name : 10;
}

static void print_header(FILE *out, const struct columns *c, int name_width, bool csv)
{
    if (csv)
        fprintf(out, "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\"");
    else
        fprintf(out, "%15s  %15s  %15s  %*s", "Device", "Context", "Stream", name_width, "Kernel");
    for (size_t k = 0; k < c->n; k++)
        if (csv)
            fprintf(out, ",\"%s\"", c->of[k]->name);
        else
            fprintf(out, "  %*s", value_width(c->of[k]), c->of[k]->name);
    fputc('\n', out);
}

static void print_row(FILE *out, const struct tr_trace *trace, const struct columns *c,
                      const struct tr_row *row, int name_width, bool csv)
{
    char device[128], value[FIGURE_MAX];
    const int context = row->client > 0 ? row->client : 1;
    const uint64_t stream = row->stream_number;
    tables_device(trace, row, device, sizeof device);
    if (csv) {
        csv_quote(out, device);
        fprintf(out, ",\"%d\",\"%" PRIu64 "\",", context, stream);
        csv_quote(out, row->name);
        fprintf(out, row->correlation ? ",%" PRIu64 : ",", row->correlation);
    } else {
        fprintf(out, "%15.15s  %15d  %15" PRIu64 "  %*s", device, context, stream, name_width,
                row->name);
    }
    for (size_t k = 0; k < c->n; k++) {
        metric_value_text(value, c->of[k], c->of[k]->value(row), csv);
        if (csv)
            fprintf(out, ",%s", value);
        else
            fprintf(out, "  %*s", value_width(c->of[k]), value);
    }
    fputc('\n', out);
}

void metrics_print_trace(FILE *out, const struct tr_trace *trace, const struct metrics *events,
                         const struct metrics *metrics, bool csv)
{
    struct columns columns = {.n = 0};
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    size_t n = 0;
    int name_width = 20; /* nvprof cut longer names off, by which they look alike */
    for (size_t i = 0; rows && i < trace->n; i++)
        if (trace->rows[i].kind == TR_KERNEL && trace->rows[i].counted) {
            const int length = (int)strlen(trace->rows[i].name);
            name_width = length > name_width ? length : name_width;
            rows[n++] = &trace->rows[i];
        }
    if (n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        free(rows);
        return;
    }
    qsort(rows, n, sizeof *rows, by_start);
    add_columns(out, &columns, trace, events);
    add_columns(out, &columns, trace, metrics);
    print_header(out, &columns, name_width, csv);
    for (size_t i = 0; i < n; i++)
        print_row(out, trace, &columns, rows[i], name_width, csv);
    free(rows);
}
