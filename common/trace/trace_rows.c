/* Rows of a trace: selecting, sorting, and matching calls with work. */
#include "trace/trace_parts.h"

#include <stdlib.h>

int trace_order(const uint64_t *a, const uint64_t *b, size_t n, const struct tr_row *x,
                const struct tr_row *y)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return (x > y) - (x < y);
}

int tr_by_start(const void *a, const void *b)
{
    const struct tr_row *x = *(const struct tr_row *const *)a,
                        *y = *(const struct tr_row *const *)b;
    return trace_order(&x->start_ns, &y->start_ns, 1, x, y);
}

bool tr_is_call(const struct tr_row *row)
{
    return row->kind == TR_API;
}

bool tr_is_work(const struct tr_row *row)
{
    return row->kind != TR_API;
}

bool tr_is_kernel(const struct tr_row *row)
{
    return row->kind == TR_KERNEL;
}

bool tr_is_counted(const struct tr_row *row)
{
    return row->kind == TR_KERNEL && row->counted;
}

const struct tr_row **tr_select(const struct tr_trace *trace,
                                bool (*wanted)(const struct tr_row *row),
                                int (*order)(const void *a, const void *b), size_t *n)
{
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows && i < trace->n; i++)
        if (wanted(&trace->rows[i]))
            rows[(*n)++] = &trace->rows[i];
    if (*n)
        qsort(rows, *n, sizeof *rows, order);
    return rows;
}

/* ---- matching calls and work ---------------------------------------------------------------- */

struct tr_index {
    size_t n;
    const struct tr_row *rows[]; /* by client and correlation */
};

static int by_correlation(const void *a, const void *b)
{
    const struct tr_row *x = *(const struct tr_row *const *)a,
                        *y = *(const struct tr_row *const *)b;
    return trace_order((uint64_t[]){(uint64_t)x->client, x->correlation, x->start_ns},
                       (uint64_t[]){(uint64_t)y->client, y->correlation, y->start_ns}, 3, x, y);
}

struct tr_index *tr_index_make(const struct tr_trace *trace, bool calls)
{
    struct tr_index *index = malloc(sizeof *index + (trace->n + 1) * sizeof *index->rows);
    if (!index)
        return NULL;
    index->n = 0;
    for (size_t i = 0; i < trace->n; i++)
        if ((trace->rows[i].kind == TR_API) == calls && trace->rows[i].correlation)
            index->rows[index->n++] = &trace->rows[i];
    qsort(index->rows, index->n, sizeof *index->rows, by_correlation);
    return index;
}

const struct tr_row *tr_index_find(const struct tr_index *index, const struct tr_row *row)
{
    size_t low = 0, high = index->n;
    while (low < high) { /* finds the first row that is not before the given one */
        const size_t middle = low + (high - low) / 2;
        const struct tr_row *at = index->rows[middle];
        if (at->client < row->client ||
            (at->client == row->client && at->correlation < row->correlation))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->n || index->rows[low]->client != row->client ||
        index->rows[low]->correlation != row->correlation || !row->correlation)
        return NULL;
    return index->rows[low];
}
