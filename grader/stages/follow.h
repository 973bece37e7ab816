/** @file
 * Follows one output of a convolution through the submission's kernels, on the virtual GPU.
 */
#pragma once

#include "grader/compare/verify.h"
#include "grader/stages/grading.h"

/** Runs a convolution in a separate process.
 * @param session  closed, or from an earlier run, which this ends; the caller ends the new one
 * @param output   index of the element of y whose steps are recorded, or SIZE_MAX: none
 * @param limit_s  seconds until it is stopped
 * @return ST_OK if it was started, however it ended */
enum st_code gr_follow(struct grading *g, const struct gr_conv *conv, size_t output, double limit_s,
                       struct gr_session *session, struct gr_run *run, struct st_error *err);

/** States in one sentence where a wrong output first differs from the convolution: a product with
 * its source line.
 * @param c      the case, whose data is used
 * @param wrong  its comparison: the first wrong output is followed
 * @return whether it found that; false on other devices than the virtual GPU, for large shapes, and
 * if the output is right in a separate process */
bool gr_follow_difference(struct grading *g, const struct gr_case *c,
                          const struct gr_compare *wrong, char *to, size_t room);
