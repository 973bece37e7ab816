/** @file
 * The end of gradings, wherever they ran: each grade is stored and printed at once, faults of ours are
 * tried again, noisy times are measured again with nothing beside them.
 */
#pragma once

#include "grader/class/task.h"

/** Counts of the tasks by outcome. */
struct cl_counts {
    size_t total, stored; /**< tasks, and grades stored */
    size_t pass, fail, skip, missing, rejected, fault;
    size_t not_stored; /**< graded, but the gradebook could not be written */
    size_t at_once;    /**< stored grades that needed no grader */
    size_t retried;    /**< faults that were tried again */
    bool stopped;      /**< by a signal, or because nothing could be stored */
};

/** Begins to run @p n tasks: counts, the clock of the time that is left, and what SIGINT and
 * SIGTERM do. */
void cl_tasks_begin(struct cl_counts *counts, size_t n);

/** Whether to stop running tasks now. */
bool cl_tasks_stopped(struct cl_counts *counts);

/** Stores a task that needs no grader. @return false, and nothing is done, for one that does. */
bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts);

/** Reports and stores a fault of ours; when it was the last try, also that the task could not be
 * graded.
 * @return whether it is to be tried again. */
bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts);

/** Stores a fault of the grader or the machine. */
void cl_store_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
                    const char *message);

/** The next step for a task. */
enum cl_next { CL_DONE, CL_AGAIN, CL_AGAIN_ALONE };

/** Reads what a grading left; stores the grade or reports why there is none. Waits a little and
 * tries again if the gradebook cannot be written. */
enum cl_next cl_task_ended(struct cl_class *class, struct cl_task *task,
                           const struct cl_outcome *outcome, struct cl_counts *counts);

/** Sets up a task to run. One that an earlier run found noisy, and did not come to run
 * again, is not run twice here: @return whether it is to run alone at once. */
bool cl_task_resume(const struct cl_class *class, struct cl_task *task);

/** Writes --page, at most every ten seconds unless @p now. */
void cl_page_update(struct cl_class *class, const struct cl_counts *counts, bool now);
