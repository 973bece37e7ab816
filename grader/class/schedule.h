/** @file
 * Runs tasks: several at once; repeats faults, and stores each grade immediately. */
#pragma once

#include "grader/class/store_grade.h"

/** Makes the list of tasks to do now: tasks whose grade is not up to date. */
enum st_code cl_tasks_make(struct cl_class *class, struct cl_task **tasks, size_t *n,
                           size_t *up_to_date, struct st_error *err);

/** Runs the tasks. @return ST_OK even if some could not be graded: see the counts. */
enum st_code cl_tasks_run(struct cl_class *class, struct cl_task *tasks, size_t n,
                          struct cl_counts *counts, struct st_error *err);
