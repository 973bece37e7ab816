/** @file
 * A task is a milestone of a submission, graded by a separate process.
 */
#pragma once

#include "grader/class/class.h"
#include "grader/class/places.h"

#include <sys/resource.h>
#include <sys/types.h>

/** A source to grade. The task owns its strings. */
struct cl_task {
    char *submission, *milestone;
    char *source;      /**< our copy; NULL: there is nothing to run, and status has the reason */
    char *source_path; /**< path in the submission, or NULL */
    char source_hash[SHA256_HEX];
    int64_t source_bytes;
    uint64_t seed;
    double max_score;
    const char *status; /**< for a task without a source: missing or rejected */
    char *message;
    int64_t number; /**< number of the attempt, from 1; names the folder */
    size_t tries;
    bool alone; /**< the times were noisy: repeat with nothing else running */
};

/** How a grading ended. */
struct cl_outcome {
    int status; /**< the grader's exit status, or -1 */
    int signal; /**< the signal that ended the grader, or 0 */
    bool timed_out;
    bool out_of_memory; /**< the kernel killed a process at the memory limit of a task */
    double started, finished, cpu_s;
    int64_t max_rss_kib;
};

/** The kind of a grading's result. */
enum cl_verdict {
    CL_GRADED,
    CL_NOISY, /**< graded, but its times are noisy */
    CL_FAULT  /**< not the submission's fault: kind and message describe the cause */
};

/** The folder of a task's attempt: SUBMISSION/MILESTONE/N below @p files. */
bool cl_task_folder(const char *files, const struct cl_task *task, char folder[PATH_MAX]);

/** Records that a grading's times were noisy, so that the next run knows this if this run is
 * killed. Without the record, the next run has to measure again. */
void cl_task_mark_noisy(const struct cl_class *class, const struct cl_task *task);

/** @return whether the same grading (source, seed and options) was recorded as noisy. */
bool cl_task_was_noisy(const struct cl_class *class, const struct cl_task *task);

/** Removes the record after the grade is stored. */
void cl_task_unmark_noisy(const struct cl_class *class, const struct cl_task *task);

/** Starts the grader on a task in a separate process group, which dies with this process. */
enum st_code cl_task_start(const struct cl_options *options, const char *files,
                           const struct cl_task *task, const struct cl_place *place, pid_t *pid,
                           struct st_error *err);

/** Whether a started task is waiting for its turn to measure times. */
bool cl_task_waits(const char *files, const struct cl_task *task);

/** Fills in an outcome from the result of wait4(). */
void cl_outcome_set(struct cl_outcome *outcome, int status, const struct rusage *usage);

/** Makes a gradebook's rows from the files of a task.
 * @param kind, message  for a fault: its name and its message
 * @param graded  free it with gb_graded_free(), unless the verdict is a fault */
enum cl_verdict cl_task_read(const struct cl_class *class, const struct cl_task *task,
                             const struct cl_outcome *outcome, struct gb_graded *graded,
                             const char **kind, char message[512]);

/** Makes the rows of a task without a source, or of a task that could not be graded (status
 * fault). */
void cl_task_ungraded(const struct cl_class *class, const struct cl_task *task, const char *status,
                      const char *message, struct gb_graded *graded);

/** Frees a task's strings. */
void cl_task_free(struct cl_task *task);
