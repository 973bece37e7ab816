/* All plots of a folder, in the order of a report. */
#include "grader/plots/plot_parts.h"

#include <stdlib.h>
#include <string.h>

enum st_code gr_plots_draw(const char *folder, struct gr_plots *plots, struct st_error *err)
{
    static enum st_code (*const steps[])(struct plot_stage *, struct st_error *) = {
        plot_op_times, plot_speed_up, plot_ladder, plot_against_cudnn, plot_roofline,
        plot_shares,   plot_timeline, plot_lines,  plot_sweeps,        plot_stage_draw};
    struct plot_stage *stage = malloc(sizeof *stage);
    if (!stage)
        return st_fail(err, ST_NO_MEMORY, "out of memory for plots");
    enum st_code first = plot_stage_open(stage, folder, plots, err);
    bool open = !first;
    if (open)
        plot_stage_read(stage);
    for (size_t i = 0; open && i < sizeof steps / sizeof *steps; i++) {
        struct st_error failure;
        enum st_code code = steps[i](stage, &failure);
        if (code && !first) {
            first = code;
            if (err)
                *err = failure;
        }
    }
    plot_stage_close(stage);
    free(stage);
    return first;
}

const struct gr_plot *gr_plots_find(const struct gr_plots *plots, const char *name)
{
    for (size_t i = 0; i < plots->n; i++)
        if (strcmp(plots->plot[i].name, name) == 0)
            return &plots->plot[i];
    return NULL;
}
