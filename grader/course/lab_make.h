/** @file
 * What the grader has make do: print how labs are compiled, and build references. Labs themselves
 * are compiled by grader/sandbox/source_build.h.
 */
#ifndef CONVLAB_GRADER_LAB_MAKE_H
#define CONVLAB_GRADER_LAB_MAKE_H

#include "grader/course/milestone.h"

/** Asks make for what a target prints (common/mk/labs.mk).
 * @param target  "print-lab-m3", say
 * @param text    malloc'd; the caller frees it, also after an error. Nothing of make's own is in it. */
enum st_code gr_make_print(const char *target, char **text, struct st_error *err);

/** Has make build the reference of a milestone, if it is out of date. */
enum st_code gr_make_reference(const struct gr_milestone *milestone, struct st_error *err);

/** The same for the command that compiles a milestone's file in the current folder. */
enum st_code gr_make_print_command(const struct gr_milestone *milestone, char **text,
                                   struct st_error *err);

#endif
