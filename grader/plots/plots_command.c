/* grader plots DIR: draws the plots of a report's folder again. */
#include "grader/plots/plots.h"

#include "base/files.h"

#include <argp.h>
#include <stdlib.h>
#include <sys/stat.h>

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    const char **folder = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (*folder)
            argp_error(state, "expected one folder, got '%s' and '%s'", *folder, arg);
        *folder = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*folder)
            argp_error(state, "expected the folder of a report, for example: grader plots "
                              "build/report/m3");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum st_code draw(const char *folder, struct gr_plots *plots, struct st_error *err)
{
    struct stat info;
    if (stat(folder, &info) || !S_ISDIR(info.st_mode)) {
        st_fail(err, ST_NOT_FOUND, "there is no such folder");
        st_detail(err, ST_WHERE, "%s", folder);
        return st_detail(err, ST_HINT, "name the folder of a report, as build/report/m3");
    }
    return gr_plots_draw(folder, plots, err);
}

int gr_command_plots(int argc, char **argv);
int gr_command_plots(int argc, char **argv)
{
    const char *folder = NULL;
    const struct argp argp = {
        .parser = parse_option,
        .args_doc = "DIR",
        .doc =
            "Draw the plots of a report's folder into DIR/plots, as SVG, PNG and PDF, from the "
            "tables in it: result.json, profile/*.tsv, sweep-*.tsv, bench.tsv. Beside each lie its "
            "data (NAME.tsv) and its script (NAME.gp), which gnuplot draws it from.\v"
            "Exit status: 0 every plot that there is data for was drawn, 2 one was not."};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &folder);
    struct st_error err;
    struct gr_plots *plots = calloc(1, sizeof *plots);
    enum st_code code = plots ? draw(folder, plots, &err)
                              : st_fail(&err, ST_NO_MEMORY, "cannot hold plots in memory");
    bool drawn = true;
    for (size_t i = 0; plots && i < plots->n; i++) {
        const struct gr_plot *plot = &plots->plot[i];
        if (plot->reason[0])
            printf("skip  %s: %s\n", plot->name, plot->reason);
        else
            printf("plot  %s/plots/%s.svg, .png%s\n", folder, plot->name,
                   plot->pdf ? ", .pdf" : "");
        drawn = drawn && !plot->failed;
    }
    free(plots);
    if (code) {
        fflush(stdout);
        st_print(stderr, argv[0], &err);
    }
    return code || !drawn ? 2 : 0;
}
