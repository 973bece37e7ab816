/** @file
 * Running tasks: several at once, faults tried again, each grade stored as soon as it is there.
 */
#ifndef CONVLAB_GRADER_CLASS_SCHEDULE_H
#define CONVLAB_GRADER_CLASS_SCHEDULE_H

#include "grader/class/task.h"

/** What became of the tasks. */
struct cl_counts {
    size_t total, stored; /**< tasks, and grades stored */
    size_t pass, fail, skip, missing, rejected, fault;
    size_t not_stored; /**< graded, but the gradebook could not be written */
    size_t at_once;    /**< of those stored: needed no grader */
    size_t retried;    /**< faults that were tried again */
    bool stopped;      /**< by a signal, or because nothing could be stored */
};

/** All tasks that are to be done now: those whose grade is not up to date. */
enum st_code cl_tasks_make(struct cl_class *class, struct cl_task **tasks, size_t *n,
                           size_t *up_to_date, struct st_error *err);

/** Runs them. @return ST_OK also if some could not be graded: counts tell. */
enum st_code cl_tasks_run(struct cl_class *class, struct cl_task *tasks, size_t n,
                          struct cl_counts *counts, struct st_error *err);

/** Begins to run @p n tasks: counts, the clock of the time that is left, and what SIGINT and
 * SIGTERM do. */
void cl_tasks_begin(struct cl_counts *counts, size_t n);

/** Whether running tasks is to end now. */
bool cl_tasks_stopped(struct cl_counts *counts);

/** Stores a task that needs no grader. @return false, and nothing is done, for one that does. */
bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts);

/** Reports and stores a fault of ours; when it was the last try, also that the task could not be
 * graded.
 * @return whether it is to be tried again. */
bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts);

/** Says that a grading's times were noisy, so that it is made once more. */
void cl_tell_noise(const struct cl_task *task);

/** Stores a grading, prints a line of it and counts it. Waits a little and tries again if the
 * gradebook cannot be written. */
void cl_store(struct cl_class *class, struct gb_graded *graded, struct cl_counts *counts);

/** Stores a fault of ours. */
void cl_store_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
                    const char *message);

#endif
