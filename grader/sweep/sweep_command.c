/* grader sweep mN NAME=V1,V2,...: the command line, and the files of results. */
#include "grader/sweep/sweep.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/plots/plots.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void take_word(void *arguments, char *word, const struct option_row *row,
                      struct argp_state *state)
{
    struct sweep *s = arguments;
    struct st_error err;
    (void)row;
    if (!s->options.milestone) {
        s->options.milestone = word;
    } else if (sweep_parameter_parse(s, word, &err)) {
        st_print(stderr, state->name, &err);
        exit(argp_err_exit_status);
    }
}

static void check(void *arguments, struct argp_state *state)
{
    const struct sweep *s = arguments;
    if (!s->options.milestone || !s->parameters)
        argp_error(
            state,
            "expected a milestone and a parameter, for example: grader sweep m3 TILE=8,16,32");
}

static const struct option_row rows[] = {
    {"reference", 0, NULL, "the reference solution instead of the lab",
     OPTION_FLAG(struct sweep, options.reference)},
    {"report", 0, "DIR", "folder for the results (default: build/report/mN)",
     OPTION_TEXT(struct sweep, options.report)},
    {"seed", 0, "N", "seed of random shapes and data (default: a new one)",
     OPTION_NUMBER(struct sweep, options.seed, 0, UINT64_MAX)},
    GR_OPTION_ROWS(offsetof(struct sweep, options)),
    {OPTION_OPERANDS(take_word)},
    {0}};

/* Writes one of the two files with results. */
static enum st_code write_file(const struct sweep *s, const char *folder, const char *suffix,
                               void (*write)(FILE *, const struct sweep *), struct st_error *err)
{
    char path[PATH_MAX], names[160];
    struct file_out out;
    if (path_make(path, sizeof path, err, "%s/sweep-%s.%s", folder, sweep_names(names, s, "-"),
                  suffix))
        return err->code;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    write(out.f, s);
    return file_out_commit(&out, err);
}

static enum st_code write_results(const struct sweep *s, struct st_error *err)
{
    char folder[PATH_MAX], name[176], names[160];
    const char *root = checkout_root(err), *build = checkout_build(err);
    if (!root || !build)
        return err->code;
    if (s->options.report)
        path_format(folder, sizeof folder, "%s", s->options.report);
    else
        path_format(folder, sizeof folder, "%s/report/%s", build, s->result.milestone);
    enum st_code code = dir_make(folder, err);
    if (!code)
        code = write_file(s, folder, "tsv", sweep_tsv, err);
    if (!code)
        code = write_file(s, folder, "md", sweep_markdown, err);
    struct gr_plots *plots = code ? NULL : calloc(1, sizeof *plots);
    if (plots)
        code = gr_plots_draw(folder, plots, err);
    snprintf(name, sizeof name, "sweep-%s", sweep_names(names, s, "-"));
    const struct gr_plot *plot = plots ? gr_plots_find(plots, name) : NULL;
    if (plot && plot->reason[0])
        printf("\n%s\n", plot->reason);
    if (!code) {
        size_t skip = strncmp(folder, root, strlen(root)) == 0 ? strlen(root) + 1 : 0;
        printf("\nTables: %s/%s.tsv, %s.md%s%s%s\n", folder + skip, name, name,
               plot && !plot->reason[0] ? "; plot: plots/" : "",
               plot && !plot->reason[0] ? name : "", plot && !plot->reason[0] ? ".svg" : "");
    }
    free(plots);
    return code;
}

static bool anything_right(const struct sweep *s)
{
    for (size_t size = 0; size < s->options.sizes; size++)
        if (sweep_best(s, size))
            return true;
    return false;
}

int gr_command_sweep(int argc, char **argv);
int gr_command_sweep(int argc, char **argv)
{
    enum { EXIT_SWEPT, EXIT_NONE_RIGHT, EXIT_NOT_RUN };
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "MILESTONE NAME=V1,V2,... [NAME2=...]",
        .about =
            "Build a lab with each value of its compile-time parameters (-DNAME=VALUE; every combination of several parameters), check that it is right, and time it alternately with the others. If a value does not compile, is wrong or does not run, its row reports that.\v"
            "Exit status: 0 at least one value ran right, 1 none did, 2 could not run."};
    struct sweep *s = calloc(1, sizeof *s);
    struct st_error err;
    if (!s) {
        st_fail(&err, ST_NO_MEMORY, "out of memory for a sweep");
        st_print(stderr, argv[0], &err);
        return EXIT_NOT_RUN;
    }
    s->options = gr_options_default();
    options_parse(&table, argc, argv, s);
    signal(SIGPIPE, SIG_IGN);
    enum st_code code = sweep_run(s, &err);
    int status = code ? EXIT_NOT_RUN : anything_right(s) ? EXIT_SWEPT : EXIT_NONE_RIGHT;
    progress_clear();
    if (!code) {
        sweep_print(stdout, s);
        code = write_results(s, &err);
    }
    if (code) {
        fflush(stdout);
        st_print(stderr, argv[0], &err);
        status = EXIT_NOT_RUN;
    }
    sweep_free(s);
    free(s);
    return status;
}
