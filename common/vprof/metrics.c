#include "vprof/metrics.h"

#include "trace/figures.h"
#include "vprof/metrics_table.h"
#include "base/csv.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Levenshtein's distance. */
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

/* The three nearest names, and all within the word that was given; of those that the virtual GPU
 * has, if so. */
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
    st_fail(err, ST_USAGE, "there is no %s '%s'", what, name);
    return st_detail(err, ST_HINT, "near it: %s; --query-%ss lists all", others, what);
}

enum st_code metrics_choose(struct metrics *chosen, const char *names, bool events,
                            struct st_error *err)
{
    chosen->events = events;
    char *copy = strdup(names), *rest = NULL;
    if (!copy)
        return st_fail(err, ST_NO_MEMORY, "no memory for the metrics");
    enum st_code code = ST_OK;
    char *name = strtok_r(copy, ", ", &rest);
    if (!name)
        code = st_fail(err, ST_USAGE, "--%s without a name", events ? "events" : "metrics");
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
        return st_detail(err, ST_HINT, "near it are: %s; a real GPU has it", others);
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

/* The columns of an event have no description, but a total. @param width  of the descriptions */
static void print_metric(FILE *out, const struct metric *m, const struct tr_row *const *rows,
                         size_t n, const char *device, bool events, bool csv, int width)
{
    double min = 0, max = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = m->value(rows[i]);
        min = i == 0 || value < min ? value : min;
        max = i == 0 || value > max ? value : max;
        sum += value;
    }
    char lo[FIGURE_MAX], hi[FIGURE_MAX], mean[FIGURE_MAX], total[FIGURE_MAX];
    metric_value_text(lo, m, min, csv);
    metric_value_text(hi, m, max, csv);
    metric_value_text(mean, m, sum / (double)n, csv);
    metric_value_text(total, m, sum, csv);
    if (csv) {
        csv_quote(out, device);
        fputc(',', out);
        csv_quote(out, rows[0]->name);
        fprintf(out, ",%zu,\"%s\"", n, m->name);
        if (!events)
            fprintf(out, ",\"%s\"", m->text);
        fprintf(out, ",%s,%s,%s", lo, hi, mean);
        fprintf(out, events ? ",%s\n" : "\n", total);
        return;
    }
    fprintf(out, "%11zu  %40s", n, m->name);
    if (!events)
        fprintf(out, "  %*s", width, m->text);
    fprintf(out, "  %10s  %10s  %10s", lo, hi, mean);
    if (events)
        fprintf(out, "  %10s", total);
    fputc('\n', out);
}

static void print_header(FILE *out, const char *device, bool events, bool csv, int width)
{
    if (csv)
        fprintf(out, events ? "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\","
                              "\"Max\",\"Avg\",\"Total\"\n"
                            : "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
                              "Description\",\"Min\",\"Max\",\"Avg\"\n");
    else if (events)
        fprintf(out, "%11s  %40s  %10s  %10s  %10s  %10s\nDevice \"%s\"\n", "Invocations",
                "Event Name", "Min", "Max", "Avg", "Total", device);
    else
        fprintf(out, "%11s  %40s  %*s  %10s  %10s  %10s\nDevice \"%s\"\n", "Invocations",
                "Metric Name", width, "Metric Description", "Min", "Max", "Avg", device);
}

static int by_kernel(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/* As wide as nvprof has it: by one more than the longest, if that is long. */
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
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < trace->n; i++)
        if (trace->rows[i].kind == TR_KERNEL && trace->rows[i].counted)
            rows[n++] = &trace->rows[i];
    if (!rows || n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        free(rows);
        return;
    }
    qsort(rows, n, sizeof *rows, by_kernel);
    char device[128];
    tables_device(trace, NULL, device, sizeof device);
    int length;
    const struct metric *table = metric_table(chosen->events, &length);
    const int width = description_width(chosen, table);
    print_header(out, device, chosen->events, csv, width);
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
                print_metric(out, &table[chosen->index[k]], rows + at, end - at, device,
                             chosen->events, csv, width);
    }
    for (size_t k = 0; k < chosen->n; k++)
        if (!known[k])
            fprintf(out, "======== Warning: %s is not in this trace\n",
                    table[chosen->index[k]].name);
    free(rows);
}
