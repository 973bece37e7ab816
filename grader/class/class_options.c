#include "grader/class/class_options.h"

#include "base/files.h"
#include "grader/class/download.h"
#include "grader/course/milestone.h"
#include "grader/course/rubric.h"
#include "grader/standing/deadlines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void take_date(void *to, char *text, const struct option_row *row, struct argp_state *state)
{
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                                          "%Y-%m-%d"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm date = {.tm_isdst = -1};
        const char *end = strptime(text, formats[i], &date);
        if (end && !*end) {
            *(int64_t *)to = mktime(&date);
            return;
        }
    }
    argp_error(state, "--%s: expected a date like 2026-10-31 or '2026-10-31 23:59', got '%s'",
               row->name, text);
}

static void take_due(void *to, char *text, const struct option_row *row, struct argp_state *state)
{
    if (!sd_time_read(text, NAN, to))
        argp_error(state,
                   "--%s: expected a time with its zone like 2026-10-31T23:59+01:00, got '%s'",
                   row->name, text);
}

static void take_seed(void *arguments, char *text, const struct option_row *row,
                      struct argp_state *state)
{
    struct cl_options *o = arguments;
    o->seed = option_number(text, row, state);
    o->seed_given = true;
}

static void check_change(const struct cl_options *o, struct argp_state *state)
{
    char word[16];
    for (const char *at = o->change; at && cl_list_next(&at, word, sizeof word);) {
        size_t i = 0;
        while (i < CL_KEPT && strcmp(cl_kept_names[i], word) != 0)
            i++;
        if (i == CL_KEPT)
            argp_error(state, "--change: expected images, model, shapes, device or quick, got '%s'",
                       word);
    }
}

static void check(void *arguments, struct argp_state *state)
{
    const struct cl_options *o = arguments;
    check_change(o, state);
    if (o->task) { /* started by Slurm through slurm_schedule.c */
        if (!o->list || o->dir)
            argp_error(state, "--task needs --list and takes no folder");
        return;
    }
    if (!o->slurm && (o->gpus || o->partition || o->array_limit || o->slurm_options))
        argp_error(state, "--gpus, --partition, --array-limit and --slurm-options need --slurm");
    if (!o->dir)
        argp_error(state, "expected the folder of the class's submissions");
    if (!o->milestone_list)
        argp_error(state, "expected --milestones, for example: --milestones m1,m3");
}

#define TO(kind, ...) OPTION_##kind(struct cl_options, __VA_ARGS__)
static const struct option_row rows[] = {
    {"milestones", 'm', "m1,m3", "the milestones to grade", TO(TEXT, milestone_list)},
    {"jobs", 'j', "N",
     "number of gradings at once (default: the number of cores, or fewer if memory is short); they take turns to measure times on a GPU",
     TO(NUMBER, jobs, 1, 256)},
    {"gradebook", 'g', "FILE", "the file that stores the grades (default: gradebook.db)",
     TO(TEXT, gradebook)},
    {"roster", 'r', "FILE", "CSV file of the students who should submit: name,team,...",
     TO(TEXT, roster)},
    {"from", 0, "PLATFORM",
     "the source of DIR: plain, canvas, moodle or gradescope (default: recognised by the names)",
     TO(WORD, form, cl_form_names)},
    {"accept-near", 0, NULL,
     "if a milestone's file has another name, grade the only plausible one (Conv.c, conv1.c, conv.c.txt)",
     TO(FLAG, accept_near)},
    {"page", 0, "FILE",
     "write the class's page to this file and keep it up to date during the grading (see grader overview)",
     TO(TEXT, page)},
    {"due", 0, "TIME", "due date of these milestones, with its zone: 2026-10-31T23:59+01:00",
     TO(TAKE, due_s, take_due)},
    {"deadlines", 0, "FILE",
     "file with due dates, extensions, slip days and the cost of lateness (see grader late)",
     TO(TEXT, deadlines)},
    {.value = "folder", TO(OPERAND, dir)},
    OPTION_GROUP("Which submissions:"),
    {"only", 0, "NAME,...", "only these submissions", TO(TEXT, only)},
    {"since", 0, "DATE", "only submissions changed since then (YYYY-MM-DD[ HH:MM])",
     TO(TAKE, since, take_date)},
    {"regrade", 0, NULL, "include submissions whose grade is up to date", TO(FLAG, regrade)},
    OPTION_GROUP("How to grade them:"),
    {"seed", 0, "N",
     "seed from which the seeds of all gradings are computed (default: the gradebook's, random when it is created); submissions graded with another seed are graded again",
     OPTION_TAKE_ALL(take_seed), .most = UINT64_MAX},
    {"shapes", 0, "FILE", "as in grader mN", TO(TEXT, shapes)},
    {"quick", 0, NULL, "as in grader mN", TO(FLAG, quick)},
    {"change", 0, "NAME,...",
     "options (images, model, shapes, device, quick) that replace the gradebook's; all others must equal the gradebook's",
     TO(TEXT, change)},
    {"retries", 0, "N", "number of further tries after a fault of the machine (default: 2)",
     TO(NUMBER, retries, 0, 100)},
    {"limit", 0, "SECONDS", "time limit of one grading (default: 7200)",
     TO(NUMBER, limit_s, 1, 1000000)},
    {"timing-cores", 0, "N",
     "cores reserved for measuring CPU times (default: half of the cores; with fewer than four, measurements use all cores while other gradings wait)",
     TO(NUMBER, timing_cores, 1, 1024)},
    {"cpu-times", 0, NULL,
     "measure m1's times at all sizes, one grading at a time, alternating with the reference (default: only at the smallest size, while other gradings run)",
     TO(FLAG, cpu_times)},
    {"no-sandbox", 0, NULL, "grade even without a sandbox", TO(FLAG, no_sandbox)},
    GR_OPTION_ROWS(offsetof(struct cl_options, asked)),
    OPTION_GROUP("On a cluster:"),
    {"slurm", 0, NULL, "run as Slurm job arrays, with a task per submission and milestone",
     TO(FLAG, slurm)},
    {"gpus", 0, "N", "GPUs of each task (default: none)", TO(NUMBER, gpus, 1, 64)},
    {"partition", 0, "NAME", "Slurm partition (default: the cluster's)", TO(TEXT, partition)},
    {"array-limit", 0, "N", "largest number of tasks at once", TO(NUMBER, array_limit, 1, 100000)},
    {"slurm-options", 0, "'...'", "further options of sbatch, such as '--cpus-per-task=4 --mem=8G'",
     TO(TEXT, slurm_options)},
    {"task", 0, "N", NULL, TO(NUMBER, task, 1, 10000000)},
    {"list", 0, "FILE", NULL, TO(TEXT, list)},
    {0}};
