#include "vprof/metrics.h"

#include "trace/figures.h"
#include "vprof/metrics_table.h"
#include "trace/trace_cells.h"
#include "vprof/tables.h"

#include <stdlib.h>
#include <string.h>

/* Levenshtein distance. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int row[LONGEST + 1];
    int m = (int)strnlen(a, LONGEST), n = (int)strnlen(b, LONGEST);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

/* Writes the three names most similar to a wrong one; names that contain it come first. On the
 * virtual GPU, considers only metrics that it has. */
static void near(const char *name, bool events, bool is_virtual, char *to, size_t room)
{
    bool used[METRICS_MAX] = {false};
    int length;
    const struct metric *table = metric_table(events, &length);
    to[0] = '\0';
    for (int k = 0; k < 3; k++) {
        int best = -1, least = 0;
        for (int i = 0; i < length; i++) {
            int d = strstr(table[i].name, name) ? 0 : distance(name, table[i].name);
            if (!used[i] && !(is_virtual && metric_needs_gpu(&table[i])) &&
                (best < 0 || d < least)) {
                best = i;
                least = d;
            }
        }
        used[best] = true;
        size_t n = strlen(to);
        snprintf(to + n, room - n, "%s%s", k ? ", " : "", table[best].name);
    }
}

static enum st_code choose_one(struct metrics *m, const char *name, struct st_error *err)
{
    const bool all = strcmp(name, "all") == 0;
    bool found = all;
    int length;
    const struct metric *table = metric_table(m->events, &length);
    for (int i = 0; i < length; i++) {
        if (!all && strcmp(name, table[i].name) != 0)
            continue;
        found = true;
        m->named[i] = m->named[i] || !all;
        bool there = false;
        for (size_t k = 0; k < m->n; k++)
            there = there || m->index[k] == i;
        if (!there)
            m->index[m->n++] = i;
    }
    if (found)
        return ST_OK;
    char others[200];
    near(name, m->events, false, others, sizeof others);
    const char *what = m->events ? "event" : "metric";
    st_fail(err, ST_USAGE, "no %s is named '%s'", what, name);
    return st_detail(err, ST_HINT, "similar names: %s; --query-%ss lists all", others, what);
}

enum st_code metrics_choose(struct metrics *chosen, const char *names, bool events,
                            struct st_error *err)
{
    chosen->events = events;
    char *copy = strdup(names), *rest = NULL;
    if (!copy)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the metrics");
    enum st_code code = ST_OK;
    char *name = strtok_r(copy, ", ", &rest);
    if (!name)
        code = st_fail(err, ST_USAGE, "--%s needs a name", events ? "events" : "metrics");
    for (; name && !code; name = strtok_r(NULL, ", ", &rest))
        code = choose_one(chosen, name, err);
    free(copy);
    return code;
}

enum st_code metrics_for_virtual(struct metrics *chosen, struct st_error *err)
{
    int length;
    size_t n = 0;
    const struct metric *table = metric_table(chosen->events, &length);
    for (size_t k = 0; k < chosen->n; k++) {
        const struct metric *m = &table[chosen->index[k]];
        if (!metric_needs_gpu(m)) {
            chosen->index[n++] = chosen->index[k];
            continue;
        }
        if (!chosen->named[chosen->index[k]])
            continue;
        char others[200];
        near(m->name, chosen->events, true, others, sizeof others);
        st_fail(err, ST_USAGE, "the virtual GPU does not have the %s '%s'",
                chosen->events ? "event" : "metric", m->name);
        return st_detail(err, ST_HINT, "similar names: %s; a real GPU has it", others);
    }
    chosen->n = n;
    return ST_OK;
}

bool metrics_need(const struct metrics *chosen, const char *column)
{
    int length;
    const struct metric *table = metric_table(chosen->events, &length);
    for (size_t k = 0; k < chosen->n; k++)
        if (metric_needs(&table[chosen->index[k]], column))
            return true;
    return false;
}

