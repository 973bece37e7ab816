/** @file
 * Running a program that works on a student's text (a compiler), within limits.
 */
#ifndef CONVLAB_GRADER_CONFINED_H
#define CONVLAB_GRADER_CONFINED_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** What a program may use. */
struct gr_limits {
    double wall_s;       /**< all of it together */
    unsigned cpu_s;      /**< each process */
    size_t memory_bytes; /**< each process: address space */
    size_t file_bytes;   /**< each file */
};

/** How it ended. */
struct gr_confined_result {
    char *output;    /**< stdout and stderr together, NUL-terminated, cut; the caller frees it */
    int exit_status; /**< or 128 + signal */
    bool timed_out;  /**< ended by us: it took longer than wall_s */
};

/** Runs a program found on PATH, without a shell, in a session of its own, and leaves nothing of it
 * running.
 * @param argv         NULL-terminated
 * @param folder       to run in
 * @param keep_bytes   how much output to keep; the rest is read and dropped */
enum st_code gr_confined_run(const char *const *argv, const char *folder,
                             const struct gr_limits *limits, size_t keep_bytes,
                             struct gr_confined_result *result, struct st_error *err);

#endif
