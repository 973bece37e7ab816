/** @file
 * Which files of a submission are graded, wherever in its folder or archive they lie:
 *
 *     [FOLDER/...]m1-cpu-conv/conv.c      also m1/conv.c
 *     [FOLDER/...]conv.c                  only if one milestone is graded, and nothing above is there
 */
#ifndef CONVLAB_GRADER_CLASS_WANTED_H
#define CONVLAB_GRADER_CLASS_WANTED_H

#include <stdbool.h>
#include <stddef.h>

enum { CL_MAX_MILESTONES = 16, CL_MAX_DEPTH = 6 };

/** What one milestone is called. */
struct cl_wanted {
    char id[16];     /**< "m1" */
    char folder[64]; /**< "m1-cpu-conv" */
    char file[16];   /**< "conv.c" */
};

/** How well a path names a milestone's file. */
enum cl_match { CL_NO_MATCH, CL_LONE_FILE, CL_IN_ITS_FOLDER };

/** Looks whether a relative path names one. @param which  set to the milestone's index */
enum cl_match cl_wanted_match(const struct cl_wanted *wanted, size_t n, const char *path,
                              size_t *which);

/** Whether a milestone's file is for a GPU, by its name. */
bool cl_file_is_cuda(const char *path);

/** Why a path in an archive cannot be taken, or NULL: absolute, with "..", empty. */
const char *cl_path_refused(const char *path);

#endif
