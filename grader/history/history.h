/** @file
 * The versions of a milestone's source that were graded, so that a short grading loses nothing that
 * a long one found, and two versions can be compared.
 *
 *     build/report/m3/history/
 *         lock
 *         000007-1f09a2b4c6d8/     a version: number of its last grading, hash of its source
 *             result.json          every size that was graded of it
 *             conv.cu              its source; not of a library
 *             profile/             every size that was profiled of it
 *         new-4711                 a version that process 4711 is writing
 *
 * A version is a source on a device with a model. Grading it again adds to it: results that this
 * run was not requested are kept from before, with their date. A version appears by renaming a
 * folder, so it is always whole; the oldest ones are removed once there are too many, or they take
 * too much room. A damaged version is reported and left out. A version that did not build is not
 * kept.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** Limits of a milestone's history. The newest HI_LEAST_VERSIONS stay in any case. */
enum { HI_MAX_VERSIONS = 100, HI_LEAST_VERSIONS = 2, HI_MAX_BYTES = 64 << 20 };

/** A version of the history, as its folder is named. */
struct hi_version {
    unsigned number;
    char hash[16]; /**< first digits of the source's hash */
    char folder[PATH_MAX];
};

/** All of them, oldest first. */
struct hi_list {
    size_t n;
    struct hi_version *version;
};

/** Lists the versions of a report's folder, build/report/m3; none if there is no history. Free with
 * hi_list_free(), also after an error. */
enum st_code hi_list_read(struct hi_list *list, const char *report, struct st_error *err);

/** Releases a list. */
void hi_list_free(struct hi_list *list);

/** Reads what was found of a version. @param result  large: allocate it */
enum st_code hi_version_read(const struct hi_version *version, struct gr_result *result,
                             struct st_error *err);

/** @return whether two records are of one version: the same source, graded in the same way. */
bool hi_is_same(const struct gr_result *a, const struct gr_result *b);

/** Adds to a record what it was not requested and an earlier one of the same version has. */
void hi_merge(struct gr_result *newer, const struct gr_result *older);

/* ---- adding one ------------------------------------------------------------------------------- */

/** A version being written. */
struct hi_writing {
    char report[PATH_MAX]; /**< build/report/m3 */
    char folder[PATH_MAX]; /**< where it is written; its profile/ may be filled; "": nowhere */
    int lock;              /**< held from hi_commit() to hi_end() */
    char note[256];        /**< what a person should read, or "" */
};

/** Makes the folder that a version is written in, and removes those of gradings that were killed.
 * hi_end() removes it again if it is not committed. */
enum st_code hi_begin(struct hi_writing *writing, const char *report, struct st_error *err);

/** Adds the version, with what earlier gradings of it found, and makes REPORT/profile its profile.
 * Other gradings wait from here to hi_end(), so that the report can be written.
 * @param result  of this grading; it gets what is kept of earlier ones
 * @param source  its text, or NULL; @param name  what it is called: "conv.cu" */
enum st_code hi_commit(struct hi_writing *writing, struct gr_result *result, const char *source,
                       size_t bytes, const char *name, struct st_error *err);

/** Ends the writing, committed or not. */
void hi_end(struct hi_writing *writing);
