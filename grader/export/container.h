/** @file
 * Writing zip and tar files: a few regular files, stored as they are.
 *
 * libarchive could do it, but would add 35 MB of libraries to the students' archive, which contains the
 * grader. The needed part of both formats fits on a page.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** A file of an archive: its contents are read from a path, or given. */
struct gx_part {
    const char *name; /**< in the archive: ASCII, shorter than 100 bytes */
    const char *path; /**< of the file, or NULL */
    const char *text; /**< without a path: the contents */
    unsigned mode;    /**< 0755 */
};

enum gx_container { GX_ZIP, GX_TAR };

/** Writes an archive, which appears whole or not at all. No times and no owners: the same parts
 * give the same archive. */
enum st_code gx_container_write(enum gx_container container, const struct gx_part *parts, size_t n,
                                const char *path, struct st_error *err);
