#include "grader/slurm/slurm.h"

#include "base/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 48, MAX_OUTPUT_BYTES = 16 << 20 };

/* ---- running Slurm's commands ---------------------------------------------------------------- */

/* Runs a command. If the controller is busy or restarting, Slurm's commands themselves wait for
 * it. */
static enum st_code run(const char *const *argv, char **output, struct st_error *err)
{
    const struct process_options options = {.argv = argv, .output_bytes = MAX_OUTPUT_BYTES};
    struct process_end result;
    *output = NULL;
    enum st_code code = process_run(&options, &result, err);
    if (code == ST_MISSING_TOOL)
        return st_detail(err, ST_HINT, "is Slurm installed on this machine?");
    if (code)
        return code;
    if (result.exit_status == 0) {
        *output = result.output;
        return ST_OK;
    }
    st_fail(err, ST_CHILD, "Slurm's %s failed", argv[0]);
    if (result.output)
        st_detail(err, ST_GOT, "%.200s", result.output);
    free(result.output);
    return st_detail(err, ST_HINT, "try: sinfo");
}

/* Splits the instructor's further options at blanks. No shell reads them. */
static size_t add_options(const char **argv, size_t n, char *options)
{
    for (char *word; (word = strsep(&options, " "));)
        if (*word && n < MAX_ARGUMENTS - 2)
            argv[n++] = word;
    return n;
}

enum st_code sl_submit(const struct sl_job *job, size_t tasks, struct st_error *err)
{
    char array[64], gres[32], minutes[32], *output;
    char *options = strdup(job->options ? job->options : "");
    if (!options)
        return st_fail(err, ST_NO_MEMORY, "cannot submit a job array");
    snprintf(array, sizeof array, job->at_once ? "--array=1-%zu%%%zu" : "--array=1-%zu", tasks,
             job->at_once);
    snprintf(gres, sizeof gres, "--gres=gpu:%zu", job->gpus);
    snprintf(minutes, sizeof minutes, "%zu", job->minutes);
    /* --open-mode: keeps the output of a task's first attempt if the task is requeued. */
    const char *argv[MAX_ARGUMENTS] = {
        "sbatch",     "--parsable", "--requeue",  "--open-mode=append",
        "--ntasks=1", array,        "--job-name", job->name,
        "--output",   job->log,     "--time",     minutes};
    size_t used = 12;
    if (job->gpus)
        argv[used++] = gres;
    if (job->exclusive)
        argv[used++] = "--exclusive";
    if (job->partition) {
        argv[used++] = "--partition";
        argv[used++] = job->partition;
    }
    used = add_options(argv, used, options);
    argv[used++] = job->script;
    argv[used] = NULL;
    enum st_code code = run(argv, &output, err);
    free(options);
    free(output);
    return code;
}

/* ---- states ---------------------------------------------------------------------------------- */

bool sl_state_parse(const char *line, struct sl_task_state *to)
{
    static const struct {
        const char *name;
        enum sl_meaning meaning;
        const char *text;
    } states[] = {
#define SLURM_STATE(name, meaning, text) {#name, SL_##meaning, text},
#include "grader/slurm/states.def"
#undef SLURM_STATE
    };
    char *end;
    if (!isdigit((unsigned char)*line))
        return false;
    *to = (struct sl_task_state){.meaning = SL_UNKNOWN, .text = "Slurm reported an unknown state"};
    to->task = strtoul(line, &end, 10);
    if (sscanf(end, " %23[A-Z_]", to->name) != 1)
        return false;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].name, to->name) == 0) {
            to->meaning = states[i].meaning;
            to->text = states[i].text;
        }
    return true;
}

enum st_code sl_query(const char *name, struct sl_states *states, struct st_error *err)
{
    const char *argv[] = {"squeue", "--noheader", "--array",  "--states=all", "--me",
                          "--name", name,         "--format", "%K %T",        NULL};
    char *output;
    *states = (struct sl_states){0};
    enum st_code code = run(argv, &output, err);
    if (code)
        return code;
    size_t lines = 1;
    for (const char *c = output; *c; c++)
        lines += *c == '\n';
    states->row = calloc(lines, sizeof *states->row);
    if (!states->row)
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the tasks' states");
    char *rest = output;
    for (char *line; !code && (line = strsep(&rest, "\n"));)
        states->n += sl_state_parse(line, &states->row[states->n]);
    free(output);
    return code;
}

enum st_code sl_array_room(size_t *room, struct st_error *err)
{
    const char *argv[] = {"scontrol", "show", "config", NULL};
    char *output;
    enum st_code code = run(argv, &output, err);
    if (code)
        return code;
    const char *line = strstr(output, "MaxArraySize"), *equals = line ? strchr(line, '=') : NULL;
    *room = equals ? strtoul(equals + 1, NULL, 10) : 0;
    free(output);
    if (*room < 2)
        return st_fail(
            err, ST_CHILD,
            "Slurm on this machine does not support job arrays (MaxArraySize is less than 2)");
    return ST_OK;
}
