/* The loop: as many graders at once as --jobs says; what ends is read, stored and replaced.
 *
 * 1. A grading that ends through no fault of the submission is tried again, at most --retries
 * times, behind the others; then it is stored as a fault.
 * 2. One with noisy times waits until nothing else runs and is run again, alone, once. (With
 * --quick times are not compared: noise is only marked.)
 * 3. What cannot be stored is reported by name. Five in a row end the run: nothing that is stored
 * is lost, and the same command goes on there. */
#include "grader/class/schedule.h"

#include "base/clock.h"
#include "base/progress.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 256, STORE_TRIES = 3, STORE_FAILURES = 5, WAIT_MS = 200 };

struct job {
    pid_t pid; /* 0: free */
    size_t task;
    double began_s;
    struct cl_outcome outcome;
    struct cl_place place;
};

/* Numbers of tasks, first in first out. */
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
    double looked_s; /* when jobs were looked at last */
};

static volatile sig_atomic_t stop_signal;

static void on_stop(int number)
{
    stop_signal = number;
}

static void push(struct queue *q, size_t item)
{
    q->item[q->first + q->n++] = item;
}

static size_t pop(struct queue *q)
{
    q->n--;
    return q->item[q->first++];
}

/* ---- storing -------------------------------------------------------------------------------- */

static void count_status(struct cl_counts *c, const char *status)
{
    size_t *const to = strcmp(status, "pass") == 0       ? &c->pass
                       : strcmp(status, "fail") == 0     ? &c->fail
                       : strcmp(status, "skip") == 0     ? &c->skip
                       : strcmp(status, "missing") == 0  ? &c->missing
                       : strcmp(status, "rejected") == 0 ? &c->rejected
                                                         : &c->fault;
    ++*to;
}

/* "[  12/600, 14 min left] " */
static void print_place(const struct cl_counts *c, double began_s)
{
    double spent_s = clock_now_s() - began_s;
    size_t left = c->total - c->stored, graded = c->stored - c->at_once;
    printf("[%zu/%zu", c->stored, c->total);
    if (graded >= 5 && left) {
        double left_s = spent_s / (double)graded * (double)left;
        if (left_s < 90)
            printf(", %.0f s left", left_s);
        else
            printf(", %.0f min left", left_s / 60);
    }
    printf("] ");
}

static double class_began_s;

static void print_grade(const struct gb_attempt *a, const struct cl_counts *c)
{
    char name[CL_SHOWN_BYTES], message[CL_SHOWN_BYTES];
    progress_clear();
    print_place(c, class_began_s);
    printf("%s %s: %s", cl_name_shown(name, a->submission), a->milestone, a->status);
    if (isfinite(a->score) && a->exit_status >= 0)
        printf(" %g/%g", a->score, a->max_score);
    if (a->message[0])
        printf(" (%s)", cl_name_shown(message, a->message));
    printf("%s\n", a->noisy ? ", noisy times" : "");
    fflush(stdout);
}

void cl_store(struct cl_class *class, struct gb_graded *graded, struct cl_counts *counts)
{
    struct gb_attempt *a = &graded->attempt;
    static size_t failures;
    struct st_error err;
    enum st_code code = ST_OK;
    for (int try = 0; try < STORE_TRIES; try++) {
        if (try)
            nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        if (!(code = gb_graded_store(class->book, graded, &err)))
            break;
    }
    if (!code) {
        failures = 0;
        counts->stored++;
        count_status(counts, a->status);
        print_grade(a, counts);
        return;
    }
    char name[CL_SHOWN_BYTES], who[CL_SHOWN_BYTES + 64];
    snprintf(who, sizeof who, "grader class: %s %s is not stored",
             cl_name_shown(name, a->submission), a->milestone);
    progress_clear();
    st_print(stderr, who, &err);
    counts->not_stored++;
    if (++failures == STORE_FAILURES) {
        fprintf(stderr,
                "grader class: stopped: %d grades in a row could not be stored (hint: free "
                "some space, then run the same command again: it goes on here)\n",
                STORE_FAILURES);
        counts->stopped = true;
    }
}

void cl_store_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
                    const char *message)
{
    struct st_error err;
    char text[CL_NAME_BYTES];
    cl_name_text(text, message);
    const struct gb_fault fault = {.run = class->run,
                                   .submission = task->submission,
                                   .milestone = task->milestone,
                                   .at = time(NULL),
                                   .kind = (char *)kind,
                                   .message = text};
    if (gb_fault_put(class->book, &fault, &err))
        st_print(stderr, "grader class", &err);
}

/* ---- one grading that ended ----------------------------------------------------------------- */

bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts)
{
    char name[CL_SHOWN_BYTES], shown[CL_SHOWN_BYTES];
    const bool again = task->tries <= class->options->retries && !counts->stopped;
    cl_store_fault(class, task, kind, message);
    progress_clear();
    fprintf(stderr, "grader class: %s %s: fault, not the submission's: %s: %s%s\n",
            cl_name_shown(name, task->submission), task->milestone, kind,
            cl_name_shown(shown, message), again ? "; is tried again" : "");
    if (again) {
        counts->retried++;
        return true;
    }
    char text[CL_NAME_BYTES], told[600];
    snprintf(told, sizeof told, "%s: %s", kind, message);
    cl_name_text(text, told);
    struct gb_graded graded;
    cl_task_ungraded(class, task, "fault", text, &graded);
    cl_store(class, &graded, counts);
    gb_graded_free(&graded);
    return false;
}

