/** @file
 * Runs tasks on a cluster, as Slurm's job arrays.
 */
#pragma once

#include "grader/class/schedule.h"

/** Runs tasks on a cluster and stores their grades as they come in; like cl_tasks_run(). After a
 * stop or kill, the jobs continue, and the next run of the same command takes their outcomes and
 * waits for the others. */
enum st_code cl_tasks_run_slurm(struct cl_class *class, struct cl_task *tasks, size_t n,
                                struct cl_counts *counts, struct st_error *err);

/** Grades the one task that options name, on a node. */
enum st_code cl_slurm_task(const struct cl_options *options, struct st_error *err);
