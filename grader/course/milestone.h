/** @file
 * Finding a milestone's files, and building them.
 */
#ifndef CONVLAB_GRADER_MILESTONE_H
#define CONVLAB_GRADER_MILESTONE_H

#include "base/status.h"
#include "grader/sandbox/sandbox.h"

#include <limits.h>
#include <stdbool.h>

/** Where everything of one milestone is. */
struct gr_milestone {
    char id[16];                      /**< "m1" */
    char folder[64];                  /**< "m1-cpu-conv" */
    bool libraries;                   /**< m0: vendors' libraries are run, nothing is written */
    bool cuda;                        /**< its file is conv.cu, not conv.c */
    char rubric[PATH_MAX];            /**< labs/m1-cpu-conv/rubric.yaml */
    char lab_source[PATH_MAX];        /**< labs/m1-cpu-conv/conv.c */
    char lab_library[PATH_MAX];       /**< build/labs/m1/libconv.so */
    char reference_source[PATH_MAX];  /**< reference/m1-cpu-conv/conv.c */
    char reference_library[PATH_MAX]; /**< build/reference/m1/libconv.so */
    char plain_library[PATH_MAX];     /**< build/reference/m1/libconv-plain.so: the plain loops */
};

/** Fills in a milestone. @return ST_USAGE with the list of milestones if there is none @p id. */
enum st_code gr_milestone_find(struct gr_milestone *milestone, const char *id,
                               struct st_error *err);

/** Runs make for a library that is out of date.
 * @param target    "lab-m1" or "reference-m1"
 * @param sandbox   GR_SANDBOX_NEVER: labs are not compiled in one
 * @param compiles  set to false if the compiler refused
 * @param output    malloc'd text of make and compiler, warnings included; the caller frees it. */
enum st_code gr_milestone_build(const char *target, enum gr_sandbox_wish sandbox, bool *compiles,
                                char **output, struct st_error *err);

/** What make would compile a lab with: the command line, an argument a line, for conv.c or conv.cu
 * in the current folder (grader/sandbox/source_build.h). @param command  malloc'd */
enum st_code gr_milestone_compiler(const struct gr_milestone *milestone, char **command,
                                   struct st_error *err);

#endif
