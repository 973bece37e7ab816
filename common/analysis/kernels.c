#include "analysis/kernels.h"

#include "analysis/measured.h"

#include <stdlib.h>
#include <string.h>

double an_flop(const struct an_kernel *k)
{
    const struct tr_counters *c = &k->counters;
    return 2 * c->fp32_fma + c->fp32_add_mul + c->fp64_ops + c->fp16_ops;
}

/* ---- one row as a group, and the sum of groups ---------------------------------------------- */

static struct an_kernel of_row(const struct tr_row *row)
{
    const uint64_t ns = tr_ns(row);
    struct an_kernel k = {
        .first = row, .longest = row, .calls = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns};
    const bool kernel = row->kind == TR_KERNEL;
#define PASSED(name, ...) k.name = kernel ? row->name : -1;
#include "vgpu/api/trace_columns.def"
    if (!kernel)
        return k;
    k.occupancy = row->occupancy;
    k.counted = row->counted;
    k.has_terms = row->modelled;
    k.counters = row->counters;
    memcpy(k.term_ns, row->term_ns, sizeof k.term_ns);
    if (!k.has_terms)
        k.has_terms = k.measured = an_measured_terms(row, k.term_ns);
    return k;
}

static double sum_known(double a, double b)
{
    return a < 0 || b < 0 ? -1 : a + b;
}

static void add(struct an_kernel *to, const struct an_kernel *from)
{
    const double ns = (double)to->total_ns + (double)from->total_ns;
    if (ns > 0)
        to->occupancy =
            (to->occupancy * (double)to->total_ns + from->occupancy * (double)from->total_ns) / ns;
    if (from->max_ns > to->max_ns)
        to->longest = from->longest;
    to->calls += from->calls;
    to->total_ns += from->total_ns;
    to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
    to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
    to->counted = to->counted && from->counted;
    to->has_terms = to->has_terms && from->has_terms;
    to->measured = to->measured && from->measured;
#define COUNTER(name, ...) to->counters.name += from->counters.name;
#define PASSED(name, ...)  to->name = sum_known(to->name, from->name);
#include "vgpu/api/trace_columns.def"
    for (int i = 0; i < VG_TERMS; i++)
        to->term_ns[i] += from->term_ns[i];
}

/* ---- grouping ------------------------------------------------------------------------------- */

static int compare_shape(const struct tr_row *a, const struct tr_row *b)
{
    int order = memcmp(a->grid, b->grid, sizeof a->grid);
    if (!order)
        order = memcmp(a->block, b->block, sizeof a->block);
    if (!order)
        order = (a->dynamic_shared_bytes > b->dynamic_shared_bytes) -
                (a->dynamic_shared_bytes < b->dynamic_shared_bytes);
    return order;
}

static int by_name(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    const int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

static int by_launch(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    if (!order)
        order = compare_shape(*x, *y);
    return order ? order : (*x > *y) - (*x < *y);
}

static int by_total(const void *a, const void *b)
{
    const struct an_kernel *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool same_group(const struct tr_row *a, const struct tr_row *b, enum an_by by)
{
    return strcmp(a->name, b->name) == 0 && (by != AN_BY_LAUNCH || compare_shape(a, b) == 0);
}

enum st_code an_kernels_sum(struct an_kernels *kernels, const struct tr_trace *trace, enum an_by by,
                            struct st_error *err)
{
    static bool (*const belongs[])(const struct tr_row *) = {
        [AN_BY_LAUNCH] = tr_is_kernel, [AN_BY_ACTIVITY] = tr_is_work, [AN_BY_CALL] = tr_is_call};
    size_t n;
    const struct tr_row **rows =
        tr_select(trace, belongs[by], by == AN_BY_LAUNCH ? by_launch : by_name, &n);
    *kernels = (struct an_kernels){.group = calloc(n + 1, sizeof *kernels->group)};
    if (!rows || !kernels->group) {
        free(rows);
        an_kernels_free(kernels);
        return st_fail(err, ST_NO_MEMORY, "out of memory to summarise a trace of %zu rows",
                       trace->n);
    }
    for (size_t i = 0; i < n; i++) {
        const struct an_kernel one = of_row(rows[i]);
        kernels->total_ns += one.total_ns;
        if (i > 0 && same_group(rows[i - 1], rows[i], by))
            add(&kernels->group[kernels->n - 1], &one);
        else
            kernels->group[kernels->n++] = one;
    }
    qsort(kernels->group, kernels->n, sizeof *kernels->group, by_total);
    free(rows);
    return ST_OK;
}

void an_kernel_count(struct an_kernel *k, const struct an_kernel *counted)
{
    const double part = counted->calls ? (double)k->calls / (double)counted->calls : 1;
    const double slower = counted->total_ns ? (double)k->total_ns / (double)counted->total_ns : 1;
    k->counted = counted->counted;
    k->has_terms = counted->has_terms;
    k->measured = counted->measured;
    k->occupancy = counted->occupancy;
#define COUNTER(name, ...) k->counters.name = part * counted->counters.name;
#define PASSED(name, ...)  k->name = part * counted->name;
#include "vgpu/api/trace_columns.def"
    for (int i = 0; i < VG_TERMS; i++)
        k->term_ns[i] = slower * counted->term_ns[i];
}

const struct an_kernel *an_kernels_find(const struct an_kernels *kernels,
                                        const struct an_kernel *like, enum an_by by)
{
    for (size_t i = 0; i < kernels->n; i++)
        if (kernels->group[i].longest->kind == like->longest->kind &&
            same_group(kernels->group[i].longest, like->longest, by))
            return &kernels->group[i];
    return NULL;
}

void an_kernels_free(struct an_kernels *kernels)
{
    free(kernels->group);
    *kernels = (struct an_kernels){0};
}
