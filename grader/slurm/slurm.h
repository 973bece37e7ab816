/** @file
 * Slurm, through its commands: sbatch and squeue. Job arrays only; an array is known by its name,
 * so that it is found again by whoever knows how it was called.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** The meaning of a state here, see states.def. */
enum sl_meaning { SL_THERE, SL_ENDED, SL_LOST, SL_UNKNOWN };

/** A job array to be submitted. */
struct sl_job {
    const char *name;      /**< no other array of this user has it */
    const char *script;    /**< path of a shell script; it finds SLURM_ARRAY_TASK_ID */
    const char *log;       /**< path, with %a for the task */
    const char *partition; /**< or NULL */
    const char *options;   /**< further options of sbatch, separated by blanks, or NULL */
    size_t gpus;           /**< of each task */
    size_t at_once;        /**< so many tasks at a time; 0: as many as there is room for */
    size_t minutes;        /**< time limit of a task */
    bool exclusive;        /**< nothing else on the node */
};

/** The state of one task of an array. */
struct sl_task_state {
    size_t task;
    enum sl_meaning meaning;
    char name[24];    /**< NODE_FAIL */
    const char *told; /**< its text for the instructor, see states.def */
};

/** States of an array's tasks; release with free(row). */
struct sl_states {
    size_t n;
    struct sl_task_state *row;
};

/** Submits tasks 1 to @p tasks, fewer than sl_array_room(), as one array.
 * @return ST_MISSING_TOOL without Slurm, ST_CHILD if it refuses. */
enum st_code sl_submit(const struct sl_job *job, size_t tasks, struct st_error *err);

/** The states of an array's tasks, those that ended included as long as Slurm remembers them
 * (MinJobAge). An array that it knows nothing of has none. */
enum st_code sl_query(const char *name, struct sl_states *states, struct st_error *err);

/** How many numbers an array may use: MaxArraySize. */
enum st_code sl_array_room(size_t *room, struct st_error *err);

/** Reads a line of squeue, "TASK STATE". @return false if it is none. */
bool sl_state_parse(const char *line, struct sl_task_state *to);
