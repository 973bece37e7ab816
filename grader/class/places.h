/** @file
 * The places where the gradings of a class measure their times: one at a time on each GPU and on
 * the CPU.
 *
 *     4 cores and more   some cores are reserved for CPU times; nothing else runs on them
 *     fewer              a grading that measures CPU times waits until no other runs, and the
 *                        others wait until it ends, because parallel code uses several cores
 *     --quick, --jobs 1  all cores: times are not compared, or no other grading runs
 *
 * Locks are in the machine's folder for temporary files, so that two classes on one machine also
 * take turns.
 */
#pragma once

#include "grader/class/class.h"
#include "grader/place/cores.h"
#include "grader/place/gpus.h"

/** All places of a machine. */
struct cl_places {
    size_t jobs; /**< gradings at once: --jobs, or one per core, but only as many as fit into memory
                      if they run many images */
    struct gr_gpus gpus;         /**< none: a single unnamed GPU, or no GPU is used */
    size_t running[GR_MAX_GPUS]; /**< gradings running on each */
    bool cores_apart;            /**< the cores in cores.timing are reserved for measurements */
    struct gr_cores cores;
    bool brief;     /**< CPU times are measured while other gradings run */
    bool cpu_alone; /**< too few cores to measure CPU times while other gradings run: they wait
                         until the others end */
};

/** The place of one grading. The grading receives it in environment variables. */
struct cl_place {
    char lock[PATH_MAX];
    char share[PATH_MAX];      /**< path, or "" */
    int gpu;                   /**< index of the GPU, or -1 */
    char gpu_id[GR_GPU_CHARS]; /**< CUDA_VISIBLE_DEVICES; "": unchanged */
    bool brief, cores_apart;
    struct gr_cores cores;
};

/** Finds this machine's places, and reports them. */
enum st_code cl_places_find(struct cl_places *places, const struct cl_options *options,
                            struct st_error *err);

/** As cl_places_find(), for one task on a node of a cluster where other tasks of grader class may
 * run. */
void cl_places_find_task(struct cl_places *places, const struct cl_options *options,
                         const char *source);

/** Chooses the place of a grading: the GPU with the fewest gradings. */
void cl_place_choose(struct cl_places *places, const struct cl_options *options, const char *source,
                     struct cl_place *place);

/** Marks the place as free again. */
void cl_place_leave(struct cl_places *places, const struct cl_place *place);

/** Called in the grading's own process: sets the environment and cores. */
void cl_place_enter(const struct cl_place *place, const char *files);
