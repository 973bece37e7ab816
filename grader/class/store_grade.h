/** @file
 * The end of gradings, wherever they ran: each grade is stored and printed at once, our faults are
 * repeated, and noisy times are measured again with nothing beside them.
 */
#pragma once

#include "grader/class/task.h"

/** Counts of the tasks by outcome. */
struct cl_counts {
    size_t total, stored; /**< tasks, and grades stored */
    size_t pass, fail, skip, missing, rejected, fault;
    size_t not_stored; /**< graded, but the gradebook could not be written */
    size_t at_once;    /**< stored grades that needed no grader */
    size_t retried;    /**< repeated faults */
    bool stopped;      /**< by a signal, or because nothing could be stored */
};

/** Begins to run @p n tasks: sets counts, the clock for the remaining time, and handlers of SIGINT
 * and SIGTERM. */
void cl_tasks_begin(struct cl_counts *counts, size_t n);

/** Whether to stop running tasks now. */
bool cl_tasks_stopped(struct cl_counts *counts);

/** Stores a task that needs no grader. @return false, having done nothing, for a task that does. */
bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts);

/** Reports and stores a fault of ours; after the last try, reports also that the task could not be
 * graded.
 * @return whether to repeat it. */
bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts);

/** Stores a fault of the grader or the machine. */
void cl_store_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
                    const char *message);

/** The next step for a task. */
enum cl_next { CL_DONE, CL_AGAIN, CL_AGAIN_ALONE };

/** Reads the result of a grading; stores the grade, or reports why it has none. If the gradebook
 * cannot be written, waits a little and repeats. */
enum cl_next cl_task_ended(struct cl_class *class, struct cl_task *task,
                           const struct cl_outcome *outcome, struct cl_counts *counts);

/** Sets up a task to run. A task that an earlier run found noisy but did not run again does not run
 * twice here: @return whether to run it alone at once. */
bool cl_task_resume(const struct cl_class *class, struct cl_task *task);

/** Writes --page, at most every ten seconds unless @p now. */
void cl_page_update(struct cl_class *class, const struct cl_counts *counts, bool now);
