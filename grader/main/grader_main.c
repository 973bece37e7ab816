/* The grader: `grader m1` builds the lab, runs it in the harness, checks and times it, and writes a
 * report. The stages are in grading.c; this file parses, calls them and sets the exit status. Its
 * other commands (`grader NAME ...`, commands.def) have files of their own. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/main/command_line.h"
#include "grader/stages/grading.h"
#include "grader/profile/profile.h"
#include "grader/record/result_json.h"
#include "grader/report/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_GRADED = 0, EXIT_SUBMISSION_FAILED = 1, EXIT_NOT_GRADED = 2 };

static void keep_command(struct gr_result *result, int argc, char **argv)
{
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof result->command; i++)
        used += (size_t)snprintf(result->command + used, sizeof result->command - used, "%s%s",
                                 i ? " " : "", argv[i]);
}

/* The report's folder, and the one that it and its kin lie in. */
static enum st_code find_folder(const struct grading *g, char folder[PATH_MAX],
                                char parent[PATH_MAX], struct st_error *err)
{
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    path_format(parent, PATH_MAX, "%s/report", build);
    if (g->options->report)
        path_format(folder, PATH_MAX, "%s", g->options->report);
    else
        path_format(folder, PATH_MAX, "%s/%s", parent, g->milestone.id);
    return ST_OK;
}

static bool check_is(struct grading *g, const char *name, enum gr_status status)
{
    const struct gr_check *check = gr_check_find(g, name);
    return check && check->status == status;
}

/* Profiles what was graded; without --profile, an earlier profile goes: it is of other code. Code
 * that is wrong already has no speed, and may not even end. */
static enum st_code write_profile(struct grading *g, struct st_error *err)
{
    char folder[PATH_MAX], parent[PATH_MAX], profile[PATH_MAX];
    enum st_code code = find_folder(g, folder, parent, err);
    if (code)
        return code;
    path_format(profile, sizeof profile, "%s/profile", folder);
    const bool wrong = check_is(g, "builds", GR_FAIL) || check_is(g, "unit_shapes", GR_FAIL);
    if (!g->options->profile || wrong) {
        gr_profile_drop(profile);
        if (g->options->profile)
            fprintf(g->out, "\nNot profiled: make it right first.\n");
        return ST_OK;
    }
    const char *name = strrchr(g->milestone.lab_source, '/');
    char source[PATH_MAX] = ""; /* of a library that was built elsewhere: not known */
    if (g->options->file)
        path_format(source, sizeof source, "%s%s", g->built.folder, name ? name : "");
    else if (!g->options->lib)
        path_format(source, sizeof source, "%s",
                    g->options->reference ? g->milestone.reference_source
                                          : g->milestone.lab_source);
    const struct gr_profiling profiling = {.build = checkout_build(err),
                                           .library = g->milestone.libraries ? NULL : g->library,
                                           .source_name = name ? name + 1 : "",
                                           .source = source,
                                           .sandboxed = g->host.sandbox.on,
                                           .model = g->options->model,
                                           .device = g->host.device,
                                           .gpu = g->host.profile,
                                           .images = g->chosen.images,
                                           .sizes = g->chosen.sizes,
                                           .folder = profile,
                                           .out = g->out};
    return gr_profile_run(&profiling, err);
}

/* The report's folder, relative to the checkout when it lies in it, is what is printed. */
static enum st_code write_report(struct grading *g, struct st_error *err)
{
    char folder[PATH_MAX], parent[PATH_MAX];
    const char *root = checkout_root(err);
    if (!root || find_folder(g, folder, parent, err))
        return err->code;
    enum st_code code = gr_report_write(g->result, folder, err);
    if (!code && !g->options->report)
        code = gr_index_write(parent, err);
    if (code)
        return code;
    size_t skip = strncmp(folder, root, strlen(root)) == 0 ? strlen(root) + 1 : 0;
    fprintf(g->out, "Report: %s/report.html\n", folder + skip);
    return ST_OK;
}

static enum st_code write_json(const struct grading *g, struct st_error *err)
{
    const char *path = g->options->json;
    if (!path)
        return ST_OK;
    if (strcmp(path, "-") == 0) {
        gr_result_write(stdout, g->result);
        return ST_OK;
    }
    struct file_out file;
    enum st_code code = file_out_open(&file, path, err);
    if (code)
        return code;
    gr_result_write(file.f, g->result);
    return file_out_commit(&file, err);
}

static void print_score(FILE *out, const struct gr_result *r)
{
    double not_asked_for = 0;
    for (size_t i = 0; i < r->checks; i++)
        not_asked_for += r->check[i].required ? 0 : r->check[i].max_points;
    fprintf(out, "\nScore: %g of %g automatic points", r->score, r->max_score);
    if (not_asked_for > 0)
        fprintf(out, " (%g of them were not asked for)", not_asked_for);
    if (r->manuals)
        fprintf(out, "; %g more are the instructor's to give (%zu item%s)", r->manual_max,
                r->manuals, r->manuals == 1 ? "" : "s");
    fputc('\n', out);
}

/* 0 only if every check that was asked for passed; a skip among them means it could not be graded,
 * unless a failed check was the reason. */
static int verdict(const struct gr_result *r)
{
    int status = EXIT_GRADED;
    for (size_t i = 0; i < r->checks; i++) {
        if (r->check[i].status == GR_FAIL)
            return EXIT_SUBMISSION_FAILED;
        if (r->check[i].status == GR_SKIP && r->check[i].required)
            status = EXIT_NOT_GRADED;
    }
    return status;
}

#define COMMAND(name, summary) int gr_command_##name(int argc, char **argv);
#include "grader/main/commands.def"
#undef COMMAND

/* The command whose name is the first argument, or NULL: then a milestone is graded. */
static int (*command_named(const char *word))(int, char **)
{
#define COMMAND(name, summary)                                                                     \
    if (strcmp(word, #name) == 0)                                                                  \
        return gr_command_##name;
#include "grader/main/commands.def"
#undef COMMAND
    (void)word;
    return NULL;
}

/* Runs a command with the rest of the arguments; its argv[0] is what its messages begin with. */
static int run_command(int (*command)(int, char **), int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "grader %s", argv[1]);
    argv[1] = name;
    return command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int (*command)(int, char **) = argc > 1 ? command_named(argv[1]) : NULL;
    if (command)
        return run_command(command, argc, argv);
    struct gr_options options;
    struct st_error err = {0};
    struct gr_result *result = calloc(1, sizeof *result);
    if (!result) {
        st_fail(&err, ST_NO_MEMORY, "cannot hold a result in memory");
        st_print(stderr, "grader", &err);
        return EXIT_NOT_GRADED;
    }
    keep_command(result, argc, argv); /* before parsing, which moves options to the front */
    gr_options_parse(&options, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    struct grading g = {.options = &options,
                        .result = result,
                        .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout};
    enum st_code code = gr_grade(&g, &err);
    int status = code ? EXIT_NOT_GRADED : verdict(result);
    progress_clear();
    if (!code) {
        gr_output_print(g.out, &g.session.output);
        print_score(g.out, result);
        code = write_json(&g, &err);
        if (!code)
            code = write_profile(&g, &err);
        struct st_error report_err;
        enum st_code report_code = write_report(&g, &report_err);
        if (!code && report_code)
            code = report_code, err = report_err;
    }
    if (code) {
        fflush(g.out);
        st_print(stderr, "grader", &err);
        status = EXIT_NOT_GRADED;
    }
    gr_grading_free(&g);
    free(result);
    return status;
}
