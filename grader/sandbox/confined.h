/** @file
 * Running a program that works on a student's text (a compiler), within limits.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/sandbox.h"
#include "grader/sandbox/limits.h"

#include <stdbool.h>
#include <stddef.h>

/** How it ended. */
struct gr_confined_result {
    char *output;    /**< stdout and stderr together, NUL-terminated, cut; the caller frees it */
    int exit_status; /**< or 128 + signal */
    bool timed_out;  /**< ended by us: it took longer than wall_s, or stop was readable */
};

/** The program to run. */
struct gr_confined_options {
    const char *const *argv; /**< NULL-terminated; the program's path, or its name: then it is one
                                of the system's, or else of PATH */
    const char *folder;      /**< an absolute path: to run in, and the only one that it can write
                                to; NULL: none */
    const char *place;       /**< where the folder is for the program; NULL: where it is. In the
                                sandbox only */
    const char *shown;       /**< a file that it can read besides, or NULL */
    struct gr_limits limits;
    size_t keep_bytes; /**< how much output to keep; the rest is read and dropped */
    int stop;          /**< readable: end it as if its time were up; 0: there is none */
};

/** Runs a compiler or the like, without a shell, and leaves nothing of it running.
 * @param result  its output is to be freed, also on an error */
enum st_code gr_confined_run(const struct gr_sandbox *sandbox,
                             const struct gr_confined_options *options,
                             struct gr_confined_result *result, struct st_error *err);
