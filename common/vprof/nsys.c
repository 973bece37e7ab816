/* The summaries of `nsys stats`. */
#include "vprof/nsight.h"
#include "vprof/nsight_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 4096
#define LENGTH(a)      (sizeof(a) / sizeof *(a))

/* An activity or call in a summary. */
struct item {
    const char *name;
    size_t at; /* index in the trace */
    double value;
};

/* The items with one name, sorted by value. */
struct group {
    const struct item *item;
    size_t n, first; /* number of items, and the trace's index of the first */
    double total, mean, median, deviation;
};

static const char *const copies[TR_KINDS] = {[TR_COPY_HTOD] = "[CUDA memcpy Host-to-Device]",
                                             [TR_COPY_DTOH] = "[CUDA memcpy Device-to-Host]",
                                             [TR_COPY_DTOD] = "[CUDA memcpy Device-to-Device]",
                                             [TR_COPY_HTOH] = "[CUDA memcpy Host-to-Host]",
                                             [TR_COPY_PTOP] = "[CUDA memcpy Peer-to-Peer]",
                                             [TR_COPY_HTOA] = "[CUDA memcpy Host-to-Array]",
                                             [TR_COPY_ATOH] = "[CUDA memcpy Array-to-Host]",
                                             [TR_COPY_DTOA] = "[CUDA memcpy Device-to-Array]",
                                             [TR_COPY_ATOD] = "[CUDA memcpy Array-to-Device]",
                                             [TR_COPY_ATOA] = "[CUDA memcpy Array-to-Array]",
                                             [TR_MEMSET] = "[CUDA memset]"};

static bool is_call(const struct tr_row *row)
{
    return row->kind == TR_API && !row->nested;
}

static bool is_copy(const struct tr_row *row)
{
    return copies[row->kind] != NULL;
}

static double time_of(const struct tr_row *row)
{
    return (double)tr_ns(row);
}

static double size_of(const struct tr_row *row)
{
    return row->bytes > 0 ? row->bytes : 0;
}

/* The four summaries, in order. */
static const struct summary {
    const char *report, *title, *count, *name, *nothing;
    bool (*has)(const struct tr_row *row);
    double (*value)(const struct tr_row *row);
    bool bytes; /* values are bytes, otherwise nanoseconds */
} summaries[] = {{"cuda_api_sum", "CUDA API Summary", "Num Calls", "Name", "CUDA trace data",
                  is_call, time_of, false},
                 {"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", "Instances", "Name",
                  "CUDA kernel data", tr_is_kernel, time_of, false},
                 {"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", "Count",
                  "Operation", "GPU memory data", is_copy, time_of, false},
                 {"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", "Count",
                  "Operation", "GPU memory data", is_copy, size_of, true}};

/* ---- sums ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->value > y->value) - (x->value < y->value);
}

/* If totals are equal, nsys keeps the order in which the names first occurred, but sorts copies by
 * name. */
static int by_total(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return *x->item->name == '[' ? strcmp(x->item->name, y->item->name)
                                 : (x->first > y->first) - (x->first < y->first);
}

/* The deviation is a sample's standard deviation; for one item it is 0. */
static struct group group_of(const struct item *item, size_t n)
{
    struct group g = {.item = item, .n = n, .first = item->at};
    for (size_t i = 0; i < n; i++) {
        g.total += item[i].value;
        g.first = item[i].at < g.first ? item[i].at : g.first;
    }
    g.mean = g.total / (double)n;
    g.median = (item[(n - 1) / 2].value + item[n / 2].value) / 2;
    for (size_t i = 0; i < n; i++)
        g.deviation += (item[i].value - g.mean) * (item[i].value - g.mean);
    g.deviation = n > 1 ? sqrt(g.deviation / (double)(n - 1)) : 0;
    return g;
}

/* @return the trace's items for a summary; NULL: out of memory */
static struct item *items_of(const struct tr_trace *trace, const struct summary *s, size_t *n)
{
    struct item *items = calloc(trace->n + 1, sizeof *items);
    *n = 0;
    for (size_t i = 0; items && i < trace->n; i++)
        if (s->has(&trace->rows[i])) {
            const struct tr_row *row = &trace->rows[i];
            const char *copy = copies[row->kind];
            items[(*n)++] = (struct item){copy ? copy : row->name, i, s->value(row)};
        }
    if (items)
        qsort(items, *n, sizeof *items, by_name);
    return items;
}

static struct group *groups_of(const struct item *items, size_t n, size_t *groups)
{
    struct group *g = calloc(n + 1, sizeof *g);
    *groups = 0;
    for (size_t i = 0, end; g && i < n; i = end) {
        for (end = i + 1; end < n && strcmp(items[i].name, items[end].name) == 0;)
            end++;
        g[(*groups)++] = group_of(items + i, end - i);
    }
    if (g)
        qsort(g, *groups, sizeof *g, by_total);
    return g;
}

