/* grader plots DIR: draws the plots of a report's folder again. */
#include "grader/plots/plots.h"

#include "base/option_table.h"

#include <stdlib.h>
#include <sys/stat.h>

static enum st_code draw(const char *folder, struct gr_plots *plots, struct st_error *err)
{
    struct stat info;
    if (stat(folder, &info) || !S_ISDIR(info.st_mode)) {
        st_fail(err, ST_NOT_FOUND, "the folder does not exist");
        st_detail(err, ST_WHERE, "%s", folder);
        return st_detail(err, ST_HINT, "name the folder of a report, such as build/report/m3");
    }
    return gr_plots_draw(folder, plots, err);
}

int gr_command_plots(int argc, char **argv);
int gr_command_plots(int argc, char **argv)
{
    struct arguments {
        const char *folder;
    } a = {0};
    static const struct option_row rows[] = {
        {.value = "folder",
         .help = "expected the folder of a report, for example: grader plots build/report/m3",
         OPTION_OPERAND(struct arguments, folder)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "DIR",
        .about =
            "Draw the plots of a report's folder into DIR/plots, as SVG, PNG and PDF, from the tables in it: result.json, profile/*.tsv, sweep-*.tsv, bench.tsv. Beside each plot are its data (NAME.tsv) and its gnuplot script (NAME.gp).\v"
            "Exit status: 0 every plot with data was drawn, 2 one was not."};
    options_parse(&table, argc, argv, &a);
    struct st_error err;
    struct gr_plots *plots = calloc(1, sizeof *plots);
    enum st_code code = plots ? draw(a.folder, plots, &err)
                              : st_fail(&err, ST_NO_MEMORY, "out of memory for plots");
    bool drawn = true;
    for (size_t i = 0; plots && i < plots->n; i++) {
        const struct gr_plot *plot = &plots->plot[i];
        if (plot->reason[0])
            printf("skip  %s: %s\n", plot->name, plot->reason);
        else
            printf("plot  %s/plots/%s.svg, .png%s\n", a.folder, plot->name,
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
