/** @file
 * Finds the files of a submission to grade, anywhere in its folders and archives:
 *
 *     [FOLDER/...]m1-cpu-conv/conv.c      also m1/conv.c
 *     [FOLDER/...]conv.c                  only if one milestone is graded and no file above exists;
 *                                         a file outside folders is preferred
 *     Conv.c conv1.c conv.c.txt my.c      near misses: reported, graded only on request
 *
 * A report is a PDF or Markdown file. Its milestone is found by the same rules.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HI_MAX_MILESTONES = 16, HI_MAX_DEPTH = 8 };

/** The names of one milestone. */
struct hi_wanted {
    char id[16];     /**< "m1" */
    char folder[64]; /**< "m1-cpu-conv" */
    char file[16];   /**< "conv.c" */
};

/** How well a path matches a milestone's file; later values are better. */
enum hi_match {
    HI_NO_MATCH,
    HI_OTHER_NAME, /**< a source in the right language: my.c */
    HI_NEAR_NAME,  /**< Conv.c, conv1.c, conv (2).c, conv.c.txt */
    HI_LONE_FILE,
    HI_AT_TOP, /**< the same, outside of all folders */
    HI_IN_ITS_FOLDER
};

/** Finds the milestone whose file a relative path names. @param which  set to its index */
enum hi_match hi_match_path(const struct hi_wanted *wanted, size_t n, const char *path,
                            size_t *which);

/** Finds the milestone whose report a relative path may be. @return how well it matches; 0: not at
 * all. */
int hi_match_report(const struct hi_wanted *wanted, size_t n, const char *path, size_t *which);

/** Whether a milestone's file is for a GPU, judged by its name. */
bool hi_file_is_cuda(const char *path);

/** The length of an archive's name without its suffix; 0: a kind that is not supported. */
size_t hi_archive_stem(const char *name);

/** As hi_archive_stem(), for kinds that are not supported: .7z, .rar, ... */
size_t hi_unread_stem(const char *name);

/** The reason why a path in an archive is refused, or NULL: absolute, with "..", or empty. */
const char *hi_path_refused(const char *path);
