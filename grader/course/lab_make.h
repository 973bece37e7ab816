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

/** The target that prints the command which compiles conv.c or conv.cu in the current folder. */
static inline const char *gr_make_command(const struct gr_milestone *milestone)
{
    return milestone->cuda ? "print-lab-command-cu" : "print-lab-command-c";
}

#endif
