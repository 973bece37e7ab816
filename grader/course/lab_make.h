/** @file
 * Runs make: to print how labs are compiled, and to build references.
 * grader/sandbox/source_build.h compiles the labs themselves.
 */
#pragma once

#include "grader/course/milestone.h"

/** Gets the output of a milestone's make target (common/mk/labs.mk).
 * @param what       "print-lab"; "print-lab-command": the command that compiles conv.c or conv.cu
 *                   in the current folder; "print-lab-compiler"
 * @param milestone  "m3"
 * @param text  malloc'd output, without make's own messages; the caller frees it, even after an
 * error. */
enum st_code gr_make_print(const char *what, const char *milestone, char **text,
                           struct st_error *err);

/** Runs make to build a milestone's reference if it is out of date. */
enum st_code gr_make_reference(const struct gr_milestone *milestone, struct st_error *err);
