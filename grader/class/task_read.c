/* The files of a grading, as rows of the gradebook. Only result.json is trusted, and only if its
 * milestone and seed are right. */
#include "grader/class/task.h"

#include "base/files.h"
#include "base/median.h"
#include "grader/record/result_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LOG_BYTES = 1 << 20 };

/* An Op Time with a larger uncertainty than this is noisy. */
static const double NOISE = 0.1;

/* ---- rows ----------------------------------------------------------------------------------- */

static void read_checks(const struct gr_result *result, struct gb_graded *graded)
{
    graded->checks.row = calloc(result->checks + 1, sizeof *graded->checks.row);
    for (size_t i = 0; i < result->checks; i++) {
        const struct gr_check *check = &result->check[i];
        graded->checks.row[graded->checks.n++] =
            (struct gb_check_result){.position = (int64_t)i + 1,
                                     .name = strdup(check->name),
                                     .text = strdup(check->text),
                                     .status = strdup(gr_status_name(check->status)),
                                     .points = check->points,
                                     .max_points = check->max_points,
                                     .required = check->required,
                                     .pattern = strdup(check->pattern),
                                     .message = strdup(check->message),
                                     .hint = strdup(check->hint)};
    }
}

static void read_inferences(const struct gr_result *result, struct gb_graded *graded)
{
    graded->inferences.row = calloc(result->inferences + 1, sizeof *graded->inferences.row);
    for (size_t i = 0; i < result->inferences; i++) {
        const struct gr_inference *inference = &result->inference[i];
        graded->inferences.row[graded->inferences.n++] =
            (struct gb_inference){.model = strdup(inference->model),
                                  .images = (int64_t)inference->images,
                                  .correctness = inference->correctness,
                                  .expected_correctness = inference->expected_correctness,
                                  .max_error = inference->max_error,
                                  .passed = inference->passed};
    }
}

/* Copies the times of one convolution, up to the first unknown time. @return their number */
static size_t known_times(const struct gr_timing *timing, double to[GR_MAX_REPEATS])
{
    size_t n = 0;
    for (; n < timing->repeats && isfinite(timing->op_time_s[n]); n++)
        to[n] = timing->op_time_s[n];
    return n;
}

/* Writes the times, separated by spaces. */
static char *times_text(const double *times, size_t n)
{
    enum { CHARS = 26 };
    char *text = calloc(GR_MAX_REPEATS, CHARS);
    size_t used = 0;
    for (size_t i = 0; text && i < n; i++)
        used += (size_t)snprintf(text + used, GR_MAX_REPEATS * CHARS - used, "%s%.9g", i ? " " : "",
                                 times[i]);
    return text;
}

/* Whether the times differ too much. */
static bool is_noisy(double *times, size_t n)
{
    const struct median m = median_of(times, n);
    return m.median > 0 && (m.high - m.low) / 2 > NOISE * m.median;
}

/* @return whether a time of the submission is noisy at the largest size that has enough times:
 * speed and ranking use the largest size, and times at the smallest size are so short that they are
 * always noisy. To judge noise, at least three times are needed. On the CPU, the first run has no
 * warm-up, so its time does not count. */
static bool read_timings(const struct gr_result *result, struct gb_graded *graded)
{
    const bool on_cpu = strcmp(result->device, "cpu") == 0;
    int largest = 0;
    bool any = false;
    graded->timings.row = calloc(result->timings + 1, sizeof *graded->timings.row);
    for (size_t i = 0; i < result->timings; i++) {
        const struct gr_timing *timing = &result->timing[i];
        double times[GR_MAX_REPEATS];
        const size_t n = known_times(timing, times);
        graded->timings.row[graded->timings.n++] =
            (struct gb_timing){.subject = strdup(gr_subject_name(timing->subject)),
                               .model = strdup(timing->model),
                               .layer = timing->layer,
                               .images = (int)gr_timing_size(timing),
                               .gmac = timing->gmac,
                               .median_s = timing->median_s,
                               .op_times_s = times_text(times, n)};
        if (n < 3 || timing->subject != GR_SUBMISSION || (int)gr_timing_size(timing) < largest)
            continue;
        any =
            (any && (int)gr_timing_size(timing) == largest) || is_noisy(times + on_cpu, n - on_cpu);
        largest = (int)gr_timing_size(timing);
    }
    return any;
}

static void add_artefact(struct gb_graded *graded, const struct cl_class *class,
                         const struct cl_task *task, const char *kind, const char *file)
{
    char folder[PATH_MAX];
    const char *base = strrchr(class->files, '/');
    if (!cl_task_folder(base ? base + 1 : class->files, task, folder))
        return;
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    graded->artefacts.row[graded->artefacts.n++] =
        (struct gb_artefact){.kind = strdup(kind), .path = strdup(path)};
}

