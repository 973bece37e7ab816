/* The loop of a class on a cluster:
 *
 * 1. The loop waits for tasks that an earlier run submitted and that Slurm still has, and reads the
 * outcomes of tasks that have ended.
 * 2. All other tasks are submitted, in as few arrays as Slurm's limit allows.
 * 3. An outcome is read and its grade is stored as soon as it appears.
 * 4. A task that the cluster lost (states.def), or that ended without an outcome, is not the
 *    submission's fault: it is submitted again in another array, at most --retries times. Slurm
 *    itself requeues preempted tasks; this is only reported.
 * 5. A task with noisy times is submitted again, alone on its node.
 *
 * Arrays are queried by their names, which are made from the gradebook's folder, so that no job
 * number needs to be saved. */
#include "grader/class/slurm_schedule.h"

#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/class/class_options.h"
#include "grader/class/slurm_files.h"
#include "grader/slurm/slurm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BATCHES = 4096, SUBMIT_TRIES = 5 };

/* ASK_S: the time between two queries to Slurm, whose controller also serves others. GRACE_S: how
 * long the outcome of a task that Slurm has ended may take to appear on a shared file system. */
static const double ASK_S = 3, GRACE_S = 20;

enum progress { TO_SUBMIT, THERE, STORED };

struct place {
    enum progress progress;
    size_t batch, index; /* row of the batch's list, from 1 */
    double gone_s;       /* time since which Slurm no longer has it; 0: Slurm has it */
    char state[24];      /* Slurm's state when the task ended */
    const char *text;
    enum sl_meaning meaning;
    char key[CL_KEY_CHARS];
};

struct cluster {
    struct cl_class *class;
    struct cl_task *tasks;
    struct cl_counts *counts;
    struct place *place;
    size_t n, room, batches; /* array indices are less than room; batches: number submitted */
    char name[64];           /* prefix of the arrays' names */
};

/* ---- arrays ---------------------------------------------------------------------------------- */

static void batch_name(const struct cluster *c, size_t batch, char name[96])
{
    snprintf(name, 96, "%s-%zu", c->name, batch);
}