void cl_tell_noise(const struct cl_task *task)
{
    char name[CL_SHOWN_BYTES];
    progress_clear();
    fprintf(stderr, "grader class: %s %s: noisy times: is graded again when nothing else runs\n",
            cl_name_shown(name, task->submission), task->milestone);
}

static void handle_fault(struct schedule *s, size_t i, const char *kind, const char *message)
{
    if (cl_fault(s->class, &s->tasks[i], kind, message, s->counts))
        push(&s->waiting, i);
}

static void handle_end(struct schedule *s, struct job *job)
{
    struct cl_task *task = &s->tasks[job->task];
    struct gb_graded graded;
    const char *kind;
    char message[512] = "";
    enum cl_verdict verdict = cl_task_read(s->class, task, &job->outcome, &graded, &kind, message);
    job->pid = 0;
    s->running--;
    cl_place_leave(&s->places, &job->place);
    if (verdict == CL_FAULT) {
        handle_fault(s, job->task, kind, message);
        return;
    }
    if (verdict == CL_NOISY && !task->alone && !s->class->options->quick) {
        task->alone = true;
        push(&s->alone, job->task);
        cl_task_mark_noisy(s->class, task);
        cl_tell_noise(task);
    } else {
        cl_store(s->class, &graded, s->counts);
        if (task->alone)
            cl_task_unmark_noisy(s->class, task);
    }
    gb_graded_free(&graded);
}

/* ---- the loop ------------------------------------------------------------------------------- */

bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts)
{
    struct gb_graded graded;
    if (task->source)
        return false;
    cl_task_ungraded(class, task, task->status, task->message, &graded);
    counts->at_once++;
    if (strcmp(task->status, "fault") == 0)
        cl_store_fault(class, task, "unreadable", task->message);
    cl_store(class, &graded, counts);
    gb_graded_free(&graded);
    return true;
}

static void start(struct schedule *s, size_t i)
{
    struct cl_task *task = &s->tasks[i];
    struct st_error err;
    struct job *job = s->job;
    while (job->pid)
        job++;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *job = (struct job){.task = i, .began_s = clock_now_s()};
    job->outcome.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    task->tries++;
    cl_place_choose(&s->places, s->class->options, task->source, &job->place);
    if (cl_task_start(s->class->options, s->class->files, task, &job->place, &job->pid, &err)) {
        job->pid = 0;
        cl_place_leave(&s->places, &job->place);
        char message[1024];
        snprintf(message, sizeof message, "%s: %s", err.what, err.where);
        handle_fault(s, i, "not_started", message);
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

/* The time that a grading waits for its turn is that of others. */
static void end_late(struct schedule *s)
{
    const double now_s = clock_now_s(), since_s = now_s - s->looked_s;
    s->looked_s = now_s;
    for (size_t i = 0; i < s->jobs; i++) {
        struct job *job = &s->job[i];
        if (!job->pid || job->outcome.timed_out)
            continue;
        if (cl_task_waits(s->class->files, &s->tasks[job->task]))
            job->began_s += since_s;
        if (now_s - job->began_s < s->class->options->limit_s)
            continue;
        job->outcome.timed_out = true;
        kill(-job->pid, SIGKILL);
    }
}

/* Waits a moment for a child; handles all that have ended. */
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
        kill(-pid, SIGKILL); /* whatever it has left in its group */
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

/* Room for each task as often as it may be pushed. */
static bool make_queues(struct schedule *s, size_t n)
{
    s->waiting.item = calloc(n * (s->class->options->retries + 3) + 1, sizeof(size_t));
    s->alone.item = calloc(n + 1, sizeof(size_t));
    return s->waiting.item && s->alone.item;
}

void cl_tasks_begin(struct cl_counts *counts, size_t n)
{
    const struct sigaction stop = {.sa_handler = on_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    counts->total = n;
    class_began_s = clock_now_s();
}

bool cl_tasks_stopped(struct cl_counts *counts)
{
    counts->stopped |= stop_signal != 0;
    return counts->stopped;
}

/* A task that an earlier run found noisy, and did not come to run again, is not run twice here. */
static void push_first(struct schedule *s, size_t i)
{
    struct cl_task *task = &s->tasks[i];
    task->alone = !s->class->options->quick && cl_task_was_noisy(s->class, task);
    task->tries = task->alone;
    push(task->alone ? &s->alone : &s->waiting, i);
}

enum st_code cl_tasks_run(struct cl_class *class, struct cl_task *tasks, size_t n,
                          struct cl_counts *counts, struct st_error *err)
{
    struct schedule *s = calloc(1, sizeof *s);
    if (!s || (s->class = class, !make_queues(s, n))) {
        free(s);
        return st_fail(err, ST_NO_MEMORY, "cannot hold the class's tasks in memory");
    }
    s->tasks = tasks;
    s->counts = counts;
    s->jobs = class->options->jobs < MAX_JOBS ? class->options->jobs : MAX_JOBS;
    enum st_code code = n ? cl_places_find(&s->places, class->options, err) : ST_OK;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    cl_tasks_begin(counts, n);
    s->looked_s = clock_now_s();
    for (size_t i = 0; !code && i < n && !cl_tasks_stopped(counts); i++)
        if (!cl_store_at_once(class, &tasks[i], counts))
            push_first(s, i);
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