/* The length of a message's first line, or of two lines if the first ends with a colon. */
static int line_length(const char *message)
{
    size_t length = strcspn(message, "\n");
    if (length && message[length - 1] == ':' && message[length])
        length += 1 + strcspn(message + length + 1, "\n");
    return (int)length;
}

/* Describes the first check that failed or was skipped, in one line. */
static char *first_trouble(const struct gb_graded *graded, const char *status)
{
    for (size_t i = 0; strcmp(status, "pass") != 0 && i < graded->checks.n; i++) {
        const struct gb_check_result *check = &graded->checks.row[i];
        if (strcmp(check->status, status) != 0 || (strcmp(status, "skip") == 0 && !check->required))
            continue;
        char line[400];
        snprintf(line, sizeof line, "%s: %s%s%.*s", check->name, check->pattern,
                 check->pattern[0] ? ": " : "", line_length(check->message), check->message);
        for (char *p = line; *p; p++)
            *p = *p == '\n' ? ' ' : *p;
        return strdup(line);
    }
    return strdup("");
}

/* ---- the attempt ---------------------------------------------------------------------------- */

static struct gb_attempt empty_attempt(const struct cl_class *class, const struct cl_task *task)
{
    return (struct gb_attempt){.submission = strdup(task->submission),
                               .milestone = strdup(task->milestone),
                               .run = class->run,
                               .score = NAN,
                               .max_score = task->max_score,
                               .manual_max = NAN,
                               .seed = (int64_t)task->seed,
                               .sandbox = strdup(class->sandbox.on ? "bubblewrap" : "none"),
                               .options = strdup(class->options->flags),
                               .source_path = task->source_path ? strdup(task->source_path) : NULL,
                               .source_hash =
                                   task->source_hash[0] ? strdup(task->source_hash) : NULL,
                               .source_bytes = task->source_bytes,
                               .cpu_s = NAN,
                               .exit_status = -1,
                               .tries = (int64_t)task->tries,
                               .speed_ratio = NAN,
                               .timed_from = NAN,
                               .timed_until = NAN};
}

void cl_task_ungraded(const struct cl_class *class, const struct cl_task *task, const char *status,
                      const char *message, struct gb_graded *graded)
{
    memset(graded, 0, sizeof *graded);
    struct gb_attempt *a = &graded->attempt;
    *a = empty_attempt(class, task);
    a->status = strdup(status);
    a->score = strcmp(status, "fault") == 0 ? NAN : 0;
    a->version = strdup(class->version);
    a->device = strdup("");
    a->profile = strdup("");
    a->machine = strdup("");
    a->compiler = strdup("");
    a->timed_on = strdup("");
    a->message = strdup(message);
    a->started = a->finished = (double)time(NULL);
}

static void read_attempt(const struct gr_result *r, const struct cl_outcome *o,
                         struct gb_attempt *a)
{
    a->score = r->score;
    a->max_score = r->max_score;
    a->manual_max = r->manual_max;
    a->version = strdup(r->version);
    a->device = strdup(r->device);
    a->profile = strdup(r->profile);
    a->machine = strdup(r->machine);
    a->compiler = strdup(r->compiler);
    a->timed_on = strdup(r->timed_on);
    if (r->timed_from > 0) {
        a->timed_from = r->timed_from;
        a->timed_until = r->timed_until;
    }
    a->started = o->started;
    a->finished = o->finished;
    a->cpu_s = o->cpu_s + (isfinite(r->sandbox_cpu_s) ? r->sandbox_cpu_s : 0);
    a->max_rss_kib = o->max_rss_kib;
    a->exit_status = o->status;
    a->speed_ratio = r->speed.to_reference;
    a->speed_images = (int64_t)r->speed.images;
}

static bool has_check(const struct gb_graded *graded, const char *status)
{
    for (size_t i = 0; i < graded->checks.n; i++)
        if (graded->checks.row[i].required && strcmp(graded->checks.row[i].status, status) == 0)
            return true;
    return false;
}

static bool has_failed(const struct gb_graded *graded)
{
    for (size_t i = 0; i < graded->checks.n; i++)
        if (strcmp(graded->checks.row[i].status, "fail") == 0)
            return true;
    return false;
}

/* Whether to repeat the grading while no other runs: points or a rank depend on noisy times, or
 * noise was the reason to skip the speed check. (m1 gives no points for speed and has no ranking. If
 * no size was judged, the reason was not noise.) */
