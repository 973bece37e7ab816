/** @file
 * The faults that are recognised by their effect on every output: a table with one row per fault.
 *
 * A row states in which part of the seven loops the fault is; members that are NULL or zero are
 * right.
 *
 *     for b, m, h, w in the loops' ranges
 *         sum = 0                                        <- chain: where this is missing
 *         for c, p, q in the loops' ranges               <- loops: the ranges
 *             sum += x[x_index] * k[k_index]             <- x, k: the indices; swapped: the arrays;
 *                                                           term: how the two are combined
 *         y[y_index] = sum                               <- finish: the value; y: the index
 */
#pragma once

#include "conv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One iteration of the seven loops, and the number in the table's row. */
struct gr_iteration {
    ptrdiff_t b, m, c, h, w, p, q, n;
};

/** Flat index into a tensor; an index outside it means that the value is unknown (a read) or that y
 * is unchanged (a write). */
typedef ptrdiff_t gr_index(const struct conv_shape *s, const struct gr_iteration *at);

/** The index of a term that is left out, for example beyond the edge of a padded image. */
#define GR_ADDS_NOTHING PTRDIFF_MIN

/** Ranges of the loops, each from ..0 to before ..1. */
struct gr_loops {
    int c0, c1, h0, h1, w0, w1, p0, p1, q0, q1;
};

/** How often the sum is set to 0. */
enum gr_chain { GR_EACH_OUTPUT, GR_EACH_ROW, GR_EACH_MAP, GR_EACH_IMAGE, GR_NEVER };

/** The use of a pair: add its product; add its sum; keep the largest product, or 0. */
enum gr_term { GR_PRODUCT, GR_SUM_OF_BOTH, GR_LARGEST };

/** One mistake in the convolution. */
struct gr_fault {
    const char *id;   /**< the pattern; several rows may be variants of one */
    const char *says; /**< "every output ...", may contain %d, once or twice, for n */
    const char *hint;
    gr_index *x, *k, *y;
    void (*loops)(const struct conv_shape *s, int n, struct gr_loops *l);
    double (*finish)(const struct conv_shape *s, double sum);
    enum gr_chain chain;
    enum gr_term term;
    bool swapped;
    int n;
};

/** The table; among faults that can be confused, the most specific is first. */
extern const struct gr_fault gr_faults[];
extern const size_t gr_fault_count;
