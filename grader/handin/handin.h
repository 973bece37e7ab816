/** @file
 * Reads the submission of a student or team, in the same way for `grader class` and for `grader mN
 * --source FOLDER|ARCHIVE`, which platforms' autograders call.
 *
 *     parts -> folders are walked; archives, even nested ones, are read by build/unpack-submission
 *     in the sandbox -> each file is offered -> the best of each milestone, and its report, are kept
 *
 * Everything in a submission is untrusted: links are not followed, nothing is written, sizes are
 * bounded.
 */
#pragma once

#include "base/status.h"
#include "grader/handin/wanted.h"
#include "grader/sandbox/sandbox.h"

#include <stdint.h>

enum { HI_MAX_SOURCE_BYTES = 1 << 20, HI_MAX_REPORT_BYTES = 32 << 20, HI_PATH_BYTES = 1024 };

/** The reason why none of several files for a milestone is used. */
#define HI_TWICE "is not the only file of this milestone"

/** A file found for a milestone. The bytes of its path are unchanged, and need not be UTF-8. */
struct hi_file {
    int match; /**< enum hi_match; for a report, how well it matches; 0: not found */
    bool twice;
    char path[HI_PATH_BYTES];
    char *contents; /**< NULL if the file was refused */
    size_t bytes;
    int64_t modified;  /**< seconds since 1970; 0 for a file in an archive */
    char refused[256]; /**< the reason for refusing the file, or "" */
    bool unreadable;   /**< refused because this machine cannot read it */
};

/** The kept files of a submission. */
struct hi_taken {
    struct hi_file source[HI_MAX_MILESTONES], report[HI_MAX_MILESTONES];
    char rejected[512]; /**< the reason if nothing of the submission is accepted, or "" */
    char note[512];     /**< files of the submission that were left out, or "" */
    bool unreadable;    /**< rejected because this machine cannot read it */
};

/** One file, folder or archive of the submission. */
struct hi_part {
    const char *path; /**< path on this machine */
    const char *name; /**< precedes the paths of its files in the submission; "": nothing does */
};

/** The milestones to look for, and the parts to search. */
struct hi_handin {
    const struct hi_wanted *wanted;
    size_t milestones;
    const struct gr_sandbox *sandbox;
    const struct hi_part *part;
    size_t parts;
};

/** Reads a submission. @param taken  free it in any case. @return ST_OK for any submission; an
 * error is a fault of the machine. */
enum st_code hi_take(struct hi_taken *taken, const struct hi_handin *handin, struct st_error *err);

/** Whether a milestone's file is the one to grade: its name is right or, if @p lenient, it is the
 * only plausible file. */
bool hi_is_chosen(const struct hi_file *file, bool lenient);

/** Writes the reason why no file was chosen, as a phrase that includes near misses: "no file
 * m1-cpu-conv/conv.c (found: Conv.c)". */
void hi_describe_missing(const struct hi_file *file, const struct hi_wanted *wanted, char *to,
                         size_t room);

/** Frees the kept files. */
void hi_taken_free(struct hi_taken *taken);