void metrics_query(FILE *out, bool events)
{
    int length;
    const struct metric *table = metric_table(events, &length);
    fprintf(out, "Available %s:\n%40s   %s\n", events ? "Events" : "Metrics", "Name",
            "Description");
    for (int i = 0; i < length; i++)
        fprintf(out, "%40s:  %s%s\n", table[i].name, table[i].text,
                metric_needs_gpu(&table[i]) ? " (on a real GPU)" : "");
}

/* An event has a column for the total instead of the description. */
struct layout {
    struct cells cells;
    bool events;
    int width; /* width of the descriptions */
    char device[128];
};

static void print_metric(struct layout *l, const struct metric *m, const struct tr_row *const *rows,
                         size_t n)
{
    struct cells *c = &l->cells;
    double min = 0, max = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = m->value(rows[i]);
        min = i == 0 || value < min ? value : min;
        max = i == 0 || value > max ? value : max;
        sum += value;
    }
    const double values[] = {min, max, sum / (double)n, sum};
    if (c->csv) {
        cell_named(c, 0, "%s", l->device);
        cell_named(c, 0, "%s", rows[0]->name);
    }
    cell(c, 11, "%zu", n);
    cell_named(c, 40, "%s", m->name);
    if (!l->events)
        cell_named(c, l->width, "%s", m->text);
    for (int i = 0; i < (l->events ? 4 : 3); i++) {
        char text[FIGURE_MAX];
        metric_value_text(text, m, values[i], c->csv);
        cell(c, 10, "%s", text);
    }
    cells_end(c);
}

static void print_header(struct layout *l)
{
    static const char *const values[] = {"Min", "Max", "Avg", "Total"};
    struct cells *c = &l->cells;
    if (c->csv) {
        cell_named(c, 0, "Device");
        cell_named(c, 0, "Kernel");
    }
    cell_named(c, 11, "Invocations");
    cell_named(c, 40, l->events ? "Event Name" : "Metric Name");
    if (!l->events)
        cell_named(c, l->width, "Metric Description");
    for (int i = 0; i < (l->events ? 4 : 3); i++)
        cell_named(c, 10, "%s", values[i]);
    cells_end(c);
    if (!c->csv)
        fprintf(c->out, "Device \"%s\"\n", l->device);
}

static int by_kernel(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/* @return nvprof's width of the column: the longest description plus 1, at least 40. */
static int description_width(const struct metrics *chosen, const struct metric *table)
{
    int width = 40;
    for (size_t k = 0; k < chosen->n; k++) {
        const int needs = (int)strlen(table[chosen->index[k]].text) + 1;
        width = needs > width ? needs : width;
    }
    return width;
}

void metrics_print(FILE *out, const struct tr_trace *trace, const struct metrics *chosen, bool csv)
{
    size_t n;
    const struct tr_row **rows = tr_select(trace, tr_is_counted, by_kernel, &n);
    if (n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        free(rows);
        return;
    }
    int length;
    const struct metric *table = metric_table(chosen->events, &length);
    struct layout l = {.cells = {.out = out, .csv = csv},
                       .events = chosen->events,
                       .width = description_width(chosen, table)};
    tables_device(trace, NULL, l.device, sizeof l.device);
    print_header(&l);
    bool known[METRICS_MAX];
    for (size_t k = 0; k < chosen->n; k++)
        known[k] = metric_recorded(trace, &table[chosen->index[k]]);
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at; end < n && strcmp(rows[end]->name, rows[at]->name) == 0; end++)
            ;
        if (!csv)
            fprintf(out, "    Kernel: %s\n", rows[at]->name);
        for (size_t k = 0; k < chosen->n; k++)
            if (known[k])
                print_metric(&l, &table[chosen->index[k]], rows + at, end - at);
    }
    for (size_t k = 0; k < chosen->n; k++)
        if (!known[k])
            fprintf(out, "======== Warning: %s is not in this trace\n",
                    table[chosen->index[k]].name);
    free(rows);
}