static bool needs_quiet(const struct gr_result *result, const struct gb_graded *graded, bool noisy)
{
    bool has_speed = false, undecided = false;
    for (size_t i = 0; i < graded->checks.n; i++) {
        const struct gb_check_result *check = &graded->checks.row[i];
        if (strcmp(check->name, "speed") != 0)
            continue;
        has_speed = true;
        undecided = check->required && strcmp(check->status, "skip") == 0;
    }
    return (noisy && (has_speed || strcmp(result->device, "cpu") != 0)) ||
           (undecided && result->speed.images);
}

/* The status that follows from the checks, or NULL if it contradicts the exit status. */
static const char *status_of(const struct gb_graded *graded, int exit_status)
{
    if (has_failed(graded))
        return exit_status == 1 ? "fail" : NULL;
    if (has_check(graded, "skip"))
        return exit_status == 2 ? "skip" : NULL;
    return exit_status == 0 && graded->checks.n ? "pass" : NULL;
}

/* ---- faults --------------------------------------------------------------------------------- */

/* Finds the last line that the grader printed. */
static void last_line(const char *folder, char message[512])
{
    char path[PATH_MAX], *text;
    size_t bytes;
    snprintf(message, 512, "the grader printed nothing");
    if (!path_format(path, sizeof path, "%s/log.txt", folder) ||
        file_read(path, MAX_LOG_BYTES, &text, &bytes, NULL))
        return;
    while (bytes && text[bytes - 1] == '\n')
        text[--bytes] = '\0';
    const char *newline = strrchr(text, '\n');
    if (bytes)
        snprintf(message, 512, "%s", newline ? newline + 1 : text);
    free(text);
}

static const char *fault_of(const struct cl_outcome *o, const char *folder, char message[512])
{
    if (o->out_of_memory) {
        snprintf(
            message, 512,
            "the grading used more memory than Slurm gives a task (hint: --slurm-options='--mem=8G')");
        return "out_of_memory";
    }
    if (o->timed_out) {
        snprintf(message, 512, "the grading took longer than --limit allows");
        return "timeout";
    }
    if (o->signal) {
        snprintf(message, 512, "the grader was killed: %s (out of memory?)", strsignal(o->signal));
        return "killed";
    }
    last_line(folder, message);
    return o->status == 2 ? "not_graded" : "no_result";
}

/* Reads the result of the grading, if it belongs to this task. */
static bool read_result(const struct cl_task *task, const char *folder, struct gr_result *result)
{
    char path[PATH_MAX];
    return path_format(path, sizeof path, "%s/result.json", folder) &&
           !gr_result_read(path, GR_NEED_GRADE, result, NULL) &&
           strcmp(result->milestone, task->milestone) == 0 && result->seed == task->seed;
}

enum cl_verdict cl_task_read(const struct cl_class *class, const struct cl_task *task,
                             const struct cl_outcome *outcome, struct gb_graded *graded,
                             const char **kind, char message[512])
{
    char folder[PATH_MAX];
    memset(graded, 0, sizeof *graded);
    *kind = "no_result";
    if (!cl_task_folder(class->files, task, folder))
        return CL_FAULT;
    const bool ended = !outcome->signal && !outcome->timed_out && !outcome->out_of_memory;
    struct gr_result *result = ended ? malloc(sizeof *result) : NULL;
    if (!result || !read_result(task, folder, result)) {
        free(result);
        *kind = fault_of(outcome, folder, message);
        return CL_FAULT;
    }
    graded->attempt = empty_attempt(class, task);
    read_attempt(result, outcome, &graded->attempt);
    read_checks(result, graded);
    read_inferences(result, graded);
    const bool noisy = read_timings(result, graded), again = needs_quiet(result, graded, noisy);
    free(result);
    graded->artefacts.row = calloc(4, sizeof *graded->artefacts.row);
    add_artefact(graded, class, task, "source", strrchr(task->source, '/') + 1);
    add_artefact(graded, class, task, "json", "result.json");
    add_artefact(graded, class, task, "report", "report");
    add_artefact(graded, class, task, "log", "log.txt");
    const char *status = status_of(graded, outcome->status);
    if (!status) {
        *kind = fault_of(outcome, folder, message);
        gb_graded_free(graded);
        return CL_FAULT;
    }
    graded->attempt.status = strdup(status);
    graded->attempt.message = first_trouble(graded, status);
    graded->attempt.noisy = noisy;
    graded->attempt.alone = task->alone;
    return again ? CL_NOISY : CL_GRADED;
}