/* ---- tables --------------------------------------------------------------------------------- */

static void add_header(struct nsight_table *t, const struct summary *s)
{
    static const char *const names[] = {"Avg", "Med", "Min", "Max", "StdDev"};
    const char *unit = s->bytes ? "MB" : "ns";
    if (!s->bytes)
        nsight_cell(t, "Time (%%)");
    nsight_cell(t, s->bytes ? "Total (%s)" : "Total Time (%s)", unit);
    nsight_cell(t, "%s", s->count);
    for (size_t i = 0; i < LENGTH(names); i++)
        nsight_cell(t, "%s (%s)", names[i], unit);
    nsight_cell(t, "%s", s->name);
}

/* Rounds halves up, like SQL's round(). */
static double tenths(double value)
{
    return floor(10 * value + 0.5) / 10;
}

/* Digits are grouped in text, but not in CSV. */
static void number(struct nsight_table *t, bool csv, int decimals, double value)
{
    char text[64];
    if (csv)
        snprintf(text, sizeof text, "%.*f", decimals, value);
    else
        nsight_number(text, sizeof text, decimals, value);
    nsight_cell(t, "%s", text);
}

static void add_row(struct nsight_table *t, const struct summary *s, const struct group *g,
                    double total, bool csv)
{
    char name[NAME_MAX_BYTES];
    const double least = g->item[0].value, most = g->item[g->n - 1].value;
    nsight_name(name, sizeof name, g->item->name);
    if (!s->bytes)
        number(t, csv, 1, tenths(total > 0 ? 100 * g->total / total : 0));
    number(t, csv, s->bytes ? 3 : 0, s->bytes ? g->total / 1e6 : g->total);
    number(t, csv, 0, (double)g->n);
    if (s->bytes) {
        const double values[] = {g->mean, g->median, least, most, g->deviation};
        for (size_t i = 0; i < LENGTH(values); i++)
            number(t, csv, 3, values[i] / 1e6);
    } else {
        number(t, csv, 1, tenths(g->mean));
        number(t, csv, 1, tenths(g->median));
        number(t, csv, 0, least);
        number(t, csv, 0, most);
        number(t, csv, 1, tenths(g->deviation));
    }
    nsight_cell(t, "%s", name);
}

/* Headers are centred, figures right-aligned, and names left-aligned. */
static void print_text(FILE *out, const struct nsight_table *t)
{
    size_t width[NSIGHT_COLUMNS_MAX];
    nsight_widths(t, width);
    for (size_t i = 0; i < t->cells; i++) {
        const size_t column = i % t->columns, n = strlen(t->cell[i]), free = width[column] - n;
        const size_t left = i < t->columns ? free / 2 : column + 1 < t->columns ? free : 0;
        fprintf(out, "%s%*s%s%*s%s", column ? "  " : " ", (int)left, "", t->cell[i],
                (int)(free - left), "", column + 1 < t->columns ? "" : "\n");
        if (i + 1 == t->columns)
            for (size_t k = 0; k < t->columns; k++) {
                fputs(k ? "  " : " ", out);
                for (size_t dash = 0; dash < width[k]; dash++)
                    fputc('-', out);
                fputs(k + 1 < t->columns ? "" : "\n", out);
            }
    }
    fputc('\n', out);
}

static void print_table(FILE *out, const struct summary *s, const struct nsight_table *t, bool csv)
{
    const size_t rows = t->cells / t->columns;
    for (size_t i = 0; csv && i < rows; i++)
        nsight_csv_row(out, t, i, false, "\n");
    if (csv) {
        fputc('\n', out);
        return;
    }
    fprintf(out, "\n ** %s (%s):\n\n", s->title, s->report);
    if (rows > 1)
        print_text(out, t);
    else
        fprintf(out, "SKIPPED: the profile does not contain %s.\n\n", s->nothing);
}

static bool print_summary(FILE *out, const struct tr_trace *trace, const struct summary *s,
                          bool csv)
{
    struct nsight_table t = {.columns = s->bytes ? 8 : 9};
    size_t n, groups = 0;
    double total = 0;
    struct item *items = items_of(trace, s, &n);
    struct group *g = items ? groups_of(items, n, &groups) : NULL;
    for (size_t i = 0; i < groups; i++)
        total += g[i].total;
    add_header(&t, s);
    for (size_t i = 0; i < groups; i++)
        add_row(&t, s, &g[i], total, csv);
    const bool good = g && !t.no_memory;
    if (good)
        print_table(out, s, &t, csv);
    nsight_table_free(&t);
    free(g);
    free(items);
    return good;
}

enum st_code nsys_print(FILE *out, const struct tr_trace *trace, bool csv, struct st_error *err)
{
    for (size_t i = 0; i < LENGTH(summaries); i++)
        if (!print_summary(out, trace, &summaries[i], csv))
            return st_fail(err, ST_NO_MEMORY, "out of memory for the summary %s",
                           summaries[i].report);
    return ST_OK;
}
