/** @file
 * Op Times of a record: collected one by one, summed over layers, compared as ratios.
 */
#pragma once

#include "grader/record/result.h"

/** @return the timing of a convolution in the result, added if needed; NULL: no space left.
 * @param layer  from 0 */
struct gr_timing *gr_timing_of(struct gr_result *result, enum gr_subject subject, const char *model,
                               int layer, const struct conv_shape *shape);
/** Adds a time, and updates the median. */
void gr_timing_add(struct gr_timing *timing, double op_time_s);
/** @return the uncertainty of a median: half the width of its 95% confidence interval, divided by
 * the median; 0 for a single time. */
double gr_timing_uncertainty(const struct gr_timing *timing);

/** As gr_timing_uncertainty(), for times in a text, separated by spaces, as in the gradebook. */
double gr_timing_text_uncertainty(const char *times);

/** @return whether two times are equal within their precision: within 0.5%, or within their
 * uncertainties. @param a_uncertainty, b_uncertainty  relative */
bool gr_same_time(double a, double a_uncertainty, double b, double b_uncertainty);

/** The sum of the Op Times of one subject at one size, over all layers. */
struct gr_op_time {
    int layers;
    double seconds;
    double uncertainty; /**< relative */
};

/** Sums a subject's medians. @return a sum with layers = 0 if the subject was not timed at this
 * size. */
struct gr_op_time gr_op_time_sum(const struct gr_result *result, enum gr_subject subject,
                                 size_t images);

/** @return the ratio of two sums over the same layers; NAN if one is missing. @param uncertainty
 * set to the relative uncertainty of the ratio; may be NULL. */
double gr_op_time_ratio(struct gr_op_time a, struct gr_op_time b, double *uncertainty);
