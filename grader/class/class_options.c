#include "grader/class/class_options.h"

#include "base/files.h"
#include "base/parallel.h"
#include "grader/course/milestone.h"
#include "grader/course/rubric.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEY_MILESTONES = 'm',
    KEY_JOBS = 'j',
    KEY_GRADEBOOK = 'g',
    KEY_ROSTER = 'r',
    KEY_ONLY = 256,
    KEY_SINCE,
    KEY_SEED,
    KEY_REGRADE,
    KEY_SHAPES,
    KEY_QUICK,
    KEY_RETRIES,
    KEY_LIMIT,
    KEY_NO_SANDBOX,
    KEY_TIMING_CORES,
    KEY_SLURM,
    KEY_GPUS,
    KEY_PARTITION,
    KEY_ARRAY_LIMIT,
    KEY_SLURM_OPTIONS,
    KEY_TASK,
    KEY_LIST
};

static const struct argp_option option_table[] = {
    {"milestones", KEY_MILESTONES, "m1,m3", 0, "which to grade", 0},
    {"jobs", KEY_JOBS, "N", 0, "gradings at once (default: the cores); times are taken one by one",
     0},
    {"gradebook", KEY_GRADEBOOK, "FILE", 0, "where grades are stored (default: gradebook.db)", 0},
    {"roster", KEY_ROSTER, "FILE", 0, "who is expected to hand in: CSV with name,team,...", 0},
    {0, 0, 0, 0, "Which submissions:", 1},
    {"only", KEY_ONLY, "NAME,...", 0, "only these", 0},
    {"since", KEY_SINCE, "DATE", 0, "only what was changed since (YYYY-MM-DD[ HH:MM])", 0},
    {"regrade", KEY_REGRADE, 0, 0, "also those whose grade is up to date", 0},
    {0, 0, 0, 0, "How they are graded:", 2},
    {"seed", KEY_SEED, "N", 0,
     "seed that those of all gradings are made from (default: the gradebook's own, fresh when it "
     "is made); grades of another are made again",
     0},
    {"shapes", KEY_SHAPES, "FILE", 0, "as of grader mN", 0},
    {"quick", KEY_QUICK, 0, 0, "as of grader mN", 0},
    {"retries", KEY_RETRIES, "N", 0,
     "how often a fault that is not the submission's is tried "
     "again (default: 2)",
     0},
    {"limit", KEY_LIMIT, "SECONDS", 0, "the longest that one grading may take (default: 3600)", 0},
    {"timing-cores", KEY_TIMING_CORES, "N", 0,
     "cores that only times of the CPU use (default: half of them if there are at least four; "
     "with fewer, all cores, while the other gradings wait)",
     0},
    {"no-sandbox", KEY_NO_SANDBOX, 0, 0, "go on where there is no sandbox", 0},
    {0, 0, 0, 0, "On a cluster:", 3},
    {"slurm", KEY_SLURM, 0, 0, "as Slurm's job arrays, a submission's milestone a task", 3},
    {"gpus", KEY_GPUS, "N", 0, "GPUs of each task (default: none)", 3},
    {"partition", KEY_PARTITION, "NAME", 0, "Slurm's partition (default: the cluster's)", 3},
    {"array-limit", KEY_ARRAY_LIMIT, "N", 0, "at most so many tasks at once", 3},
    {"slurm-options", KEY_SLURM_OPTIONS, "'...'", 0,
     "further options of sbatch, such as '--cpus-per-task=4 --mem=8G'", 3},
    {"task", KEY_TASK, "N", OPTION_HIDDEN, 0, 3},
    {"list", KEY_LIST, "FILE", OPTION_HIDDEN, 0, 3},
    {0}};

static unsigned long parse_number(const char *name, const char *text, unsigned long least,
                                  unsigned long most, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < least || n > most)
        argp_error(state, "--%s: expected a whole number from %lu to %lu, got '%s'", name, least,
                   most, text);
    return n;
}

static int64_t parse_date(const char *text, struct argp_state *state)
{
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                                          "%Y-%m-%d"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm date = {.tm_isdst = -1};
        const char *end = strptime(text, formats[i], &date);
        if (end && !*end)
            return mktime(&date);
    }
    argp_error(state, "--since: expected a date like 2026-10-31 or '2026-10-31 23:59', got '%s'",
               text);
    return 0;
}

