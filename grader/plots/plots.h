/** @file
 * The plots of a report: pictures by gnuplot from the tables in the report's folder.
 *
 *     DIR/result.json ─────────▶ op-times, speed-up
 *     DIR/../mN/result.json ───▶ ladder (or DIR/bench.tsv, or DIR/mN/result.json)
 *     DIR/totals.tsv ──────────▶ against-cudnn (the benchmark's)
 *     DIR/profile/kernels.tsv ─▶ roofline, kernel-shares
 *     DIR/profile/trace-N.tsv ─▶ timeline
 *     DIR/profile/lines.tsv ───▶ source-lines
 *     DIR/sweep-P.tsv ─────────▶ sweep-P
 *
 * Of each plot DIR/plots gets NAME.svg, NAME.png and NAME.pdf, the data as NAME.tsv and the script
 * as NAME.gp: `gnuplot NAME.gp` in that folder draws it again, with whatever was changed in the
 * two. Strings in the tables may hold anything: what reaches gnuplot is reduced to what is harmless
 * there.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { GR_PLOTS_MAX = 24 };

/** Result of one plot. Text is plain, without markup, and must be escaped. */
struct gr_plot {
    char name[96];     /**< "op-times": of the files */
    char title[128];   /**< as in the picture: what is shown */
    char caption[512]; /**< sentences: how to read it, of which device, what was left out */
    char reason[256];  /**< why there is no picture, as a sentence; "" if there is one */
    bool pdf;          /**< there is a PDF, too: not every gnuplot can make one */
    bool failed;       /**< there was data, but gnuplot is missing or failed */
};

/** The plots of a folder, in the order above. */
struct gr_plots {
    size_t n;
    struct gr_plot plot[GR_PLOTS_MAX];
};

/** Draws every plot that DIR has data for into DIR/plots, and removes there the pictures of those
 * that it has none for: none of an earlier grading stays beside this one's numbers. All five files
 * of a plot appear whole, or not at all.
 * @return ST_OK also if gnuplot is not installed or fails (each plot has its reason); else the
 * first error in reading a table or writing a file. */
enum st_code gr_plots_draw(const char *folder, struct gr_plots *plots, struct st_error *err);

/** @return the plot of that name, or NULL. */
const struct gr_plot *gr_plots_find(const struct gr_plots *plots, const char *name);
