/** @file
 * Writes the report of a grading: tables, JSON, a page to hand in, plots, LaTeX fragments.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

/** File in a report's folder (of --report): the PTX of the submission's kernels, which grader
 * similar compares. */
#define GR_KERNELS_FILE "kernels.ptx"

/** Writes the report of one milestone into @p folder, which is created if missing:
 *
 *     results.tsv     one row per timed run
 *     checks.tsv      one row per check and manual item
 *     evidence.tsv    one row per fact of the technique
 *     result.json     the interface for other programs (see grader/record/result_json.h)
 *     grading.md      the page, GitHub-flavoured Markdown
 *     report.html     the page as HTML, self-contained (with style and plots)
 *     plots/          plots as SVG, PNG and PDF, with data and scripts; see grader/plots/plots.h
 *     *.tex           LaTeX fragments (booktabs tables)
 *
 * Each file is written completely or not at all. Without gnuplot, the page states that plots were
 * skipped.
 * @return ST_OK, or the first error; the other files are still written where possible. */
enum st_code gr_report_write(const struct gr_result *result, const char *folder,
                             struct st_error *err);

/** Writes FOLDER/index.html: a page that links every FOLDER/mN/report.html and shows its score, Op
 * Times and date from result.json. */
enum st_code gr_index_write(const char *folder, struct st_error *err);
