/** @file
 * The faults that are recognised by what they make of every output: one table, one row a fault.
 *
 * A row says in which part of the seven loops the fault is; what it leaves NULL or zero is right.
 *
 *     for b, m, h, w in the loops' ranges
 *         sum = 0                                        <- chain: where it is not set to 0
 *         for c, p, q in the loops' ranges               <- loops: the ranges
 *             sum += x[x_index] * k[k_index]             <- x, k: the indices; swapped: the arrays;
 *                                                           term: what is done with the two
 *         y[y_index] = sum                               <- finish: the value; y: the index
 */
#pragma once

#include "conv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One iteration of the seven loops, and the number that belongs to the row of the table. */
struct gr_iteration {
    ptrdiff_t b, m, c, h, w, p, q, n;
};

/** Flat index into a tensor; anything outside of it means that the value is not known (a read) or
 * that nothing of y is changed (a write). */
typedef ptrdiff_t gr_index(const struct conv_shape *s, const struct gr_iteration *at);

/** The index of a term that is left out, as beyond the edge of a padded image. */
#define GR_ADDS_NOTHING PTRDIFF_MIN

/** Ranges of the loops, each from ..0 to before ..1. */
struct gr_loops {
    int c0, c1, h0, h1, w0, w1, p0, p1, q0, q1;
};

/** After how much the sum is set to 0 again. */
enum gr_chain { GR_EACH_OUTPUT, GR_EACH_ROW, GR_EACH_MAP, GR_EACH_IMAGE, GR_NEVER };

/** The use of a pair: its product is added; its sum is; the sum is the largest product, or 0. */
enum gr_term { GR_PRODUCT, GR_SUM_OF_BOTH, GR_LARGEST };

/** One way to get the convolution wrong. */
struct gr_fault {
    const char *id;   /**< the pattern; several rows may be variants of one */
    const char *says; /**< "every output ...", may hold %d, once or twice, for n */
    const char *hint;
    gr_index *x, *k, *y;
    void (*loops)(const struct conv_shape *s, int n, struct gr_loops *l);
    double (*finish)(const struct conv_shape *s, double sum);
    enum gr_chain chain;
    enum gr_term term;
    bool swapped;
    int n;
};

/** The table, most specific first within what can be confused. */
extern const struct gr_fault gr_faults[];
extern const size_t gr_fault_count;
