/** @file
 * Helper programs (make, gnuplot, pdflatex, ...): finding one on PATH and running it to its end.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** A program to run. All members but argv may be zero. */
struct process_options {
    const char *const *argv;  /**< NULL-terminated; argv[0] is looked up on PATH */
    const char *folder;       /**< to run in; NULL: the current one */
    char *const *environment; /**< NULL: this process's */
    size_t output_bytes;      /**< the part of its output to keep; 0: the output is discarded */
    bool stdout_only;         /**< its stderr is discarded */
    unsigned limit_s;         /**< when to kill it, and whatever it started; 0: never */
};

/** How it ended. The caller frees output. */
struct process_end {
    char *output;    /**< stdout and stderr together, NUL-terminated; NULL if none was requested */
    int exit_status; /**< or 128 + signal */
    bool late;       /**< it was killed because its time was up */
};

/** Runs a program without a shell, with an empty standard input.
 * @return ST_OK however the program ended; ST_MISSING_TOOL if it cannot be started; then and after
 * any other error @p end holds nothing to be freed. */
enum st_code process_run(const struct process_options *options, struct process_end *end,
                         struct st_error *err);

/** Looks an executable file up in folders with ':' between, for example getenv("PATH").
 * @param folders  NULL is the same as "" @return whether there is one; then @p to is its path */
bool process_find(const char *folders, const char *name, char to[PATH_MAX]);
