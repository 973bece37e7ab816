/** @file
 * Milestones: their ids and their files.
 */
#pragma once

#include "base/status.h"
#include "exercise/exercise.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

/** The files of one milestone. */
struct gr_milestone {
    char id[16];                      /**< "m1" */
    char folder[64];                  /**< "m1-cpu-conv" */
    const struct exercise *exercise;  /**< the exercise of the milestone: its contract */
    bool libraries;                   /**< m0: runs vendors' libraries; students write nothing */
    bool cuda;                        /**< its file is conv.cu, not conv.c */
    char file[16];                    /**< "conv.c" */
    char rubric[PATH_MAX];            /**< labs/m1-cpu-conv/rubric.yaml */
    char lab_source[PATH_MAX];        /**< labs/m1-cpu-conv/conv.c */
    char lab_library[PATH_MAX];       /**< build/labs/m1/libconv.so */
    char reference_source[PATH_MAX];  /**< reference/m1-cpu-conv/conv.c */
    char reference_library[PATH_MAX]; /**< build/reference/m1/libconv.so */
    char plain_library[PATH_MAX];     /**< build/reference/m1/libconv-plain.so: the plain loops */
};

/** Fills in a milestone. @return ST_USAGE with the list of milestones if @p id is unknown;
 * ST_BAD_FORMAT if two folders have this id. */
enum st_code gr_milestone_find(struct gr_milestone *milestone, const char *id,
                               struct st_error *err);

/** @return the number of "m3"; -1 if the text is not a milestone's id. */
int gr_milestone_number(const char *id);

/** Lists the milestones' folders in a folder, in numerical order, like scandir().
 * @param entries  set to malloc'd entries in a malloc'd list
 * @return their number, or -1 with errno set */
int gr_milestone_folders(const char *folder, struct dirent ***entries);
