/** @file
 * The grader's uses of make: to print how labs are compiled, and to build references.
 * grader/sandbox/source_build.h compiles the labs themselves.
 */
#pragma once

#include "grader/course/milestone.h"

/** Gets the output of a milestone's make target (common/mk/labs.mk).
 * @param what       "print-lab"; "print-lab-command": the command that compiles conv.c or conv.cu
 *                   in the current folder; "print-lab-compiler"
 * @param milestone  "m3"
 * @param text    malloc'd; the caller frees it, also after an error. Without make's own
 *                messages. */
enum st_code gr_make_print(const char *what, const char *milestone, char **text,
                           struct st_error *err);

/** Makes make build the reference of a milestone, if it is out of date. */
enum st_code gr_make_reference(const struct gr_milestone *milestone, struct st_error *err);
