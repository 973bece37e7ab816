/** @file
 * Counters of kernels on a real GPU, from NVIDIA's command-line profiler ncu: which of its metrics
 * a column of the trace is, the command that collects them, and the trace that its output becomes.
 *
 * ncu runs a kernel as often as it needs to, one kernel at a time: the trace has kernels only, with
 * the times that ncu measured, one after the other.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** ncu's command line for a program. */
struct ncu_command {
    char path[PATH_MAX]; /**< of ncu */
    char *metrics;       /**< its names, malloc'd */
    char **arguments;    /**< malloc'd; NULL-terminated */
    char filter[512];
};

/** Makes the command. @param wanted  whether a column of the trace is needed, by name
 * @param kernels  vprof's filter, or NULL: a plain name is passed on, so that ncu repeats less
 * @param sections  also the metrics of the sections that --style ncu prints

 * @param from_start  else only what is between cudaProfilerStart() and cudaProfilerStop()
 * @param csv  the file that ncu is to write @param program  with its arguments
 * @return ST_MISSING_TOOL without ncu. End with ncu_command_free(). */
enum st_code ncu_command_make(struct ncu_command *command, bool (*wanted)(const char *, void *),
                              void *context, const char *kernels, bool sections, bool from_start,
                              const char *csv, char **program, struct st_error *err);

void ncu_command_free(struct ncu_command *command);

/** Makes a trace of what ncu wrote. @param error_code  set to what the program returned (a signal's
 * number if one ended it), 0 if ncu does not say @return ST_CHILD when ncu was not permitted to
 * read the counters, or failed. */
enum st_code ncu_read(const char *csv, const char *trace, int *error_code, struct st_error *err);