#undef TO

static void add_word(char *to, size_t room, const char *word)
{
    size_t used = strlen(to);
    snprintf(to + used, room - used, "%s%s", used ? " " : "", word);
}

void cl_options_parse(struct cl_options *options, int argc, char **argv)
{
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "DIR",
        .about =
            "Grade a class. DIR has a folder (NAME/m1-cpu-conv/conv.c), or a zip or tar file, for each student or team. After a stop or kill at any moment, run the same command again to resume."
            "\vEach grade is stored in the gradebook at once. Unchanged submissions are not graded again. Faults of the grader or the machine are reported as such and tried again.\n\n"
            "Exit status: 0 each submission has its grade, 2 some have none (or nothing could be graded)."};
    *options = (struct cl_options){.gradebook = GB_DEFAULT_PATH, .retries = 2, .limit_s = 7200};
    for (int i = 0; i < argc; i++)
        add_word(options->command, sizeof options->command, argv[i]);
    options_parse(&table, argc, argv, options);
}

size_t cl_options_passed(const struct cl_options *o, bool cuda, char images[GR_IMAGES_CHARS],
                         const char *words[CL_PASSED_WORDS])
{
    const char *const values[][2] = {
        {"--images", o->asked.sizes ? gr_options_images(&o->asked, images) : NULL},
        {"--model", o->asked.model},
        {"--shapes", o->shapes},
        {"--device", cuda ? o->asked.device : NULL},
        {"--engine", cuda ? o->asked.engine : NULL}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][1]) {
            words[n++] = values[i][0];
            words[n++] = values[i][1];
        }
    if (o->quick)
        words[n++] = "--quick";
    return n;
}

bool cl_is_selected(const struct cl_options *options, const char *name)
{
    char word[CL_NAME_BYTES];
    for (const char *at = options->only; at && cl_list_next(&at, word, sizeof word);)
        if (strcmp(word, name) == 0)
            return true;
    /* (a name that contains a comma can only be given alone) */
    return !options->only || strcmp(options->only, name) == 0;
}

struct gr_options cl_options_of(const struct cl_options *o, size_t m)
{
    struct gr_options one = gr_options_default();
    one.milestone = o->milestone[m].id;
    one.quick = o->quick;
    one.sizes_given = o->asked.sizes > 0;
    if (one.sizes_given) {
        one.sizes = o->asked.sizes;
        memcpy(one.images, o->asked.images, sizeof one.images);
    }
    gr_options_choose(&one, o->rubrics[m]);
    return one;
}

/* ---- milestones ----------------------------------------------------------------------------- */

static enum st_code hash_rubric(const char *path, char hex[SHA256_HEX], struct st_error *err)
{
    char *text;
    size_t bytes;
    enum st_code code = file_read(path, 1 << 20, &text, &bytes, err);
    if (code)
        return code;
    sha256_hex(text, bytes, hex);
    free(text);
    return ST_OK;
}

static enum st_code add_milestone(struct cl_options *o, const char *id, struct st_error *err)
{
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    for (size_t i = 0; i < o->milestones; i++)
        if (strcmp(o->milestone[i].id, id) == 0)
            return ST_OK;
    if (o->milestones == HI_MAX_MILESTONES)
        return st_fail(err, ST_USAGE, "more than %d milestones", HI_MAX_MILESTONES);
    enum st_code code = gr_milestone_find(&milestone, id, err);
    if (!code && milestone.libraries)
        return st_fail(err, ST_USAGE, "%s has no file to hand in", id);
    if (!code)
        code = gr_rubric_load(&rubric, milestone.rubric, err);
    if (code)
        return code;
    o->rubrics[o->milestones] = rubric;
    struct hi_wanted *wanted = &o->milestone[o->milestones];
    snprintf(wanted->id, sizeof wanted->id, "%s", milestone.id);
    snprintf(wanted->folder, sizeof wanted->folder, "%s", milestone.folder);
    snprintf(wanted->file, sizeof wanted->file, "%s", milestone.file);
    for (unsigned i = 0; i < rubric->items_count; i++)
        if (rubric->items[i].kind == GR_AUTOMATIC)
            o->max_score[o->milestones] += rubric->items[i].points;
    return hash_rubric(milestone.rubric, o->rubric[o->milestones++], err);
}

enum st_code cl_options_milestones(struct cl_options *o, struct st_error *err)
{
    enum st_code code = ST_OK;
    char id[16];
    for (const char *at = o->milestone_list; !code && cl_list_next(&at, id, sizeof id);)
        code = add_milestone(o, id, err);
    if (!code && !o->milestones)
        code = st_fail(err, ST_USAGE, "--milestones names no milestone");
    return code;
}
