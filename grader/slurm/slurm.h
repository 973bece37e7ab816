/** @file
 * Uses Slurm through its commands sbatch and squeue, for job arrays only. An array is identified by
 * its name, so that a later process can find it again.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** The meaning of a state; see states.def. */
enum sl_meaning { SL_THERE, SL_ENDED, SL_LOST, SL_UNKNOWN };

/** A job array to submit. */
struct sl_job {
    const char *name;      /**< unique among this user's arrays */
    const char *script;    /**< path of a shell script, which reads SLURM_ARRAY_TASK_ID */
    const char *log;       /**< path, in which %a stands for the task */
    const char *partition; /**< or NULL */
    const char *options;   /**< further options of sbatch, separated by blanks, or NULL */
    size_t gpus;           /**< per task */
    size_t at_once;        /**< number of tasks that run at one time; 0: as many as fit */
    size_t minutes;        /**< time limit of a task */
    bool exclusive;        /**< no other job runs on the node */
};

/** The state of one task of an array. */
struct sl_task_state {
    size_t task;
    enum sl_meaning meaning;
    char name[24];    /**< NODE_FAIL */
    const char *text; /**< text about the state for the instructor; see states.def */
};

/** The states of an array's tasks; free them with free(row). */
struct sl_states {
    size_t n;
    struct sl_task_state *row;
};

/** Submits tasks 1 to @p tasks as one array; @p tasks must be less than sl_array_room().
 * @return ST_MISSING_TOOL if Slurm is not installed, ST_CHILD if it refuses. */
enum st_code sl_submit(const struct sl_job *job, size_t tasks, struct st_error *err);

/** Gets the states of an array's tasks, including ended tasks as long as Slurm remembers them
 * (MinJobAge). An array that Slurm does not know has no states. */
enum st_code sl_query(const char *name, struct sl_states *states, struct st_error *err);

/** Gets the limit on the task numbers of an array: MaxArraySize. */
enum st_code sl_array_room(size_t *room, struct st_error *err);

/** Parses a line of squeue, "TASK STATE". @return false for other lines. */
bool sl_state_parse(const char *line, struct sl_task_state *to);
