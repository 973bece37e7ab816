/** @file
 * Where a wrong output leaves the convolution, whatever the algorithm is.
 */
#pragma once

#include "grader/compare/verify.h"
#include "grader/diagnose/diagnose.h"
#include "grader/stages/grading.h"

/** Adds a line to a check, and a hint for it: the product at which the first wrong output leaves the
 * convolution, from following it (follow.h). Else a product with a wrong factor, from one convolution whose images
 * and filters have a single 1 each, at another place in each, so that y holds the factor of every product.
 * Nothing is added where @p diagnosis predicts the outputs, or where no product is found.
 * @param c      the case, whose data is used
 * @param wrong  its comparison */
void gr_explain_difference(struct grading *g, struct gr_check *check, const struct gr_case *c,
                           const struct gr_compare *wrong, struct gr_diagnosis *diagnosis);
