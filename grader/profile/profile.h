/** @file
 * `grader mN --profile`: the whole inference program again at each size, under the profiler.
 *
 *     build/vprof ... build/runner --lib LIBRARY --images N      a GPU, real or virtual
 *     build/runner --lib LIBRARY --images N                      the CPU
 *     build/library-baseline ...                                 m0: both, with the vendors' code
 *
 * A student's library runs in the sandbox (boxed_main.c), and with it what records it on a real
 * GPU.
 *
 * All records go into one folder, where report and plots read them; docs/profiler.md lists its
 * files and their columns. Missing parts are listed in it too, with the reason.
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
    const char *source;              /**< where it is, for the text of its lines; "": not known */
    bool sandboxed;                  /**< the lab is to run in the sandbox */
    const char *model;               /**< for --model */
    const struct exercise *exercise; /**< of a lab */
    enum runner_device device;       /**< of a lab */
    const char *gpu;                 /**< virtual GPU: its profile */
    const char *engine;              /**< virtual GPU: --engine, or NULL */
    const size_t *images;            /**< ascending */
    size_t sizes;
    double image_s;     /**< about how long an image takes, 0: not known */
    const char *folder; /**< made if it is not there; its earlier tables are replaced */
    FILE *out;          /**< where a person reads along */
};

/** Profiles, writes the tables and prints the analysis of the largest size. A program that fails is
 * not an error: the records until then are kept, with the reason. */
enum st_code gr_profile_run(const struct gr_profiling *profiling, struct st_error *err);

/** Removes an earlier profile's files from a folder; harmless if there is none. */
void gr_profile_drop(const char *folder);
