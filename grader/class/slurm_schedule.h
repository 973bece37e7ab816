/** @file
 * Runs tasks on a cluster, as Slurm's job arrays.
 */
#pragma once

#include "grader/class/schedule.h"

/** Like cl_tasks_run(), but on a cluster: stores grades as they come in. If this process is stopped
 * or killed, the jobs continue: the next run of the command reads the outcomes of ended jobs and
 * waits for the others. */
enum st_code cl_tasks_run_slurm(struct cl_class *class, struct cl_task *tasks, size_t n,
                                struct cl_counts *counts, struct st_error *err);

/** Grades one task, given by the options, on a node. */
enum st_code cl_slurm_task(const struct cl_options *options, struct st_error *err);
