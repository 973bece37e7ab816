#include "grader/main/command_line.h"

#include "grader/course/machine.h"

#include <errno.h>

static void take_milestone(void *arguments, char *name, const struct option_row *row,
                           struct argp_state *state)
{
    struct gr_options *o = arguments;
    (void)row;
    if (o->milestone_count == GR_MAX_MILESTONES)
        argp_error(state, "more than %d milestones", GR_MAX_MILESTONES);
    o->milestones[o->milestone_count++] = name;
}

static const struct option_row rows[] = {
    {"reference", 0, NULL, "grade the reference solution instead of the lab",
     OPTION_FLAG(struct gr_options, reference)},
    {"lib", 0, "FILE", "grade a shared library that is already built",
     OPTION_TEXT(struct gr_options, lib)},
    {"source", 0, "FILE",
     "grade this source file, built in a private folder; or the milestone's file in this folder, zip or tar file",
     OPTION_TEXT(struct gr_options, file)},
    {"accept-near", 0, NULL,
     "if that file has another name, grade the only plausible one (Conv.c, conv1.c, conv.c.txt)",
     OPTION_FLAG(struct gr_options, accept_near)},
    {"shapes", 0, "FILE", "an instructor's further unit shapes: a table with columns B M C H W K",
     OPTION_TEXT(struct gr_options, shapes)},
    {"report", 0, "DIR", "where to write the report (default: build/report/mN)",
     OPTION_TEXT(struct gr_options, report)},
    {"json", 0, "FILE", "write the result as JSON, - for standard output",
     OPTION_TEXT(struct gr_options, json)},
    {"seed", 0, "N", "seed of random shapes and data (default: a new one)",
     OPTION_NUMBER(struct gr_options, seed, 0, UINT64_MAX)},
    {"profile", 0, NULL, "also profile the whole program at each size",
     OPTION_FLAG(struct gr_options, profile)},
    {"quick", 0, NULL, "fewer shapes, only the smallest number of images, no judgement of speed",
     OPTION_FLAG(struct gr_options, quick)},
    {"first-failure", 0, NULL, "stop at the first check that fails",
     OPTION_FLAG(struct gr_options, first_failure)},
    {"no-sandbox", 0, NULL, "do not confine the submission's code (see grader sandbox)",
     OPTION_SET(struct gr_options, sandbox, GR_SANDBOX_NEVER)},
    {"require-sandbox", 0, NULL,
     "grade only if the submission's code can be confined; otherwise exit status 2",
     OPTION_SET(struct gr_options, sandbox, GR_SANDBOX_REQUIRED)},
    GR_OPTION_ROWS(0),
    {OPTION_OPERANDS(take_milestone)},
    {0}};

static void check(void *arguments, struct argp_state *state)
{
    const struct gr_options *o = arguments;
    if (o->reference + !!o->lib + !!o->file > 1)
        argp_error(state, "--reference, --lib and --source exclude each other");
    if (!o->milestone_count)
        argp_error(state, "expected a milestone, for example: grader m1");
    if (o->milestone_count > 1 && (o->lib || o->report || o->json))
        argp_error(state, "--lib, --report and --json are for one milestone, got %zu",
                   o->milestone_count);
}

static void print_version(FILE *out, struct argp_state *state)
{
    (void)state;
    char version[64];
    gr_version(version, sizeof version);
    fprintf(out, "ConvLab %s\n", version);
}

void gr_options_parse(struct gr_options *options, int argc, char **argv)
{
    *options = gr_options_default();
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "MILESTONE..."
#define COMMAND(name, summary) "\n" #name " ..."
#include "grader/main/commands.def"
#undef COMMAND
        ,
        .about =
            "Grade milestones of the convolution lab, one after another: correctness on edge and random shapes, then inference on Fashion-MNIST, with a report to hand in."
            "\vExit status: 0 every requested check passed, 1 a check failed, 2 the grader could not grade or could not run a requested check; for several milestones, the largest."
#define COMMAND(name, summary) "\n  grader " #name ": " summary
#include "grader/main/commands.def"
#undef COMMAND
        ,
    };
    argp_program_version_hook = print_version;
    argv[0] = program_invocation_short_name; /* the prefix of messages */
    options_parse(&table, argc, argv, options);
}
