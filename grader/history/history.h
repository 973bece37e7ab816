/** @file
 * The graded versions of a milestone's source: they keep a long grading's results after a short
 * one, and can be compared.
 *
 *     build/report/m3/history/
 *         lock
 *         000007-1f09a2b4c6d8/     a version: number of its last grading, hash of its source
 *             result.json          all its graded sizes
 *             conv.cu              its source, unless it is a library
 *             profile/             all its profiled sizes
 *         new-4711                 a version that process 4711 is writing
 *
 * A version is a source on a device with a model. Grading it again adds to it: earlier results that
 * the new run did not request are kept, with their date. A version appears by renaming a folder, so
 * it is always complete. The oldest versions are removed when their number or size exceeds the
 * limits. A damaged version is reported and skipped. A version that did not build is not kept.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** Limits of a milestone's history. The newest HI_LEAST_VERSIONS always stay. */
enum { HI_MAX_VERSIONS = 100, HI_LEAST_VERSIONS = 2, HI_MAX_BYTES = 64 << 20 };

/** A version of the history, parsed from the name of its folder. */
struct hi_version {
    unsigned number;
    char hash[16]; /**< first digits of the source's hash */
    char folder[PATH_MAX];
};

/** All versions, oldest first. */
struct hi_list {
    size_t n;
    struct hi_version *version;
};

/** Lists the versions of a report's folder, build/report/m3; none without a history. Free with
 * hi_list_free(), also after an error. */
enum st_code hi_list_read(struct hi_list *list, const char *report, struct st_error *err);

/** Releases a list. */
void hi_list_free(struct hi_list *list);

/** Reads the results of a version. @param result  large: allocate it */
enum st_code hi_version_read(const struct hi_version *version, struct gr_result *result,
                             struct st_error *err);

/** @return whether two records are of the same version: same source, graded in the same way. */
bool hi_is_same(const struct gr_result *a, const struct gr_result *b);

/** Adds to a record the results that it did not request but an earlier one of the same version
 * has. */
void hi_merge(struct gr_result *newer, const struct gr_result *older);

/* ---- adding a version ----------------------------------------------------------------------- */

/** A version being written. */
struct hi_writing {
    char report[PATH_MAX]; /**< build/report/m3 */
    char folder[PATH_MAX]; /**< where it is written; its profile/ may be filled; "": nowhere */
    int lock;              /**< held from hi_commit() to hi_end() */
    char note[256];        /**< a message for people, or "" */
};

/** Makes the folder in which a version is written, and removes those of killed gradings. hi_end()
 * removes it again if it is not committed. */
enum st_code hi_begin(struct hi_writing *writing, const char *report, struct st_error *err);

/** Adds the version, merged with its earlier results, and makes REPORT/profile its profile. Other
 * gradings wait until hi_end(), so that the report can be written.
 * @param result  of this grading; it gets the kept results of earlier ones
 * @param source  its text, or NULL; @param name  its file name: "conv.cu" */
enum st_code hi_commit(struct hi_writing *writing, struct gr_result *result, const char *source,
                       size_t bytes, const char *name, struct st_error *err);

/** Ends the writing, committed or not. */
void hi_end(struct hi_writing *writing);
