/** @file
 * Runs a program that processes a student's text (a compiler), within limits.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/sandbox.h"
#include "grader/sandbox/limits.h"

#include <stdbool.h>
#include <stddef.h>

/** How the program ended. */
struct gr_confined_result {
    char *output;    /**< stdout and stderr together, NUL-terminated, possibly cut; the caller frees
                          it */
    int exit_status; /**< exit status, or 128 + signal */
    bool timed_out;  /**< we ended the program: it took longer than wall_s, or stop was readable */
};

/** The program to run. */
struct gr_confined_options {
    const char *const *argv; /**< NULL-terminated; the program's path, or its name, which is looked
                                up in the system's folders, then on PATH */
    const char *folder;      /**< an absolute path: the working folder, the only writable folder;
                                  NULL: none */
    const char *place;       /**< the folder's path as the program sees it; NULL: its own path. Only
                                  in the sandbox */
    const char *shown;       /**< another file that the program can read, or NULL */
    struct gr_limits limits;
    size_t keep_bytes; /**< number of output bytes to keep; the rest is discarded */
    int stop;          /**< descriptor; if readable, the program is ended as if its time were up; 0:
                            none */
};

/** Runs a compiler or similar program without a shell, and leaves none of its processes behind.
 * @param result  free its output, even after an error */
enum st_code gr_confined_run(const struct gr_sandbox *sandbox,
                             const struct gr_confined_options *options,
                             struct gr_confined_result *result, struct st_error *err);
