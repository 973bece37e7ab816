/* Handles gradings that have ended: stores, prints or repeats them. */
#include "grader/class/store_grade.h"

#include "base/clock.h"
#include "base/progress.h"
#include "grader/feedback/overview.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STORE_TRIES = 3, STORE_FAILURES = 5 };

static double class_began_s;

/* ---- stopping ------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signal;

static void on_stop(int number)
{
    stop_signal = number;
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

/* Estimates the seconds until the end; NAN if too few tasks have been graded. */
static double time_left_s(const struct cl_counts *c)
{
    const double spent_s = clock_now_s() - class_began_s;
    const size_t left = c->total - c->stored, graded = c->stored - c->at_once;
    return graded >= 5 && left ? spent_s / (double)graded * (double)left : NAN;
}

void cl_page_update(struct cl_class *class, const struct cl_counts *c, bool now)
{
    enum { EVERY_S = 10 };
    static double written_s;
    const struct ov_progress progress = {c->stored, c->total, time_left_s(c)};
    struct st_error err;
    if (!class->options->page || (!now && written_s > 0 && clock_now_s() - written_s < EVERY_S))
        return;
    if (ov_page_write(class->options->page, class->book, &progress, &err))
        st_print(stderr, "grader class", &err);
    written_s = clock_now_s();
}

/* Prints "[  12/600, 14 min left] ". */
static void print_place(const struct cl_counts *c)
{
    const double left_s = time_left_s(c);
    printf("[%zu/%zu", c->stored, c->total);
    if (isfinite(left_s)) {
        if (left_s < 90)
            printf(", %.0f s left", left_s);
        else
            printf(", %.0f min left", left_s / 60);
    }
    printf("] ");
}

static void print_grade(const struct gb_attempt *a, const struct cl_counts *c)
{
    char name[CL_SHOWN_BYTES], message[CL_SHOWN_BYTES];
    progress_clear();
    print_place(c);
    printf("%s %s: %s", cl_name_shown(name, a->submission), a->milestone, a->status);
    if (isfinite(a->score) && a->exit_status >= 0)
        printf(" %g/%g", a->score, a->max_score);
    if (a->message[0])
        printf(" (%s)", cl_name_shown(message, a->message));
    printf("%s\n", a->noisy ? ", noisy times" : "");
    fflush(stdout);
}

static void put_grade(struct cl_class *class, struct gb_graded *graded, struct cl_counts *counts)
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
        cl_page_update(class, counts, false);
        return;
    }
    char name[CL_SHOWN_BYTES], who[CL_SHOWN_BYTES + 64];
    snprintf(who, sizeof who, "grader class: %s %s is not stored",
             cl_name_shown(name, a->submission), a->milestone);
    progress_clear();
    st_print(stderr, who, &err);
    counts->not_stored++;
    if (++failures == STORE_FAILURES) {
        fprintf(
            stderr,
            "grader class: stopped: %d grades in a row could not be stored (hint: free some space, then run the same command again: it resumes at this point)\n",
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

bool cl_fault(struct cl_class *class, const struct cl_task *task, const char *kind,
              const char *message, struct cl_counts *counts)
{
    char name[CL_SHOWN_BYTES], shown[CL_SHOWN_BYTES];
    const bool again = task->tries <= class->options->retries && !counts->stopped;
    cl_store_fault(class, task, kind, message);
    progress_clear();
    fprintf(stderr, "grader class: %s %s: fault of the machine: %s: %s%s\n",
            cl_name_shown(name, task->submission), task->milestone, kind,
            cl_name_shown(shown, message), again ? "; retrying" : "");
    if (again) {
        counts->retried++;
        return true;
    }
    char text[CL_NAME_BYTES], line[600];
    snprintf(line, sizeof line, "%s: %s", kind, message);
    cl_name_text(text, line);
    struct gb_graded graded;
    cl_task_ungraded(class, task, "fault", text, &graded);
    put_grade(class, &graded, counts);
    gb_graded_free(&graded);
    return false;
}

bool cl_store_at_once(struct cl_class *class, const struct cl_task *task, struct cl_counts *counts)
{
    struct gb_graded graded;
    if (task->source)
        return false;
    cl_task_ungraded(class, task, task->status, task->message, &graded);
    counts->at_once++;
    if (strcmp(task->status, "fault") == 0)
        cl_store_fault(class, task, "unreadable", task->message);
    put_grade(class, &graded, counts);
    gb_graded_free(&graded);
    return true;
}

/* ---- the end of one grading ----------------------------------------------------------------- */

bool cl_task_resume(const struct cl_class *class, struct cl_task *task)
{
    task->alone = !class->options->quick && cl_task_was_noisy(class, task);
    task->tries = task->alone;
    return task->alone;
}

static void tell_noise(const struct cl_task *task)
{
    char name[CL_SHOWN_BYTES];
    progress_clear();
    fprintf(stderr,
            "grader class: %s %s: noisy times: will be graded again when nothing else runs\n",
            cl_name_shown(name, task->submission), task->milestone);
}

enum cl_next cl_task_ended(struct cl_class *class, struct cl_task *task,
                           const struct cl_outcome *outcome, struct cl_counts *counts)
{
    struct gb_graded graded;
    const char *kind;
    char message[512] = "";
    const enum cl_verdict verdict = cl_task_read(class, task, outcome, &graded, &kind, message);
    if (verdict == CL_FAULT)
        return cl_fault(class, task, kind, message, counts) ? CL_AGAIN : CL_DONE;
    const bool again = verdict == CL_NOISY && !task->alone && !class->options->quick;
    if (again) {
        cl_task_mark_noisy(class, task);
        tell_noise(task);
    } else {
        put_grade(class, &graded, counts);
        if (task->alone)
            cl_task_unmark_noisy(class, task);
    }
    task->alone |= again;
    gb_graded_free(&graded);
    return again ? CL_AGAIN_ALONE : CL_DONE;
}
