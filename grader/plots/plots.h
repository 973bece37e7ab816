/** @file
 * The plots of a report: pictures that gnuplot draws from the tables in the report's folder.
 *
 *     DIR/result.json ─────────▶ op-times, speed-up
 *     DIR/../mN/result.json ───▶ ladder (or DIR/mN/result.json)
 *     DIR/bench.tsv ───────────▶ ladder, against-cudnn (the benchmark's)
 *     DIR/profile/kernels.tsv ─▶ roofline, kernel-shares
 *     DIR/profile/trace-N.tsv ─▶ timeline
 *     DIR/profile/lines.tsv ───▶ source-lines
 *     DIR/sweep-P.tsv ─────────▶ sweep-P
 *
 * For each plot, DIR/plots gets NAME.svg, NAME.png and NAME.pdf, the data as NAME.tsv and the
 * script as NAME.gp: `gnuplot NAME.gp` in that folder draws the plot again, with any changes made
 * to both files. Strings in the tables may contain anything: only harmless characters reach
 * gnuplot.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { GR_PLOTS_MAX = 24 };

/** The result of one plot. The texts contain no markup, and must be escaped. */
struct gr_plot {
    char name[96];     /**< "op-times": the name of the files */
    char title[128];   /**< the title in the picture */
    char caption[512]; /**< sentences: how to read the picture, the device, omitted data */
    char reason[256];  /**< the reason for a missing picture, as a sentence; otherwise "" */
    bool pdf;          /**< there is also a PDF, which not every gnuplot can make */
    bool failed;       /**< there was data, but gnuplot is missing or failed */
};

/** The plots of a folder, in the order above. */
struct gr_plots {
    size_t n;
    struct gr_plot plot[GR_PLOTS_MAX];
};

/** Draws into DIR/plots every plot for which DIR has data, and removes the pictures of all other
 * plots, so that pictures of an earlier grading do not remain with new numbers. All five files of a
 * plot appear complete or not at all. @return ST_OK even if gnuplot is missing or fails (each plot
 * has its reason); otherwise the first error in reading a table or writing a file. */
enum st_code gr_plots_draw(const char *folder, struct gr_plots *plots, struct st_error *err);

/** @return the plot with this name, or NULL. */
const struct gr_plot *gr_plots_find(const struct gr_plots *plots, const char *name);
