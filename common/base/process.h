/** @file
 * Helper programs (make, gnuplot, pdflatex, ...): finds a program on PATH, runs it and waits for
 * its end.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** A program to run. All members except argv may be zero. */
struct process_options {
    const char *const *argv;  /**< NULL-terminated; argv[0] is looked up on PATH */
    const char *folder;       /**< the folder to run in; NULL: the current one */
    char *const *environment; /**< NULL: this process's environment */
    size_t output_bytes;      /**< at most this much output is kept; 0: none */
    bool stdout_only;         /**< discard its stderr */
    unsigned limit_s;         /**< after this time, kill it and all that it started; 0: never */
};

/** How a program ended. The caller frees output. */
struct process_end {
    char *output;    /**< stdout and stderr together, NUL-terminated; NULL if none was requested */
    int exit_status; /**< or 128 + signal */
    bool late;       /**< it was killed at its time limit */
};

/** Runs a program without a shell, with an empty standard input.
 * @return ST_OK however the program ended; ST_MISSING_TOOL if it cannot be started; after an error,
 * @p end contains nothing to be freed. */
enum st_code process_run(const struct process_options *options, struct process_end *end,
                         struct st_error *err);

/** Looks up an executable file in folders separated by ':', for example getenv("PATH").
 * @param folders  NULL means "" @return whether it exists; then @p to is its path */
bool process_find(const char *folders, const char *name, char to[PATH_MAX]);
