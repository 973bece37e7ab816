/* The loop runs as many graders at once as --jobs allows. When a grader ends, the loop reads and
 * stores the result, and starts the next grader.
 *
 * 1. A grading that ends through no fault of the submission is repeated after the others, at most
 * --retries times; then it is stored as a fault.
 * 2. A grading with noisy times waits until nothing else runs, and runs again once, alone. (With
 * --quick, times are not compared: noise is only marked.)
 * 3. A grade that cannot be stored is reported by name. Five such grades in a row end the run: no
 * stored grade is lost, and the same command resumes the run. */
#include "grader/class/schedule.h"

#include "base/clock.h"
#include "base/patience.h"
#include "base/progress.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 256, WAIT_MS = 200 };

struct job {
    pid_t pid; /* 0: free */
    size_t task;
    struct patience left;
    struct cl_outcome outcome;
    struct cl_place place;
};

/* A queue of task numbers, first in, first out. */
struct queue {
    size_t *item, first, n;
};

struct schedule {
    struct cl_class *class;
    struct cl_task *tasks;
    struct cl_counts *counts;
    struct queue waiting, alone;
    struct cl_places places;
    size_t jobs, running;
    struct job job[MAX_JOBS];
};

static void push(struct queue *q, size_t item)
{
    q->item[q->first + q->n++] = item;
}

static size_t pop(struct queue *q)
{
    q->n--;
    return q->item[q->first++];
}

static void handle_end(struct schedule *s, struct job *job)
{
    job->pid = 0;
    s->running--;
    cl_place_leave(&s->places, &job->place);
    const enum cl_next next =
        cl_task_ended(s->class, &s->tasks[job->task], &job->outcome, s->counts);
    if (next != CL_DONE)
        push(next == CL_AGAIN_ALONE ? &s->alone : &s->waiting, job->task);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void start(struct schedule *s, size_t i)
{
    struct cl_task *task = &s->tasks[i];
    struct st_error err;
    struct job *job = s->job;
    while (job->pid)
        job++;
    *job = (struct job){.task = i,
                        .left = patience_begin((double)s->class->options->limit_s),
                        .outcome.started = clock_date_s()};
    task->tries++;
    cl_place_choose(&s->places, s->class->options, task->source, &job->place);
    if (cl_task_start(s->class->options, s->class->files, task, &job->place, &job->pid, &err)) {
        job->pid = 0;
        cl_place_leave(&s->places, &job->place);
        char message[1024];
        snprintf(message, sizeof message, "%s: %s", err.what, err.where);
        if (cl_fault(s->class, task, "not_started", message, s->counts))
            push(&s->waiting, i);
        return;
    }
    s->running++;
}

static void start_more(struct schedule *s)
{
    while (!s->counts->stopped && s->waiting.n && s->running < s->jobs)
        start(s, pop(&s->waiting));
    if (!s->counts->stopped && !s->running && !s->waiting.n && s->alone.n)
        start(s, pop(&s->alone));
}

/* Ends gradings that exceed their time limit, which excludes the time spent waiting for a turn. */
static void end_late(struct schedule *s)
{
    for (size_t i = 0; i < s->jobs; i++) {
        struct job *job = &s->job[i];
        if (!job->pid || job->outcome.timed_out)
            continue;
        if (cl_task_waits(s->class->files, &s->tasks[job->task]))
            patience_skips(&job->left);
        if (patience_lasts(&job->left))
            continue;
        job->outcome.timed_out = true;
        kill(-job->pid, SIGKILL);
    }
}

/* Waits a moment for a child to end; handles all that have ended. */
static void wait_for_ends(struct schedule *s, const sigset_t *child)
{
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid == 0) {
        sigtimedwait(child, NULL, &(struct timespec){.tv_nsec = WAIT_MS * 1000000L});
        return;
    }
    for (size_t i = 0; pid > 0 && i < s->jobs; i++) {
        if (s->job[i].pid != pid)
            continue;
        kill(-pid, SIGKILL); /* end all processes that remain in its group */
        cl_outcome_set(&s->job[i].outcome, status, &usage);
        handle_end(s, &s->job[i]);
    }
}

static void end_all(struct schedule *s)
{
    for (size_t i = 0; i < s->jobs; i++)
        if (s->job[i].pid) {
            kill(-s->job[i].pid, SIGKILL);
            waitpid(s->job[i].pid, NULL, 0);
        }
}

/* Allocates the queues, with space for all entries that the tasks can cause. */
static bool make_queues(struct schedule *s, size_t n)
{
    s->waiting.item = calloc(n * (s->class->options->retries + 3) + 1, sizeof(size_t));
    s->alone.item = calloc(n + 1, sizeof(size_t));
    return s->waiting.item && s->alone.item;
}

enum st_code cl_tasks_run(struct cl_class *class, struct cl_task *tasks, size_t n,
                          struct cl_counts *counts, struct st_error *err)
{
    struct schedule *s = calloc(1, sizeof *s);
    if (!s || (s->class = class, !make_queues(s, n))) {
        free(s);
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class's tasks");
    }
    s->tasks = tasks;
    s->counts = counts;
    enum st_code code = n ? cl_places_find(&s->places, class->options, err) : ST_OK;
    s->jobs = s->places.jobs < MAX_JOBS ? s->places.jobs : MAX_JOBS;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    cl_tasks_begin(counts, n);
    for (size_t i = 0; !code && i < n && !cl_tasks_stopped(counts); i++)
        if (!cl_store_at_once(class, &tasks[i], counts))
            push(cl_task_resume(class, &tasks[i]) ? &s->alone : &s->waiting, i);
    while (!cl_tasks_stopped(counts) && (s->waiting.n || s->alone.n || s->running)) {
        start_more(s);
        progress_show("class: stored", counts->stored, n);
        end_late(s);
        if (s->running)
            wait_for_ends(s, &child);
    }
    progress_clear();
    end_all(s);
    free(s->waiting.item);
    free(s->alone.item);
    free(s);
    return code;
}
