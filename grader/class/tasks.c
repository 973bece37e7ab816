/* Selects the tasks to do. A grade is up to date if it was made from the same source (hash) and
 * options; a grade with the status fault or skip, only in the run that made it. With --seed, the
 * seed must also be the same; with --regrade, the grade must have been made since the regrading run
 * began. */
#include "grader/class/schedule.h"

#include <stdlib.h>
#include <string.h>

/* Finds the run since which attempts are up to date with --regrade: the first of the unfinished
 * earlier runs of this command, which the current run resumes. */
static enum st_code find_since_run(struct cl_class *class, double *since, struct st_error *err)
{
    const long long run = class->run;
    return gb_number(class->book, since, err,
                     "SELECT min(id) FROM run WHERE id > coalesce((SELECT max(id) FROM run "
                     "WHERE id < %lld AND (finished "
                     "OR command <> (SELECT command FROM run WHERE id = %lld))), 0)",
                     run, run);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* @param a  the valid attempt */
static bool is_up_to_date(const struct cl_class *class, double since_run,
                          const struct gb_attempt *a, const struct cl_task *task)
{
    const struct cl_options *o = class->options;
    if (!task->source) /* no grading runs: only a change is stored */
        return strcmp(task->status, "fault") != 0 && same_text(a->status, task->status) &&
               same_text(a->message, task->message);
    if (strcmp(a->status, "fault") == 0 || strcmp(a->status, "skip") == 0)
        return a->run == class->run;
    if (o->regrade && (double)a->run < since_run)
        return false;
    if (o->seed_given && a->seed != (int64_t)task->seed)
        return false;
    return same_text(a->source_hash, task->source_hash) && same_text(a->options, o->flags);
}

/* Numbers a task's attempt. @param up_to_date  set to whether the task's grade is up to date */
static enum st_code look_up(const struct cl_class *class, double since_run, struct cl_task *task,
                            bool *up_to_date, struct st_error *err)
{
    struct gb_attempt_list counting = {0};
    double attempts = 0;
    enum st_code code =
        gb_number(class->book, &attempts, err,
                  "SELECT count(*) FROM attempt WHERE submission = %Q AND milestone = %Q",
                  task->submission, task->milestone);
    if (!code)
        code = gb_attempt_read(
            class->book, &counting, err,
            "WHERE id = (SELECT attempt FROM grade WHERE submission = %Q AND milestone = %Q)",
            task->submission, task->milestone);
    task->number = 1 + (int64_t)attempts;
    *up_to_date = counting.n && is_up_to_date(class, since_run, &counting.row[0], task);
    gb_attempt_free(&counting);
    return code;
}

/* Makes the task for one milestone of a submission; without a source, the task needs no process. */
static struct cl_task make_task(const struct cl_class *class, const struct cl_submission *s,
                                size_t m)
{
    const struct cl_options *o = class->options;
    const struct cl_file *file = &s->file[m];
    struct cl_task task = {.submission = strdup(s->name),
                           .milestone = strdup(o->milestone[m].id),
                           .max_score = o->max_score[m],
                           .seed = cl_task_seed(class->seed, s->name, o->milestone[m].id)};
    char message[CL_NAME_BYTES] = "";
    if (s->rejected[0]) {
        task.status = s->unreadable ? "fault" : "rejected";
        cl_name_text(message, s->rejected);
    } else if (!file->there) {
        task.status = "missing";
        snprintf(message, sizeof message, "%s", s->entry ? file->missing : "nothing was handed in");
    } else if (file->refused[0]) {
        task.status = file->unreadable ? "fault" : "rejected";
        snprintf(message, sizeof message, "%.400s %s", file->path, file->refused);
    } else {
        task.source = strdup(file->copy);
        snprintf(task.source_hash, sizeof task.source_hash, "%s", file->hash);
        task.source_bytes = file->bytes;
    }
    task.source_path = file->path ? strdup(file->path) : NULL;
    task.message = strdup(message);
    return task;
}

static bool is_wanted(const struct cl_options *o, const struct cl_submission *s, size_t m)
{
    if (!cl_is_selected(o, s->name))
        return false;
    const struct cl_file *file = &s->file[m];
    return !o->since || (file->modified ? file->modified : s->modified) >= o->since;
}

enum st_code cl_tasks_make(struct cl_class *class, struct cl_task **tasks, size_t *n,
                           size_t *up_to_date, struct st_error *err)
{
    const struct cl_options *o = class->options;
    double since_run = 0;
    bool known;
    *n = *up_to_date = 0;
    *tasks = calloc(class->submissions * o->milestones + 1, sizeof **tasks);
    if (!*tasks)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class's tasks");
    enum st_code code = find_since_run(class, &since_run, err);
    for (size_t i = 0; i < class->submissions; i++)
        for (size_t m = 0; !code && m < o->milestones; m++) {
            const struct cl_submission *s = &class->submission[i];
            if (!is_wanted(o, s, m))
                continue;
            struct cl_task task = make_task(class, s, m);
            code = look_up(class, since_run, &task, &known, err);
            if (code || known)
                cl_task_free(&task);
            else
                (*tasks)[(*n)++] = task;
            *up_to_date += !code && known;
        }
    return code;
}