/* Writes a word quoted for a shell. */
static void put_quoted(FILE *out, const char *text)
{
    fputs(" '", out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

static enum st_code write_script(const struct cluster *c, size_t batch, char path[PATH_MAX],
                                 struct st_error *err)
{
    const struct cl_options *o = c->class->options;
    const char *build = checkout_build(err);
    char program[PATH_MAX], list[PATH_MAX], images[GR_IMAGES_CHARS];
    const char *words[CL_PASSED_WORDS];
    struct file_out out;
    if (!build)
        return err->code;
    path_format(program, sizeof program, "%s/grader", build);
    cl_slurm_path(c->class->files, list, "batch-%zu.tsv", batch);
    cl_slurm_path(c->class->files, path, "batch-%zu.sh", batch);
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fputs("#!/bin/sh\nexec", out.f);
    put_quoted(out.f, program);
    fputs(" class --task \"$SLURM_ARRAY_TASK_ID\" --list", out.f);
    put_quoted(out.f, list);
    fprintf(out.f, " --limit %zu%s%s", o->limit_s, o->no_sandbox ? " --no-sandbox" : "",
            o->cpu_times ? " --cpu-times" : "");
    const size_t n = cl_options_passed(o, true, images, words);
    for (size_t i = 0; i < n; i++)
        put_quoted(out.f, words[i]);
    fputc('\n', out.f);
    return file_out_commit(&out, err);
}

/* Submits one array. Its list is written before Slurm knows the array, so that no array lacks its
 * list. */
static enum st_code submit_batch(struct cluster *c, const size_t *which, size_t n, bool exclusive,
                                 struct st_error *err)
{
    const struct cl_options *o = c->class->options;
    char name[96], script[PATH_MAX], log[PATH_MAX];
    size_t batch = c->batches + 1;
    batch_name(c, batch, name);
    cl_slurm_path(c->class->files, log, "batch-%zu-%%a.log", batch);
    enum st_code code = cl_batch_write(c->class->files, batch, c->tasks, which, n, o->flags, err);
    if (!code)
        code = write_script(c, batch, script, err);
    if (code)
        return code;
    const struct sl_job job = {.name = name,
                               .script = script,
                               .log = log,
                               .partition = o->partition,
                               .options = o->slurm_options,
                               .gpus = o->gpus,
                               .at_once = o->array_limit,
                               .exclusive = exclusive,
                               /* (the limit inside the job is reached first) */
                               .minutes = o->limit_s / 60 + 5};
    for (int try = 0; try < SUBMIT_TRIES; try++) {
        code = sl_submit(&job, n, err);
        if (code != ST_CHILD || cl_tasks_stopped(c->counts))
            break;
        nanosleep(&(struct timespec){.tv_sec = 2 << try},
                  NULL); /* the controller may be restarting */
    }
    if (code)
        return code;
    c->batches = batch;
    for (size_t i = 0; i < n; i++) {
        struct place *place = &c->place[which[i]];
        *place = (struct place){.progress = THERE, .batch = batch, .index = i + 1};
        cl_slurm_key(&c->tasks[which[i]], o->flags, place->key);
        c->tasks[which[i]].tries++;
    }
    return ST_OK;
}

/* Submits tasks; those that need a whole node come first. */
static enum st_code submit(struct cluster *c, struct st_error *err)
{
    enum st_code code = ST_OK;
    size_t *which = calloc(c->n + 1, sizeof *which);
    if (!which)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class's tasks");
    for (int alone = 1; alone >= 0; alone--) {
        size_t at = 0;
        while (!code && at < c->n) {
            size_t n = 0;
            for (; at < c->n && n < c->room - 1; at++)
                if (c->place[at].progress == TO_SUBMIT && c->tasks[at].alone == alone)
                    which[n++] = at;
            if (n)
                code = submit_batch(c, which, n, alone, err);
        }
    }
    free(which);
    return code;
}

/* ---- an earlier run's batches ---------------------------------------------------------------- */

static size_t last_batch(const char *files)
{
    char folder[PATH_MAX];
    long last;
    cl_slurm_folder(files, folder);
    return folder_numbers(folder, "batch-", ".tsv", &last, 1) ? (size_t)last : 0;
}

static size_t task_with_key(const struct cluster *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->place[i].progress == TO_SUBMIT && strcmp(c->place[i].key, key) == 0)
            return i;
    return c->n;
}

/* Adopts the tasks of one array that Slurm still has, or that it has lost. */
static enum st_code adopt_batch(struct cluster *c, size_t batch, size_t *adopted,
                                struct st_error *err)
{
    char(*keys)[CL_KEY_CHARS], name[96];
    struct sl_states states = {0};
    size_t n;
    struct st_error ignored;
    if (cl_batch_keys(c->class->files, batch, &keys, &n, &ignored))
        return ST_OK; /* the list was removed or is damaged: the batch is unknown, and no grade is
                         lost */
    batch_name(c, batch, name);
    enum st_code code = sl_query(name, &states, err);
    for (size_t i = 0; !code && i < states.n; i++) {
        const struct sl_task_state *state = &states.row[i];
        if ((state->meaning != SL_THERE && state->meaning != SL_LOST) || state->task < 1 ||
            state->task > n)
            continue;
        size_t task = task_with_key(c, keys[state->task - 1]);
        if (task == c->n)
            continue;
        c->place[task].progress = THERE;
        c->place[task].batch = batch;
        c->place[task].index = state->task;
        c->tasks[task].tries++;
        ++*adopted;
    }
    free(states.row);
    free(keys);
    return code;
}

/* Adopts tasks of earlier runs, even tasks that ended while no collector ran. */
static enum st_code adopt(struct cluster *c, struct st_error *err)
{
    size_t adopted = 0, ended = 0;
    enum st_code code = ST_OK;
    c->batches = last_batch(c->class->files);
    for (size_t i = 0; i < c->n; i++) {
        char path[PATH_MAX];
        if (c->place[i].progress == STORED)
            continue;
        cl_slurm_key(&c->tasks[i], c->class->options->flags, c->place[i].key);
        cl_slurm_path(c->class->files, path, "%s.outcome", c->place[i].key);
        if (file_exists(path)) {
            c->place[i].progress = THERE;
            c->tasks[i].tries++;
            ended++;
        }
    }
    for (size_t batch = c->batches; !code && batch > 0 && c->batches - batch < MAX_BATCHES; batch--)
        code = adopt_batch(c, batch, &adopted, err);
    if (!code && (adopted || ended))
        printf("Tasks of an earlier run: Slurm still has %zu, %zu have ended\n", adopted, ended);
    return code;
}

/* ---- ended tasks ----------------------------------------------------------------------------- */

static void forget_files(const struct cluster *c, size_t i)
{
    char path[PATH_MAX];
    cl_slurm_path(c->class->files, path, "%s.outcome", c->place[i].key);
    unlink(path);
    cl_slurm_path(c->class->files, path, "%s.starts", c->place[i].key);
    unlink(path);
}

static void fault(struct cluster *c, size_t i, const char *kind, const char *message)
{
    forget_files(c, i);
    c->place[i].progress =
        cl_fault(c->class, &c->tasks[i], kind, message, c->counts) ? TO_SUBMIT : STORED;
}

/* Reports that Slurm started the task more than once: it was preempted, its node was lost, or
 * somebody requeued it. */
static void tell_restarts(struct cluster *c, size_t i)
{
    char where[256], message[512], shown[CL_SHOWN_BYTES];
    size_t starts = cl_starts_read(c->class->files, c->place[i].key, where);
    if (starts < 2)
        return;
    snprintf(message, sizeof message, "Slurm started it %zu times: %s", starts, where);
    cl_store_fault(c->class, &c->tasks[i], "requeued", message);
    progress_clear();
    fprintf(stderr, "grader class: %s %s: a fault of the machine: %s\n",
            cl_name_shown(shown, c->tasks[i].submission), c->tasks[i].milestone, message);
    c->counts->retried += starts - 1;
    c->tasks[i].tries += starts - 1;
}

/* Collects an outcome. @return whether there was one. */
static bool collect(struct cluster *c, size_t i)
{
    struct cl_task *task = &c->tasks[i];
    struct cl_outcome outcome;
    char said[512];
    struct st_error err;
    enum st_code code = cl_outcome_read(c->class->files, c->place[i].key, &outcome, said, &err);
    if (code == ST_NOT_FOUND)
        return false;
    if (code || *said) {
        fault(c, i, "not_started", code ? err.what : said);
        return true;
    }
    tell_restarts(c, i);
    const enum cl_next next = cl_task_ended(c->class, task, &outcome, c->counts);
    if (next != CL_DONE)
        forget_files(c, i);
    c->place[i].progress = next == CL_DONE ? STORED : TO_SUBMIT;
    return true;
}

/* Finds the last line of the log, for a task that ended without an outcome. */
static void last_words(const struct cluster *c, size_t i, char message[512])
{
    char path[PATH_MAX], *text;
    size_t bytes;
    snprintf(message, 512, "the task ended without a result (%s)", c->place[i].state);
    cl_slurm_path(c->class->files, path, "batch-%zu-%zu.log", c->place[i].batch, c->place[i].index);
    if (file_read(path, 1 << 20, &text, &bytes, NULL))
        return;
    while (bytes && isspace((unsigned char)text[bytes - 1]))
        text[--bytes] = '\0';
    const char *newline = strrchr(text, '\n');
    if (bytes)
        snprintf(message, 512, "%.480s (%s)", newline ? newline + 1 : text, c->place[i].state);
    free(text);
}

/* Handles a task that Slurm has ended but that left no outcome. */
static void lost(struct cluster *c, size_t i)
{
    const struct place *place = &c->place[i];
    char kind[24], message[512];
    if (place->meaning == SL_LOST) {
        for (size_t j = 0; j < sizeof kind; j++)
            kind[j] = (char)tolower((unsigned char)place->state[j]);
        fault(c, i, kind, place->text);
        return;
    }
    if (place->meaning == SL_UNKNOWN) {
        fault(c, i, "forgotten",
              "Slurm no longer knows the task (was it cancelled while it waited?)");
        return;
    }
    last_words(c, i, message);
    fault(c, i, "no_result", message);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void take_state(struct cluster *c, size_t batch, const struct sl_task_state *state)
{
    for (size_t i = 0; i < c->n; i++) {
        struct place *place = &c->place[i];
        if (place->progress != THERE || place->batch != batch || place->index != state->task)
            continue;
        place->meaning = state->meaning;
        place->text = state->text;
        strcpy(place->state, state->name);
        if (state->meaning == SL_THERE || state->meaning == SL_UNKNOWN)
            place->gone_s = 0;
        else if (place->gone_s == 0)
            place->gone_s = clock_now_s();
    }
}

/* Queries Slurm for a batch. Slurm forgets ended tasks, so a task that is missing in its answer
 * counts as ended until a later answer contains it. */
static void ask_batch(struct cluster *c, size_t batch)
{
    char name[96];
    struct sl_states states;
    struct st_error err;
    batch_name(c, batch, name);
    if (sl_query(name, &states, &err))
        return; /* no answer does not mean that the tasks have ended: Slurm may answer later */
    for (size_t i = 0; i < c->n; i++) {
        struct place *place = &c->place[i];
        if (place->progress != THERE || place->batch != batch)
            continue;
        place->meaning = SL_UNKNOWN;
        strcpy(place->state, "forgotten");
        if (place->gone_s == 0)
            place->gone_s = clock_now_s();
    }
    for (size_t i = 0; i < states.n; i++)
        take_state(c, batch, &states.row[i]);
    free(states.row);
}

static void ask(struct cluster *c)
{
    for (size_t batch = c->batches; batch > 0; batch--) {
        bool wanted = false;
        for (size_t i = 0; i < c->n; i++)
            wanted |= c->place[i].progress == THERE && c->place[i].batch == batch;
        if (wanted)
            ask_batch(c, batch);
    }
}

/* Collects outcomes. @return the number of tasks whose grade is not stored yet. */
static size_t look(struct cluster *c)
{
    size_t left = 0;
    for (size_t i = 0; i < c->n && !cl_tasks_stopped(c->counts); i++) {
        struct place *place = &c->place[i];
        if (place->progress == THERE && !collect(c, i) && place->gone_s > 0 &&
            clock_now_s() - place->gone_s > (place->meaning == SL_LOST ? ASK_S : GRACE_S))
            lost(c, i);
        left += place->progress != STORED;
    }
    return left;
}

static enum st_code run(struct cluster *c, struct st_error *err)
{
    double asked_s = 0;
    enum st_code code = adopt(c, err);
    while (!code && look(c) && !cl_tasks_stopped(c->counts)) {
        code = submit(c, err);
        if (!code && clock_now_s() - asked_s > ASK_S) {
            ask(c);
            asked_s = clock_now_s();
        }
        progress_show("class: stored", c->counts->stored, c->n);
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    progress_clear();
    return code;
}

/* Cleans up after everything is stored: the folder is no longer needed, except for logs of
 * faults. */
static void clean(const struct cluster *c)
{
    char folder[PATH_MAX];
    cl_slurm_folder(c->class->files, folder);
    if (c->counts->stored == c->n && !c->counts->fault)
        tree_remove(folder);
}

enum st_code cl_tasks_run_slurm(struct cl_class *class, struct cl_task *tasks, size_t n,
                                struct cl_counts *counts, struct st_error *err)
{
    struct cluster c = {.class = class, .tasks = tasks, .counts = counts, .n = n};
    char folder[PATH_MAX], hex[SHA256_HEX];
    c.place = calloc(n + 1, sizeof *c.place);
    if (!c.place)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class's tasks");
    sha256_hex(class->files, strlen(class->files), hex);
    snprintf(c.name, sizeof c.name, "convlab-%.12s", hex);
    cl_tasks_begin(counts, n);
    for (size_t i = 0; i < n && !cl_tasks_stopped(counts); i++)
        if (cl_store_at_once(class, &tasks[i], counts))
            c.place[i].progress = STORED;
        else
            cl_task_resume(class, &tasks[i]);
    cl_slurm_path(class->files, folder, "run");
    enum st_code code = dir_make(folder, err);
    if (!code)
        code = sl_array_room(&c.room, err);
    if (!code)
        code = run(&c, err);
    if (!code)
        clean(&c);
    free(c.place);
    return code;
}
