/** @file
 * Running a program that works on a student's text (a compiler), within limits.
 */
#ifndef CONVLAB_GRADER_CONFINED_H
#define CONVLAB_GRADER_CONFINED_H

#include "base/status.h"
#include "grader/sandbox/sandbox.h"
#include "grader/sandbox/limits.h"

#include <stdbool.h>
#include <stddef.h>

/** How it ended. */
struct gr_confined_result {
    char *output;    /**< stdout and stderr together, NUL-terminated, cut; the caller frees it */
    int exit_status; /**< or 128 + signal */
    bool timed_out;  /**< ended by us: it took longer than wall_s */
};

/** Runs a compiler or the like, without a shell, and leaves nothing of it running.
 * @param argv        NULL-terminated; the program's path, or its name: then it is one of the
 * system's
 * @param folder      an absolute path: to run in, and the only one that it can write to; NULL: none
 * @param shown       a file that it can read besides, or NULL
 * @param keep_bytes  how much output to keep; the rest is read and dropped */
enum st_code gr_confined_run(const struct gr_sandbox *sandbox, const char *const *argv,
                             const char *folder, const char *shown, const struct gr_limits *limits,
                             size_t keep_bytes, struct gr_confined_result *result,
                             struct st_error *err);

#endif
