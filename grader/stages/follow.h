/** @file
 * Follows one output of a convolution through the submission's kernels, on the virtual GPU.
 */
#pragma once

#include "grader/compare/verify.h"
#include "grader/stages/grading.h"

/** Runs a convolution in a separate process.
 * @param session  closed, or from an earlier run, which this function ends; the caller ends the new
 * session
 * @param output   index of the element of y whose steps are recorded, or SIZE_MAX: none
 * @param limit_s  seconds until the convolution is stopped
 * @return ST_OK if the convolution started, however it ended */
enum st_code gr_follow(struct grading *g, const struct gr_conv *conv, size_t output, double limit_s,
                       struct gr_session *session, struct gr_run *run, struct st_error *err);

/** @return whether the shape is small enough for gr_follow_difference(). */
bool gr_can_follow(const struct conv_shape *shape);

/** States that several threads store one output, if they do so for the written output in the middle of a
 * case (where blocks overlap) or for the first one.
 * @return whether they do; false as gr_follow_difference() */
bool gr_follow_stores(struct grading *g, const struct gr_case *c, char *to, size_t room);

/** States in one sentence where a wrong output first differs from the convolution: names a product
 * and its source line.
 * @param c  the wrong case, whose data is used
 * @param wrong  its comparison: the first wrong output is followed
 * @return whether that product was found; false on devices other than the virtual GPU, for large
 * shapes, and if the output is right in a separate process */
bool gr_follow_difference(struct grading *g, const struct gr_case *c,
                          const struct gr_compare *wrong, char *to, size_t room);
