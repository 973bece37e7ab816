/** @file
 * The analysis of one profiled run: judges kernels and ranks lines, as text for people and as TSV
 * tables for reports and plots (docs/profiler.md has their columns).
 */
#pragma once

#include "analysis/kernels.h"
#include "analysis/limiter.h"
#include "analysis/lines.h"

#include <stdio.h>

struct an_analysis {
    struct an_kernels launches;   /**< grouped by AN_BY_LAUNCH */
    struct an_verdict *verdict;   /**< [launches.n] */
    struct an_kernels activities; /**< grouped by AN_BY_ACTIVITY */
    struct an_verdict *summary;   /**< [activities.n]; zeroed for copies and fills */
    struct an_kernels calls;      /**< grouped by AN_BY_CALL */
    struct an_lines lines;
    bool has_gpu;
    struct vg_profile gpu; /**< the trace's GPU, if has_gpu */
    struct tsv counters;   /**< the data to which `lines` point */
};

/** Analyses a trace. @param profiles  the folder of GPU descriptions, in which the trace's device
 * is looked up; NULL or not found: peaks are unknown. @param counters  a file of counters per line,
 * or NULL. @param source  see struct an_source. The trace must outlive the analysis. Free with
 * an_free(). */
enum st_code an_analyse(struct an_analysis *analysis, const struct tr_trace *trace,
                        const char *profiles, const char *counters, const struct an_source *source,
                        struct st_error *err);

/** Copies counters and measured terms from another run of the same program under ncu to kernels
 * that have none. Kernels match by name, grid and block. Both traces must outlive the analysis. */
enum st_code an_add_counters(struct an_analysis *analysis, const struct an_analysis *counted,
                             struct st_error *err);

/** Prints a table of the kernels, the figures and a line of advice for each, and the costliest
 * source lines. @param most  number of kernels to print, longest first; 0: all */
void an_print(FILE *out, const struct an_analysis *analysis, size_t most);

/** Prints the analysis as CSV: the kernels, an empty line, and the source lines, if any are known.
 * As in nvprof's tables, a row of units follows each header row. Nothing is omitted. */
void an_print_csv(FILE *out, const struct an_analysis *analysis);

/** Write the tables. Call the function for the header row once, then the function for the rows for
 * each number of images. */
void an_kernels_tsv_header(FILE *out);
void an_kernels_tsv(FILE *out, const struct an_analysis *analysis, size_t images);
void an_calls_tsv_header(FILE *out);
void an_calls_tsv(FILE *out, const struct an_analysis *analysis, size_t images);
void an_analysis_tsv_header(FILE *out);
void an_analysis_tsv(FILE *out, const struct an_analysis *analysis, size_t images);
void an_resources_tsv_header(FILE *out);
void an_resources_tsv(FILE *out, const struct an_analysis *analysis, size_t images);
void an_lines_tsv_header(FILE *out);
void an_lines_tsv(FILE *out, const struct an_analysis *analysis, size_t images);

/** Releases an analysis; harmless on a zeroed one. */
void an_free(struct an_analysis *analysis);
