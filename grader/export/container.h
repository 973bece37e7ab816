/** @file
 * Writes zip and tar files with a few regular files, uncompressed.
 *
 * libarchive could do this, but would add 35 MB of libraries to the students' archive, which
 * contains the grader. The part of both formats that is needed fits on a page.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** A file of an archive. Its contents are read from a path, or given. */
struct gx_part {
    const char *name; /**< name in the archive: ASCII, shorter than 100 bytes */
    const char *path; /**< path of the file, or NULL */
    const char *text; /**< if path is NULL: the contents */
    unsigned mode;    /**< for example 0755 */
};

enum gx_container { GX_ZIP, GX_TAR };

/** Writes an archive, which appears complete or not at all. The archive has no times and owners, so
 * that the same parts always give the same archive. */
enum st_code gx_container_write(enum gx_container container, const struct gx_part *parts, size_t n,
                                const char *path, struct st_error *err);
