/** @file
 * The files by which the collector of a class and its tasks on a cluster communicate:
 * GRADEBOOK.files/slurm, on the file system that the nodes share. Only the collector
 * opens the gradebook.
 *
 *     batch-N.tsv    the tasks of the N-th job array: one row per task, numbered from 1 as in the
 *                    array
 *     batch-N.sh     the script that Slurm starts for each task
 *     batch-N-T.log  other output of task T
 *     KEY.starts     one line each time Slurm starts the task: node, job
 *     KEY.outcome    how the grading ended; appears complete, after all other files are in their
 *                    final folder
 *     run/           folders of unfinished gradings
 *
 * KEY names a grading: submission, milestone, attempt, source, seed and options. If Slurm starts a
 * task again that has an outcome, the task does nothing, so that no task is graded twice.
 */
#pragma once

#include "grader/class/task.h"

enum { CL_KEY_CHARS = 25 };

/** The folder: GRADEBOOK.files/slurm. */
void cl_slurm_folder(const char *files, char folder[PATH_MAX]);

/** Makes a path in this folder, printf style. */
bool cl_slurm_path(const char *files, char path[PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Computes a task's key. */
void cl_slurm_key(const struct cl_task *task, const char *flags, char key[CL_KEY_CHARS]);

/** Writes a batch of @p n tasks. @param which  their indices in @p tasks, in the array's order */
enum st_code cl_batch_write(const char *files, size_t batch, const struct cl_task *tasks,
                            const size_t *which, size_t n, const char *flags, struct st_error *err);

/** Reads task @p number of a batch. @param task  free it with cl_task_free() */
enum st_code cl_batch_read(const char *path, size_t number, struct cl_task *task,
                           char key[CL_KEY_CHARS], struct st_error *err);

/** Reads the keys of a batch, in the order of its tasks; @p keys is malloc'd. */
enum st_code cl_batch_keys(const char *files, size_t batch, char (**keys)[CL_KEY_CHARS], size_t *n,
                           struct st_error *err);

/** Writes how a grading ended. @param said  the reason if the grading was not started, or "" */
enum st_code cl_outcome_write(const char *files, const char *key, const struct cl_outcome *outcome,
                              const char *said, struct st_error *err);

/** Reads an outcome. @return ST_NOT_FOUND while it does not exist. */
enum st_code cl_outcome_read(const char *files, const char *key, struct cl_outcome *outcome,
                             char said[512], struct st_error *err);

/** @return how often Slurm has started a task. @param where  set to the nodes, separated by
 * commas */
size_t cl_starts_read(const char *files, const char *key, char where[256]);
