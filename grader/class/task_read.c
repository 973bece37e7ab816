/* What a grading left, as rows of the gradebook. Only result.json is believed, and only if it is of
 * this milestone and seed. */
#include "grader/class/task.h"

#include "base/files.h"
#include "base/median.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_JSON_BYTES = 16 << 20, MAX_LOG_BYTES = 1 << 20 };

/* An Op Time known less well than this is noisy. */
static const double NOISE = 0.1;

/* ---- JSON ----------------------------------------------------------------------------------- */

static char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return strdup(cJSON_IsString(item) ? item->valuestring : "");
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int64_t whole_of(const cJSON *object, const char *name)
{
    double value = number_of(object, name);
    return isfinite(value) ? (int64_t)value : 0;
}

static bool is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static const cJSON *list_of(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static size_t length_of(const cJSON *list)
{
    return cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void read_checks(const cJSON *root, struct gb_graded *graded)
{
    const cJSON *list = list_of(root, "checks"), *item;
    graded->checks.row = calloc(length_of(list) + 1, sizeof *graded->checks.row);
    cJSON_ArrayForEach(item, list)
    {
        struct gb_check_result *row = &graded->checks.row[graded->checks.n++];
        *row = (struct gb_check_result){.position = (int64_t)graded->checks.n,
                                        .name = text_of(item, "name"),
                                        .text = text_of(item, "text"),
                                        .status = text_of(item, "status"),
                                        .points = number_of(item, "points"),
                                        .max_points = number_of(item, "max_points"),
                                        .required = is_true(item, "required"),
                                        .pattern = text_of(item, "pattern"),
                                        .message = text_of(item, "message"),
                                        .hint = text_of(item, "hint")};
    }
}

static void read_inferences(const cJSON *root, struct gb_graded *graded)
{
    const cJSON *list = list_of(root, "inference"), *item;
    graded->inferences.row = calloc(length_of(list) + 1, sizeof *graded->inferences.row);
    cJSON_ArrayForEach(item, list)
    {
        graded->inferences.row[graded->inferences.n++] =
            (struct gb_inference){.model = text_of(item, "model"),
                                  .images = whole_of(item, "images"),
                                  .correctness = number_of(item, "correctness"),
                                  .expected_correctness = number_of(item, "expected_correctness"),
                                  .max_error = number_of(item, "max_error"),
                                  .passed = is_true(item, "passed")};
    }
}

enum noise { NOT_KNOWN, QUIET, NOISY };

/* The times of one convolution with blanks between. On the CPU the first of them has no warm-up
 * before it, and says nothing of noise.
 * @param noise  set to whether they are too far apart, if there are enough of them to tell */
static char *read_times(const cJSON *list, bool on_cpu, enum noise *noise)
{
    enum { MOST = 64, CHARS = 26 };
    char *text = calloc(MOST, CHARS);
    double sample[MOST];
    size_t n = 0, used = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (n == MOST || !cJSON_IsNumber(item) || !text)
            break;
        sample[n] = item->valuedouble;
        used +=
            (size_t)snprintf(text + used, MOST * CHARS - used, "%s%.9g", n ? " " : "", sample[n]);
        n++;
    }
    if (n > 2) {
        struct median m = median_of(sample + on_cpu, n - on_cpu);
        *noise = m.median > 0 && (m.high - m.low) / 2 > NOISE * m.median ? NOISY : QUIET;
    }
    return text;
}

/* @return whether a time of the submission's is noisy at the largest size that tells: speed and
 * ranking look at the largest, and the smallest take so short that they always are. */
static bool read_timings(const cJSON *root, struct gb_graded *graded)
{
    const cJSON *list = list_of(root, "timings"), *item;
    const cJSON *device = list_of(root, "device");
    const bool on_cpu = cJSON_IsString(device) && strcmp(device->valuestring, "cpu") == 0;
    int64_t largest = 0;
    bool any = false;
    graded->timings.row = calloc(length_of(list) + 1, sizeof *graded->timings.row);
    cJSON_ArrayForEach(item, list)
    {
        enum noise noise = NOT_KNOWN;
        struct gb_timing *row = &graded->timings.row[graded->timings.n++];
        *row = (struct gb_timing){.subject = text_of(item, "subject"),
                                  .model = text_of(item, "model"),
                                  .layer = whole_of(item, "layer"),
                                  .images = whole_of(list_of(item, "shape"), "B"),
                                  .gmac = number_of(item, "gmac"),
                                  .median_s = number_of(item, "median_s"),
                                  .op_times_s =
                                      read_times(list_of(item, "op_times_s"), on_cpu, &noise)};
        if (noise == NOT_KNOWN || strcmp(row->subject, "submission") != 0 || row->images < largest)
            continue;
        any = (any && row->images == largest) || noise == NOISY;
        largest = row->images;
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

/* The first line of a message; two, if it ends with a colon. */
static int line_length(const char *message)
{
    size_t length = strcspn(message, "\n");
    if (length && message[length - 1] == ':' && message[length])
        length += 1 + strcspn(message + length + 1, "\n");
    return (int)length;
}

/* The first check that failed, or that had to be skipped, in one line. */
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

static void read_attempt(const cJSON *root, const struct cl_outcome *o, struct gb_attempt *a)
{
    const cJSON *speed = list_of(root, "speed");
    a->score = number_of(root, "score");
    a->max_score = number_of(root, "max_score");
    a->manual_max = number_of(root, "manual_max");
    a->version = text_of(root, "version");
    a->device = text_of(root, "device");
    a->profile = text_of(root, "profile");
    a->machine = text_of(root, "machine");
    a->compiler = text_of(root, "compiler");
    a->timed_on = text_of(root, "timed_on");
    if (number_of(root, "timed_from") > 0) {
        a->timed_from = number_of(root, "timed_from");
        a->timed_until = number_of(root, "timed_until");
    }
    a->started = o->started;
    a->finished = o->finished;
    a->cpu_s = o->cpu_s;
    a->max_rss_kib = o->max_rss_kib;
    a->exit_status = o->status;
    a->speed_ratio = number_of(speed, "to_reference");
    a->speed_images = whole_of(speed, "images");
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

/* The status that the checks give, or NULL if the exit status says otherwise. */
static const char *status_of(const struct gb_graded *graded, int exit_status)
{
    if (has_failed(graded))
        return exit_status == 1 ? "fail" : NULL;
    if (has_check(graded, "skip"))
        return exit_status == 2 ? "skip" : NULL;
    return exit_status == 0 && graded->checks.n ? "pass" : NULL;
}

static bool is_of(const cJSON *root, const struct cl_task *task)
{
    char *milestone = text_of(root, "milestone");
    bool same =
        strcmp(milestone, task->milestone) == 0 && number_of(root, "seed") == (double)task->seed;
    free(milestone);
    return same;
}

/* ---- faults --------------------------------------------------------------------------------- */

/* The last line that the grader printed. */
static void last_line(const char *folder, char message[512])
{
    char path[PATH_MAX], *text;
    size_t bytes;
    snprintf(message, 512, "it printed nothing");
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
        snprintf(message, 512,
                 "it used more memory than Slurm gives a task (hint: "
                 "--slurm-options='--mem=4G')");
        return "out_of_memory";
    }
    if (o->timed_out) {
        snprintf(message, 512, "took longer than is allowed (--limit)");
        return "timeout";
    }
    if (o->signal) {
        snprintf(message, 512, "the grader was killed: %s (out of memory?)", strsignal(o->signal));
        return "killed";
    }
    last_line(folder, message);
    return o->status == 2 ? "not_graded" : "no_result";
}

static cJSON *read_json(const char *folder)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/result.json", folder) ||
        file_read(path, MAX_JSON_BYTES, &text, &bytes, NULL))
        return NULL;
    cJSON *root = cJSON_Parse(text);
    free(text);
    return root;
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
    cJSON *root = ended ? read_json(folder) : NULL;
    if (!root || !is_of(root, task)) {
        cJSON_Delete(root);
        *kind = fault_of(outcome, folder, message);
        return CL_FAULT;
    }
    graded->attempt = empty_attempt(class, task);
    read_attempt(root, outcome, &graded->attempt);
    read_checks(root, graded);
    read_inferences(root, graded);
    bool noisy = read_timings(root, graded);
    cJSON_Delete(root);
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
    return noisy || strcmp(status, "skip") == 0 ? CL_NOISY : CL_GRADED;
}
