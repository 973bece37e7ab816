/* Which tasks are to be done. A grade is up to date if it is of the same source (hash), graded with
 * the same options, and no fault of ours; with --seed, of the same seed too; with --regrade, if it
 * was made since that run began. */
#include "grader/class/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What counts now, in the order of submission and milestone. */
struct known {
    struct gb_attempt_list attempts; /* those that count, in the same order */
    struct gb_attempt_list all;      /* to number the next ones */
    int64_t since_run;               /* --regrade: attempts of this run on are up to date */
};

static enum st_code read_known(struct cl_class *class, struct known *k, struct st_error *err)
{
    enum st_code code =
        gb_attempt_read(class->book, &k->attempts, err,
                        "WHERE id IN (SELECT attempt FROM grade) ORDER BY submission, milestone");
    if (!code)
        code = gb_attempt_read(class->book, &k->all, err, "ORDER BY submission, milestone");
    return code;
}

static int compare_attempt(const struct gb_attempt *a, const char *submission,
                           const char *milestone)
{
    int order = strcmp(a->submission, submission);
    return order ? order : strcmp(a->milestone, milestone);
}

/* The first attempt of a list that is not before these, by halving. */
static size_t lower_bound(const struct gb_attempt_list *list, const char *submission,
                          const char *milestone)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_attempt(&list->row[middle], submission, milestone) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t count_of(const struct gb_attempt_list *list, const char *submission,
                       const char *milestone)
{
    size_t at = lower_bound(list, submission, milestone), n = 0;
    while (at + n < list->n && compare_attempt(&list->row[at + n], submission, milestone) == 0)
        n++;
    return n;
}

/* --regrade that was interrupted goes on: the first of the runs before this one that ended
 * unfinished and had the same command. */
static enum st_code find_since_run(struct cl_class *class, struct known *k, struct st_error *err)
{
    struct gb_run_list runs;
    k->since_run = class->run;
    enum st_code code = gb_run_read(class->book, &runs, err, "ORDER BY id DESC");
    for (size_t i = 0; !code && i < runs.n; i++) {
        if (runs.row[i].id == class->run)
            continue;
        if (runs.row[i].finished || strcmp(runs.row[i].command, class->options->command) != 0)
            break;
        k->since_run = runs.row[i].id;
    }
    gb_run_free(&runs);
    return code;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_up_to_date(const struct cl_class *class, const struct known *k,
                          const struct cl_task *task)
{
    const struct cl_options *o = class->options;
    size_t at = lower_bound(&k->attempts, task->submission, task->milestone);
    const struct gb_attempt *a = at < k->attempts.n ? &k->attempts.row[at] : NULL;
    if (!a || compare_attempt(a, task->submission, task->milestone) != 0)
        return false;
    if (!task->source) /* nothing is run for it: only a change is worth storing */
        return strcmp(task->status, "fault") != 0 && same_text(a->status, task->status) &&
               same_text(a->message, task->message);
    if (strcmp(a->status, "fault") == 0 || strcmp(a->status, "skip") == 0)
        return a->run == class->run;
    if (o->regrade && a->run < k->since_run)
        return false;
    if (o->seed_given && a->seed != (int64_t)task->seed)
        return false;
    return same_text(a->source_hash, task->source_hash) && same_text(a->options, o->flags);
}

/* What is to be done for one milestone of a submission; a task without a source needs no process.
 */
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
        snprintf(message, sizeof message, s->entry ? "no file %s/%s" : "nothing was handed in",
                 o->milestone[m].folder, o->milestone[m].file);
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
    struct known known = {0};
    *n = *up_to_date = 0;
    *tasks = calloc(class->submissions * o->milestones + 1, sizeof **tasks);
    if (!*tasks)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the class's tasks in memory");
    enum st_code code = read_known(class, &known, err);
    if (!code)
        code = find_since_run(class, &known, err);
    for (size_t i = 0; !code && i < class->submissions; i++)
        for (size_t m = 0; m < o->milestones; m++) {
            const struct cl_submission *s = &class->submission[i];
            if (!is_wanted(o, s, m))
                continue;
            struct cl_task task = make_task(class, s, m);
            task.number = 1 + (int64_t)count_of(&known.all, task.submission, task.milestone);
            if (is_up_to_date(class, &known, &task)) {
                ++*up_to_date;
                cl_task_free(&task);
            } else
                (*tasks)[(*n)++] = task;
        }
    gb_attempt_free(&known.attempts);
    gb_attempt_free(&known.all);
    return code;
}
