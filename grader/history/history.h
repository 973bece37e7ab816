/** @file
 * The graded versions of a milestone's source. They keep the results of a long grading when a short
 * one follows, and can be compared.
 *
 *     build/report/m3/history/
 *         lock
 *         000007-1f09a2b4c6d8/     a version: number of the last grading, hash of the source
 *             result.json          all its graded sizes
 *             conv.cu              its source, unless it is a library
 *             profile/             all its profiled sizes
 *         new-4711                 a version that process 4711 is writing
 *
 * A version is a source, graded on one device with one model. Grading it again adds results:
 * earlier results that the new run did not request are kept, with their date. A version appears by
 * renaming a folder, so it is always complete. The oldest versions are removed when their number or
 * size exceeds the limits. A damaged version is reported and skipped. A version that did not build
 * is not kept.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** The limits of a milestone's history. The newest HI_LEAST_VERSIONS are always kept. */
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

/** Lists the versions in a report's folder, build/report/m3; an empty list if there is no history.
 * Free the list with hi_list_free(), even after an error. */
enum st_code hi_list_read(struct hi_list *list, const char *report, struct st_error *err);

/** Frees a list. */
void hi_list_free(struct hi_list *list);

/** Reads the results of a version. @param result  a large struct: allocate it on the heap */
enum st_code hi_version_read(const struct hi_version *version, struct gr_result *result,
                             struct st_error *err);

/** @return whether two records belong to the same version: the same source, graded in the same
 * way. */
bool hi_is_same(const struct gr_result *a, const struct gr_result *b);

/** Adds to a record those results that it did not request and that an earlier record of the version
 * has. */
void hi_merge(struct gr_result *newer, const struct gr_result *older);

/* ---- adding a version ----------------------------------------------------------------------- */

/** A version that is being written. */
struct hi_writing {
    char report[PATH_MAX]; /**< build/report/m3 */
    char folder[PATH_MAX]; /**< folder of the new version; its profile/ may be filled; "": none */
    int lock;              /**< held from hi_commit() to hi_end() */
    char note[256];        /**< a message for people, or "" */
};

/** Creates the folder in which a version is written, and removes folders left by killed gradings.
 * hi_end() removes the folder if the version is not committed. */
enum st_code hi_begin(struct hi_writing *writing, const char *report, struct st_error *err);

/** Adds the version, merged with its earlier results, and makes REPORT/profile its profile. Other
 * gradings wait until hi_end(), so that the report can be written.
 * @param result  of this grading; kept results of earlier gradings are added @param source  the
 * source's text, or NULL @param name  the source's file name: "conv.cu" */
enum st_code hi_commit(struct hi_writing *writing, struct gr_result *result, const char *source,
                       size_t bytes, const char *name, struct st_error *err);

/** Ends the writing, whether the version was committed or not. */
void hi_end(struct hi_writing *writing);
