/** @file
 * Traces programs on a real GPU: sets up their environment so that the CUDA driver loads
 * libconvlab-cupti.so into them; this library writes a trace.
 *
 *     gpu_trace_begin(&t, folder, "trace.tsv", &err)      makes an empty trace
 *     run programs with t.variables in their environment
 *     gpu_trace_end(&t); tr_read("trace.tsv", ...)
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

#define GPU_TRACE_VARIABLES 8

struct gpu_trace {
    char library[PATH_MAX], cupti[PATH_MAX];  /**< loaded into the program */
    char clients[PATH_MAX];                   /**< a file beside the trace, while the trace is
                                                   written */
    char *variables[GPU_TRACE_VARIABLES + 1]; /**< NAME=VALUE, then NULL */
};

/** Whether this machine has a GPU (or CONVLAB_CUPTI names a CUPTI that replaces it). */
bool gpu_trace_possible(void);

/** Makes an empty trace. @param folder  the folder of the suite's programs, whose subfolder
 * profiler/ has the library. @return ST_NOT_FOUND if the library does not exist. End with
 * gpu_trace_end(). */
enum st_code gpu_trace_begin(struct gpu_trace *t, const char *folder, const char *path,
                             struct st_error *err);

/** This process's environment with the variables: a malloc'd block of pointers, valid as long as
 * @p t. NULL: out of memory. */
char **gpu_trace_environment(const struct gpu_trace *t);

/** Releases the variables; the trace is kept. */
void gpu_trace_end(struct gpu_trace *t);
