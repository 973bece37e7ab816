/** @file
 * Runs a program that processes a student's text (a compiler), within limits.
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
    const char *const *argv; /**< NULL-terminated; the program's path, or its name, which is looked
                                up in the system's folders, then on PATH */
    const char *folder;      /**< an absolute path: the folder to run in, the only writable one;
                                NULL: none */
    const char *place;       /**< the folder's path for the program; NULL: its own path. Only in the
                                sandbox */
    const char *shown;       /**< another file that it can read, or NULL */
    struct gr_limits limits;
    size_t keep_bytes; /**< the part of the output to keep; the rest is discarded */
    int stop;          /**< if readable, end the program as if its time were up; 0: none */
};

/** Runs a compiler or similar program without a shell, and leaves none of its processes.
 * @param result  its output is to be freed, also after an error */
enum st_code gr_confined_run(const struct gr_sandbox *sandbox,
                             const struct gr_confined_options *options,
                             struct gr_confined_result *result, struct st_error *err);
