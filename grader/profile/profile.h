/** @file
 * `grader mN --profile`: runs the whole inference program again at each size, under the profiler.
 *
 *     build/vprof ... build/runner --lib LIBRARY --images N      a GPU, real or virtual
 *     build/runner --lib LIBRARY --images N                      the CPU
 *     build/library-baseline ...                                 m0: both, with the vendors' code
 *
 * A student's library runs in the sandbox (boxed_main.c), together with the recorder on a real GPU.
 *
 * All records go into one folder, from which report and plots read them; docs/profiler.md lists its
 * files and their columns. The folder also lists missing parts, with the reason.
 */
#pragma once

#include "base/status.h"
#include "exercise/exercise.h"
#include "runner/runner_protocol.h"

#include <stdbool.h>
#include <stddef.h>

/** The program to run, and the folder of its profile. */
struct gr_profiling {
    const char *build;               /**< the folder with our programs */
    const char *library;             /**< the lab; NULL: the vendors' libraries (m0) */
    const char *source_name;         /**< the graded file's name for the compiler: "conv.cu" */
    const char *source;              /**< path of that file, to read the text of its lines; "":
                                          unknown */
    bool sandboxed;                  /**< the lab must run in the sandbox */
    const char *model;               /**< the value of --model */
    const struct exercise *exercise; /**< the lab's exercise */
    enum runner_device device;       /**< the lab's device */
    const char *gpu;                 /**< virtual GPU: the GPU's profile */
    const char *engine;              /**< virtual GPU: --engine, or NULL */
    const size_t *images;            /**< ascending */
    size_t sizes;
    double image_s;     /**< estimated time per image; 0: unknown */
    const char *folder; /**< created if missing; earlier tables in it are replaced */
    FILE *out;          /**< output for people */
};

/** Profiles the program, writes the tables and prints the analysis of the largest size. If the
 * program fails, this is not an error: the records up to the failure are kept, with the reason. */
enum st_code gr_profile_run(const struct gr_profiling *profiling, struct st_error *err);

/** Removes the files of an earlier profile from a folder; harmless if there are none. */
void gr_profile_drop(const char *folder);
