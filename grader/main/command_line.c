#include "grader/main/command_line.h"

#include "base/rng.h"
#include "grader/course/machine.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_REFERENCE = 256,
    KEY_LIB,
    KEY_SOURCE,
    KEY_SHAPES,
    KEY_REPORT,
    KEY_JSON,
    KEY_SEED,
    KEY_QUICK,
    KEY_PROFILE,
    KEY_NO_SANDBOX,
    KEY_REQUIRE_SANDBOX
};

static const struct argp_option option_table[] = {
    {"reference", KEY_REFERENCE, 0, 0, "grade the reference solution instead of the lab", 0},
    {"lib", KEY_LIB, "FILE", 0, "grade a shared library that is already built", 0},
    {"source", KEY_SOURCE, "FILE", 0,
     "grade this source file, wherever it is, built in a folder of its own", 0},
    {"shapes", KEY_SHAPES, "FILE", 0,
     "more unit shapes, from a table with columns B M C H W K: an instructor's own", 0},
    {"report", KEY_REPORT, "DIR", 0, "where to write the report (default: build/report/mN)", 0},
    {"json", KEY_JSON, "FILE", 0, "write the result as JSON, - for standard output", 0},
    {"seed", KEY_SEED, "N", 0, "seed of random shapes and data (default: a fresh one)", 0},
    {"profile", KEY_PROFILE, 0, 0, "also profile the whole program at each size", 0},
    {"quick", KEY_QUICK, 0, 0, "fewer shapes, 100 images only, no comparison runs", 0},
    {"no-sandbox", KEY_NO_SANDBOX, 0, 0,
     "do not confine the submission's code (see grader sandbox)", 0},
    {"require-sandbox", KEY_REQUIRE_SANDBOX, 0, 0,
     "grade only if the submission's code can be confined; otherwise exit status 2", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct gr_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o;
        return 0;
    case KEY_REFERENCE:
        o->reference = true;
        return 0;
    case KEY_LIB:
        o->lib = arg;
        return 0;
    case KEY_SOURCE:
        o->file = arg;
        return 0;
    case KEY_SHAPES:
        o->shapes = arg;
        return 0;
    case KEY_REPORT:
        o->report = arg;
        return 0;
    case KEY_JSON:
        o->json = arg;
        return 0;
    case KEY_SEED:
        gr_options_seed(o, arg, state);
        return 0;
    case KEY_PROFILE:
        o->profile = true;
        return 0;
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_NO_SANDBOX:
        o->sandbox = GR_SANDBOX_NEVER;
        return 0;
    case KEY_REQUIRE_SANDBOX:
        o->sandbox = GR_SANDBOX_REQUIRED;
        return 0;
    case ARGP_KEY_ARG:
        if (o->milestone)
            argp_error(state, "expected one milestone, got '%s' and '%s'", o->milestone, arg);
        o->milestone = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->milestone)
            argp_error(state, "expected a milestone, for example: grader m1");
        if (o->reference + !!o->lib + !!o->file > 1)
            argp_error(state, "--reference, --lib and --source exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
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
    static const size_t course_sizes[] = {100, 1000, 10000};
    *options = (struct gr_options){
        .model = "two-layer", .device = "auto", .seed = rng_fresh_seed(), .sizes = 3};
    memcpy(options->images, course_sizes, sizeof course_sizes);
    static const struct argp_child children[] = {{&gr_options_common, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .args_doc = "MILESTONE"
#define COMMAND(name, summary) "\n" #name " ..."
#include "grader/main/commands.def"
#undef COMMAND
        ,
        .doc = "Grade a milestone of the convolution lab: correctness on edge and random shapes, "
               "then inference on Fashion-MNIST, with a report to hand in."
               "\vExit status: 0 graded and every required check passed, 1 graded and something "
               "failed, 2 could not grade."
#define COMMAND(name, summary) "\n  grader " #name ": " summary
#include "grader/main/commands.def"
#undef COMMAND
        ,
    };
    argp_err_exit_status = 2;
    argp_program_version_hook = print_version;
    argv[0] = program_invocation_short_name; /* what messages begin with */
    argp_parse(&argp, argc, argv, 0, NULL, options);
    if (options->quick && !options->sizes_given)
        options->sizes = 1;
}
