/** @file
 * A table of faults that are recognised by their effect on every output, with one row per fault.
 *
 * A row states which part of the seven loops is faulty; members that are NULL or zero stand for
 * right parts.
 *
 *     for b, m, h, w in the loops' ranges
 *         sum = 0                                        <- chain: where this line is missing
 *         for c, p, q in the loops' ranges               <- loops: the ranges
 *             sum += x[x_index] * k[k_index]             <- x, k: the indices; swapped: the arrays;
 *                                                           term: how both are combined
 *         y[y_index] = sum                               <- finish: the value; y: the index
 */
#pragma once

#include "conv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One iteration of the seven loops, and the number from the table's row. */
struct gr_iteration {
    ptrdiff_t b, m, c, h, w, p, q, n;
};

/** Flat index into a tensor; an index outside it means that the value is unknown (a read) or that y
 * is unchanged (a write). */
typedef ptrdiff_t gr_index(const struct conv_shape *s, const struct gr_iteration *at);

/** The index that leaves out a term, for example beyond the edge of a padded image. */
#define GR_ADDS_NOTHING PTRDIFF_MIN

/** Ranges of the loops: each begins at ..0 and ends before ..1. */
struct gr_loops {
    int c0, c1, h0, h1, w0, w1, p0, p1, q0, q1;
};

/** How often the sum is set to 0. In the last two cases, a thread has its own sum, and loops over
 * images or maps. */
enum gr_chain {
    GR_EACH_OUTPUT,
    GR_EACH_ROW,
    GR_EACH_MAP,
    GR_EACH_IMAGE,
    GR_NEVER,
    GR_OVER_IMAGES,
    GR_OVER_MAPS
};

/** The operation on a pair of elements: add their product, add their sum, or keep the largest
 * product (at least 0). */
enum gr_term { GR_PRODUCT, GR_SUM_OF_BOTH, GR_LARGEST };

/** One mistake in the convolution. */
struct gr_fault {
    const char *id;   /**< the pattern; several rows may be variants of one pattern */
    const char *says; /**< "every output ...", may contain %d for n, once or twice */
    const char *hint;
    gr_index *x, *k, *y;
    void (*loops)(const struct conv_shape *s, int n, struct gr_loops *l);
    double (*finish)(const struct conv_shape *s, double sum);
    enum gr_chain chain;
    enum gr_term term;
    bool swapped;
    int n;
};

/** The table. Of faults that can be confused, the most specific comes first. */
extern const struct gr_fault gr_faults[];
extern const size_t gr_fault_count;