static void check(struct cl_options *o, struct argp_state *state)
{
    if (o->task) { /* what slurm_schedule.c makes Slurm start */
        if (!o->list || o->dir)
            argp_error(state, "--task takes --list and no folder");
        return;
    }
    if (!o->slurm && (o->gpus || o->partition || o->array_limit || o->slurm_options))
        argp_error(state, "--gpus, --partition, --array-limit and --slurm-options need --slurm");
    if (!o->dir)
        argp_error(state, "expected the folder with the class's submissions");
    if (!o->milestone_list)
        argp_error(state, "expected --milestones, for example: --milestones m1,m3");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct cl_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->asked;
        return 0;
    case KEY_MILESTONES:
        o->milestone_list = arg;
        return 0;
    case KEY_JOBS:
        o->jobs = parse_number("jobs", arg, 1, 256, state);
        return 0;
    case KEY_GRADEBOOK:
        o->gradebook = arg;
        return 0;
    case KEY_ROSTER:
        o->roster = arg;
        return 0;
    case KEY_ONLY:
        o->only = arg;
        return 0;
    case KEY_SINCE:
        o->since = parse_date(arg, state);
        return 0;
    case KEY_SEED:
        o->seed = parse_number("seed", arg, 0, ~0ul, state);
        o->seed_given = true;
        return 0;
    case KEY_REGRADE:
        o->regrade = true;
        return 0;
    case KEY_SHAPES:
        o->shapes = arg;
        return 0;
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_RETRIES:
        o->retries = parse_number("retries", arg, 0, 100, state);
        return 0;
    case KEY_LIMIT:
        o->limit_s = (double)parse_number("limit", arg, 1, 1000000, state);
        return 0;
    case KEY_TIMING_CORES:
        o->timing_cores = parse_number("timing-cores", arg, 1, 1024, state);
        return 0;
    case KEY_NO_SANDBOX:
        o->no_sandbox = true;
        return 0;
    case KEY_SLURM:
        o->slurm = true;
        return 0;
    case KEY_GPUS:
        o->gpus = parse_number("gpus", arg, 1, 64, state);
        return 0;
    case KEY_PARTITION:
        o->partition = arg;
        return 0;
    case KEY_ARRAY_LIMIT:
        o->array_limit = parse_number("array-limit", arg, 1, 100000, state);
        return 0;
    case KEY_SLURM_OPTIONS:
        o->slurm_options = arg;
        return 0;
    case KEY_TASK:
        o->task = parse_number("task", arg, 1, 10000000, state);
        return 0;
    case KEY_LIST:
        o->list = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            argp_error(state, "expected one folder, got '%s' and '%s'", o->dir, arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        check(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void add_word(char *to, size_t room, const char *word)
{
    size_t used = strlen(to);
    snprintf(to + used, room - used, "%s%s", used ? " " : "", word);
}

void cl_options_parse(struct cl_options *options, int argc, char **argv)
{
    static const struct argp_child children[] = {{&gr_options_common, 0, NULL, 2}, {0}};
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .args_doc = "DIR",
        .doc =
            "Grade a class. In DIR: a folder (NAME/m1-cpu-conv/conv.c), or a zip or tar file, for "
            "each student or team. Stopped or killed at any moment, the same command goes on "
            "where it was."
            "\vEach grade is stored in the gradebook as soon as it is there; what was graded "
            "before and has not changed is not graded again. The grader's own faults are tried "
            "again and are told apart.\n\n"
            "Exit status: 0 each submission has its grade, 2 some have not (or nothing could be "
            "graded)."};
    *options = (struct cl_options){.gradebook = "gradebook.db",
                                   .jobs = (size_t)parallel_cores(),
                                   .retries = 2,
                                   .limit_s = 3600};
    for (int i = 0; i < argc; i++)
        add_word(options->command, sizeof options->command, argv[i]);
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, options);
}

size_t cl_options_passed(const struct cl_options *o, bool cuda, char images[GR_IMAGES_CHARS],
                         const char *words[CL_PASSED_WORDS])
{
    const char *const values[][2] = {
        {"--images", o->asked.sizes ? gr_options_images(&o->asked, images) : NULL},
        {"--model", o->asked.model},
        {"--shapes", o->shapes},
        {"--device", cuda ? o->asked.device : NULL}};
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
    size_t length = strlen(name);
    for (const char *p = options->only; p && *p; p += strcspn(p, ",") + (strchr(p, ',') != NULL))
        if (strcspn(p, ",") == length && strncmp(p, name, length) == 0)
            return true;
    /* (a name with a comma is named alone) */
    return !options->only || strcmp(options->only, name) == 0;
}

/* ---- milestones ----------------------------------------------------------------------------- */

static enum st_code hash_rubric(const char *path, char hex[SHA256_HEX], struct st_error *err)
{
    char *text;
    size_t bytes;
    struct sha256 hash;
    enum st_code code = file_read(path, 1 << 20, &text, &bytes, err);
    if (code)
        return code;
    sha256_begin(&hash);
    sha256_add(&hash, text, bytes);
    sha256_end_hex(&hash, hex);
    free(text);
    return ST_OK;
}

static enum st_code add_milestone(struct cl_options *o, const char *id, struct st_error *err)
{
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    enum st_code code = gr_milestone_find(&milestone, id, err);
    if (!code && milestone.libraries)
        return st_fail(err, ST_USAGE, "%s has nothing that is handed in", id);
    if (!code)
        code = gr_rubric_load(&rubric, milestone.rubric, err);
    if (code)
        return code;
    for (size_t i = 0; i < o->milestones; i++)
        if (strcmp(o->milestone[i].id, id) == 0) {
            gr_rubric_free(rubric);
            return ST_OK;
        }
    if (o->milestones == CL_MAX_MILESTONES) {
        gr_rubric_free(rubric);
        return st_fail(err, ST_USAGE, "more than %d milestones", CL_MAX_MILESTONES);
    }
    struct cl_wanted *wanted = &o->milestone[o->milestones];
    snprintf(wanted->id, sizeof wanted->id, "%s", milestone.id);
    snprintf(wanted->folder, sizeof wanted->folder, "%s", milestone.folder);
    snprintf(wanted->file, sizeof wanted->file, "%s", milestone.cuda ? "conv.cu" : "conv.c");
    for (unsigned i = 0; i < rubric->items_count; i++)
        if (rubric->items[i].kind == GR_AUTOMATIC)
            o->max_score[o->milestones] += rubric->items[i].points;
    gr_rubric_free(rubric);
    return hash_rubric(milestone.rubric, o->rubric[o->milestones++], err);
}

enum st_code cl_options_milestones(struct cl_options *o, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (const char *p = o->milestone_list; !code && *p;) {
        char id[16];
        size_t length = strcspn(p, ",");
        snprintf(id, sizeof id, "%.*s", (int)length, p);
        code = add_milestone(o, id, err);
        p += length + (p[length] == ',');
    }
    if (!code && !o->milestones)
        code = st_fail(err, ST_USAGE, "--milestones names none");
    return code;
}
