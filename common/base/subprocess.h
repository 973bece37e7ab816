/** @file
 * Running a helper program (make, addr2line, ...) and reading what it prints.
 */
#ifndef CONVLAB_GRADER_SUBPROCESS_H
#define CONVLAB_GRADER_SUBPROCESS_H

#include "base/status.h"

#include <stddef.h>

/** What a helper printed and how it ended. The caller frees output. */
struct gr_subprocess_result {
    char *output;    /**< stdout and stderr together, NUL-terminated, cut at the limit */
    int exit_status; /**< or 128 + signal */
};

/** Runs a program found on PATH, without a shell.
 * @param argv    NULL-terminated
 * @param folder  to run in, or NULL for the current one
 * @param limit_bytes  how much output to keep
 * @return ST_OK however the program ended; ST_MISSING_TOOL if there is none of that name. */
enum st_code gr_subprocess(const char *const *argv, const char *folder, size_t limit_bytes,
                           struct gr_subprocess_result *result, struct st_error *err);

#endif
