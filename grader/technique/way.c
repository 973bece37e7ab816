#include "grader/technique/way.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_total(struct gr_way *to, const char *fact, double value)
{
#define TAKE(name)                                                                                 \
    if (strcmp(fact, #name) == 0)                                                                  \
        to->name = value;
    PROOF_TOTALS(TAKE)
#undef TAKE
}

/* Instances of a template have the same name, so a kernel begins with the first count of its rows. */
static struct gr_kernel_way *kernel_of(struct gr_way *to, const char *name, const char *fact)
{
    const bool is_new = strcmp(fact, "launches") == 0 || !to->kernels;
    if (!is_new || to->kernels == GR_MAX_KERNELS)
        return &to->kernel[to->kernels - 1];
    struct gr_kernel_way *k = &to->kernel[to->kernels++];
    snprintf(k->name, sizeof k->name, "%s", name);
    return k;
}

static void take_count(struct gr_kernel_way *to, const char *fact, double value)
{
#define TAKE(name)                                                                                 \
    if (strcmp(fact, #name) == 0)                                                                  \
        to->name += value;
    VG_PROOF_COUNTS(TAKE)
#undef TAKE
}

void gr_kernel_way_add(struct gr_kernel_way *to, const struct gr_kernel_way *from)
{
#define ADD(name) to->name += from->name;
    VG_PROOF_COUNTS(ADD)
#undef ADD
}

enum st_code gr_way_read(struct gr_way *to, const struct tsv *table, const struct conv_shape *shape,
                         struct st_error *err)
{
    const int kernel = tsv_column(table, "kernel"), fact = tsv_column(table, "fact"),
              value = tsv_column(table, "value");
    *to = (struct gr_way){.shape = *shape};
    if (kernel < 0 || fact < 0 || value < 0)
        return st_fail(err, ST_BAD_FORMAT, "a column is missing in the table of the proof");
    for (size_t i = 0; i < table->rows; i++) {
        const char *name = tsv_cell(table, i, kernel), *what = tsv_cell(table, i, fact);
        const double found = strtod(tsv_cell(table, i, value), NULL);
        /* the first connection is the harness's; other connections prove nothing */
        if (!name[0] && strcmp(what, "outputs") == 0 && i > 0)
            break;
        if (!name[0])
            take_total(to, what, found);
        else
            take_count(kernel_of(to, name, what), what, found);
    }
    for (size_t i = 0; i < to->kernels; i++) {
        gr_kernel_way_add(&to->total, &to->kernel[i]);
        if (to->kernel[i].products > 0)
            gr_kernel_way_add(&to->multiplying, &to->kernel[i]);
    }
    return ST_OK;
}
