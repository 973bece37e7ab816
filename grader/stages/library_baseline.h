/** @file
 * Milestone m0, the library baseline: what vendors' libraries take for the same network.
 */
#ifndef CONVLAB_GRADER_LIBRARY_BASELINE_H
#define CONVLAB_GRADER_LIBRARY_BASELINE_H

#include "grader/stages/grading.h"

#include <stdbool.h>

/** @return whether a check of that name belongs to m0. */
bool gr_is_library_check(const char *name);

/** Runs both halves, oneDNN on the CPU and cuDNN on a GPU, and fills in their checks, Op Times and
 * the course's lines. @pre g->chosen and the checks are there. */
enum st_code gr_library_baseline(struct grading *g, struct st_error *err);

#endif
