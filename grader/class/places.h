/** @file
 * Where the gradings of a class measure their times: one at a time on each GPU and on the CPU.
 *
 *     4 cores and more   some are set apart for times of the CPU; all else stays off them
 *     fewer              whoever measures times on the CPU waits until nobody else works, and the
 *                        others wait for its end: parallel code keeps more than one core
 *     --quick, --jobs 1  all cores: times are not compared, or nothing is beside them
 *
 * Locks are in the machine's folder for temporary files, so that two classes take turns, too.
 */
#pragma once

#include "grader/class/class.h"
#include "grader/place/cores.h"
#include "grader/place/gpus.h"

/** All places of a machine. */
struct cl_places {
    size_t jobs; /**< gradings at once: as --jobs says, else one per core, and no more than there is
                    memory for where the virtual GPU runs many images */
    struct gr_gpus gpus;         /**< none: a single unnamed GPU, or no GPU is used */
    size_t running[GR_MAX_GPUS]; /**< gradings started for each */
    bool cores_apart;            /**< cores.timing are reserved for measurements */
    struct gr_cores cores;
    bool brief;     /**< CPU times are measured while others work */
    bool cpu_alone; /**< too few cores for that: CPU times wait until the others end */
};

/** The place of one grading: the values in its environment. */
struct cl_place {
    char lock[PATH_MAX];
    char share[PATH_MAX];      /**< or "" */
    int gpu;                   /**< index of its GPU, or -1 */
    char gpu_id[GR_GPU_CHARS]; /**< CUDA_VISIBLE_DEVICES; "": unchanged */
    bool brief, cores_apart;
    struct gr_cores cores;
};

/** Finds the places of this machine, and reports them. */
enum st_code cl_places_find(struct cl_places *places, const struct cl_options *options,
                            struct st_error *err);

/** The same for one task on a node of a cluster, where others of ours may run beside it. */
void cl_places_find_task(struct cl_places *places, const struct cl_options *options,
                         const char *source);

/** The place for a grading: of the GPUs the one with the fewest gradings. */
void cl_place_choose(struct cl_places *places, const struct cl_options *options, const char *source,
                     struct cl_place *place);

/** Marks the place as free again. */
void cl_place_leave(struct cl_places *places, const struct cl_place *place);

/** In the grading's own process: its environment and cores. */
void cl_place_enter(const struct cl_place *place, const char *files);
