/** @file
 * Between the readers of folders and archives: a file is offered, and kept if it is the best so far.
 */
#pragma once

#include "grader/handin/handin.h"

/** The state of a reading. */
struct hi_reading {
    const struct hi_handin *handin;
    struct hi_taken *taken;
    size_t entries; /**< of folders */
    bool archives;  /**< the second time: only archives in them are looked at */
};

/** @return the place of a path's file: the milestone's source or report; NULL if the file is not wanted, or
 * a better one exists. Of several that fit equally well it holds the first by name, marked twice.
 * @param limit  set to the most bytes that are taken */
struct hi_file *hi_offer(struct hi_reading *r, const char *path, size_t *limit);

/** Marks it as not found. */
void hi_file_empty(struct hi_file *file);

/** Refuses a file that was offered. */
void hi_refuse(struct hi_file *file, const char *text, ...) __attribute__((format(printf, 2, 3)));

/** Reads an archive from a descriptor. @param name  within the submission, or "" */
enum st_code hi_read_archive(struct hi_reading *r, int archive, const char *name,
                             struct st_error *err);
