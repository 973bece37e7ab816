/** @file
 * What the grader has make do: print how labs are compiled, and build references. Labs themselves
 * are compiled by grader/sandbox/source_build.h.
 */
#pragma once

#include "grader/course/milestone.h"

/** Asks make what a target of a milestone prints (common/mk/labs.mk).
 * @param what       "print-lab"; "print-lab-command": how conv.c or conv.cu in the current folder is
 *                   compiled; "print-lab-compiler"
 * @param milestone  "m3"
 * @param text    malloc'd; the caller frees it, also after an error. Nothing of make's own is in it. */
enum st_code gr_make_print(const char *what, const char *milestone, char **text,
                           struct st_error *err);

/** Has make build the reference of a milestone, if it is out of date. */
enum st_code gr_make_reference(const struct gr_milestone *milestone, struct st_error *err);
