/** @file
 * Counters of kernels on a real GPU, from NVIDIA's command-line profiler ncu: the mapping of its
 * metrics to columns of the trace, the command that collects them, and the conversion of its output
 * to a trace.
 *
 * ncu runs each kernel as often as needed, one kernel at a time: the trace has only kernels, one
 * after the other, with ncu's times.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** ncu's command line for a program. */
struct ncu_command {
    char path[PATH_MAX]; /**< ncu's path */
    char *metrics;       /**< metric names, malloc'd */
    char **arguments;    /**< malloc'd; NULL-terminated */
    char filter[512];
};

/** Makes the command. @param wanted  whether a column is needed, by its name
 * @param kernels  vprof's filter, or NULL; a plain name is passed to ncu, so that ncu repeats fewer
 * kernels
 * @param sections  add the metrics of the sections of --style ncu
 * @param from_start  if false, only between cudaProfilerStart() and cudaProfilerStop()
 * @param csv  the file that ncu writes @param program  with its arguments
 * @return ST_MISSING_TOOL if ncu is missing. End with ncu_command_free(). */
enum st_code ncu_command_make(struct ncu_command *command, bool (*wanted)(const char *, void *),
                              void *context, const char *kernels, bool sections, bool from_start,
                              const char *csv, char **program, struct st_error *err);

void ncu_command_free(struct ncu_command *command);

/** Makes a trace from ncu's output. @param error_code  set to the program's exit status (or to the
 * number of the signal that ended it), 0 if ncu does not report it @return ST_CHILD if ncu was not
 * permitted to read the counters, or failed. */
enum st_code ncu_read(const char *csv, const char *trace, int *error_code, struct st_error *err);
