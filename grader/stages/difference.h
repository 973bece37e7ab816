/** @file
 * Finds where a wrong output differs from the convolution, whatever the algorithm.
 */
#pragma once

#include "grader/compare/verify.h"
#include "grader/diagnose/diagnose.h"
#include "grader/stages/grading.h"

/** Adds a line and a hint to a check: the product at which the first wrong output first differs
 * from the convolution, found by following that output (follow.h). Otherwise, the product is one
 * with a wrong factor: it is found by a convolution whose images and filters each contain a single
 * 1, at different positions, so that y contains the factor of every product. Adds nothing if @p
 * diagnosis predicts the outputs, or if no product is found.
 * @param c  the wrong case, whose data is used
 * @param wrong  the comparison of its outputs */
void gr_explain_difference(struct grading *g, struct gr_check *check, const struct gr_case *c,
                           const struct gr_compare *wrong, struct gr_diagnosis *diagnosis);
