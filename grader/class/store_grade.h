/** @file
 * Handles gradings that have ended, wherever they ran: stores and prints each grade at once,
 * repeats a grading after a fault of the grader or the machine, and repeats noisy measurements with
 * nothing else running.
 */
#pragma once

#include "grader/class/task.h"

/** Numbers of tasks by outcome. */
struct cl_counts {
    size_t total, stored; /**< all tasks, and stored grades */
    size_t pass, fail, skip, missing, rejected, fault;
    size_t not_stored; /**< graded, but the gradebook could not be written */
    size_t at_once;    /**< stored grades that needed no grader */
    size_t retried;    /**< faults after which the task was repeated */
    bool stopped;      /**< stopped by a signal, or because nothing could be stored */
};

/** Begins to run @p n tasks: sets counts, the clock for the remaining time, and the handlers of
 * SIGINT and SIGTERM. */
void cl_tasks_begin(struct cl_counts *counts, size_t n);

/** Whether to stop running tasks now. */
bool cl_tasks_stopped(struct cl_counts *counts);

/** Stores a task that needs no grader. @return false if the task needs one; then nothing was
 * done. */
bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts);

/** Reports and stores a fault of the grader or the machine; after the last attempt, also reports
 * that the task could not be graded.
 * @return whether to repeat the task. */
bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts);

/** Stores a fault of the grader or the machine. */
void cl_store_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
                    const char *message);

/** The next step for a task. */
enum cl_next { CL_DONE, CL_AGAIN, CL_AGAIN_ALONE };

/** Reads the result of a grading; stores the grade, or reports why there is none. If the gradebook
 * cannot be written, waits a little and tries again. */
enum cl_next cl_task_ended(struct cl_class *class, struct cl_task *task,
                           const struct cl_outcome *outcome, struct cl_counts *counts);

/** Prepares a task to run. If an earlier run found its times noisy and did not repeat it, this run
 * skips the first measurement. @return whether to run the task alone at once. */
bool cl_task_resume(const struct cl_class *class, struct cl_task *task);

/** Writes the page of --page, at most every ten seconds unless @p now. */
void cl_page_update(struct cl_class *class, const struct cl_counts *counts, bool now);
