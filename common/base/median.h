/** @file
 * The median and its confidence interval, without assumptions about the distribution of times.
 */
#pragma once

#include <stddef.h>

/** A median with an interval around it. */
struct median {
    size_t n;                 /**< number of samples */
    double median, low, high; /**< the same unit as the samples */
};

/** The median of @p n samples, and two samples that enclose the true median with a probability of
 * at least 95%. Each sample is above or below the true median with probability one half,
 * independently, so the number of samples below it is binomially distributed, whatever the
 * distribution of the samples. For fewer than 6 samples no interval reaches 95%, and the interval
 * is the whole range.
 * @param samples  sorted by this function. @pre n > 0 */
struct median median_of(double *samples, size_t n);
