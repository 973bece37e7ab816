/** @file
 * Running gnuplot. Internal to the plots of a report.
 */
#ifndef CONVLAB_GRADER_REPORT_PLOTS_H
#define CONVLAB_GRADER_REPORT_PLOTS_H

#include "grader/report/report_parts.h"

enum { GR_PLOT_SVG, GR_PLOT_PNG, GR_PLOT_FORMATS };

/** Runs gnuplot on a script and puts what it prints into a file, which appears whole or not at all.
 * No shell, no arguments but constants, none of the user's gnuplot settings; at most 30 seconds.
 * @return ST_OK; ST_MISSING_TOOL if there is no gnuplot; ST_CHILD if it fails or prints nothing; or
 * an error in writing the file. */
enum st_code gr_gnuplot_run(const char *script, size_t bytes, const char *path,
                            struct st_error *err);

#endif
