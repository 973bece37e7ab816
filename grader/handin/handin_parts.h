/** @file
 * Shared by the readers of folders and archives. They offer files, and the best file so far is
 * kept.
 */
#pragma once

#include "grader/handin/handin.h"

/** The state of a reading. */
struct hi_reading {
    const struct hi_handin *handin;
    struct hi_taken *taken;
    size_t entries; /**< number of folder entries */
    bool archives;  /**< this is the second pass: only archives in folders are read */
};

/** @return where to keep the file at a path: as the milestone's source or report; NULL if the file
 * is not wanted or a better file exists. Of several equally good files, the first by name is kept
 * and marked as not unique. @param limit  set to the maximum size in bytes */
struct hi_file *hi_offer(struct hi_reading *r, const char *path, size_t *limit);

/** Marks a file as not found. */
void hi_file_empty(struct hi_file *file);

/** Refuses an offered file. */
void hi_refuse(struct hi_file *file, const char *text, ...) __attribute__((format(printf, 2, 3)));

/** Reads an archive from a descriptor. @param name  the archive's name within the submission, or
 * "" */
enum st_code hi_read_archive(struct hi_reading *r, int archive, const char *name,
                             struct st_error *err);
