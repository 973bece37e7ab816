/** @file
 * Between the readers of folders and archives: a file is offered, and kept if it is the best so far.
 */
#ifndef CONVLAB_GRADER_HANDIN_PARTS_H
#define CONVLAB_GRADER_HANDIN_PARTS_H

#include "grader/handin/handin.h"

/** What is being read. */
struct hi_reading {
    const struct hi_handin *handin;
    struct hi_taken *taken;
    size_t entries; /**< of folders */
    bool archives;  /**< the second time: only archives in them are looked at */
};

/** Where a path's file goes: the milestone's source or report, or NULL if it is not wanted, or there
 * is a better one. Of several that fit equally well the first by name is there, marked twice.
 * @param limit  set to the most bytes that are taken */
struct hi_file *hi_offer(struct hi_reading *r, const char *path, size_t *limit);

/** Makes it one that was not found. */
void hi_file_empty(struct hi_file *file);

/** Refuses a file that was offered. */
void hi_refuse(struct hi_file *file, const char *text, ...) __attribute__((format(printf, 2, 3)));

/** Reads an archive from a descriptor. @param name  within the submission, or "" */
enum st_code hi_read_archive(struct hi_reading *r, int archive, const char *name,
                             struct st_error *err);

#endif
