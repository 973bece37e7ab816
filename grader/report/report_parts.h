/** @file
 * The stages of a report, in the order in which they run. Internal to report*.c.
 *
 *     all tables ──plots───▶ plots/              (grader/plots: gnuplot)
 *     gr_result, profile/, plots/ ──blocks into the template grading.md──▶ grading.md
 *     grading.md ──html──▶ report.html
 *     gr_result ──json, tables, latex──▶ result.json, *.tsv, *.tex
 *
 * Strings of the record may contain anything. Each format has one function here that makes a string
 * harmless, and all code writes strings with this function.
 */
#pragma once

#include "base/numbers.h"
#include "base/status.h"
#include "base/utf8.h"
#include "grader/plots/plots.h"
#include "grader/record/result.h"
#include "grader/report/report_cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- report_text.c: safe strings in each format ------------------------------------ */

/** @return whether a spreadsheet would run a cell with this text as a formula (or might, after
 * removing blanks). Such a text could read other cells, and needs a leading apostrophe.
 * https://owasp.org/www-community/attacks/CSV_Injection */
bool gr_is_formula(const char *text);

/** Writes one line of HTML text or an attribute value. */
void gr_put_html(FILE *out, const char *text);

/** Writes text within a line of Markdown (in a cell, or after other text): literally, on one
 * line. */
void gr_put_markdown(FILE *out, const char *text);

/** As gr_put_markdown(), but monospaced if possible. */
void gr_put_markdown_code(FILE *out, const char *text);

/** Writes a fenced block. The text cannot end the block. */
void gr_put_markdown_block(FILE *out, const char *text);

/** Writes one line of LaTeX text. Letters that a document without packages cannot show become
 * '?'. */
void gr_put_latex(FILE *out, const char *text);

/** Writes one character of LaTeX text. @return false if it became '?'. */
bool gr_put_latex_point(FILE *out, unsigned point);

/** Reads one code point like utf8_next(); a code point that a page cannot show becomes U+FFFD. */
unsigned gr_next_visible(const char **text);

/** Writes bytes as base64, for data: URLs. */
void gr_put_base64(FILE *out, const char *data, size_t bytes);

/** @return the subject of the graded code: GR_SUBMISSION, or GR_REFERENCE if a record of
 * --reference has nothing else. */
enum gr_subject gr_graded_subject(const struct gr_result *result);

enum { GR_TIME_CHARS = NUMBER_CHARS };

/** Writes a time in the fitting unit, with three significant digits: "71.3 µs". @return @p to */
const char *gr_time_text(char to[GR_TIME_CHARS], double seconds);

enum { GR_PLACE_CHARS = 320 };

/** Writes "conv.cu:160", from a path and a line. @return @p to */
const char *gr_place_text(char to[GR_PLACE_CHARS], const char *file, const char *line);

/* ---- tables shared by pages and *.tex (block_times.c, block_result.c) ----------------------- */

/** Writes Op Times, one row per layer. @return false, with only headings, if no network was run */
bool gr_op_times_cells(struct gr_cells *t, const struct gr_result *r);

/** Writes the Op Times next to those of other code, with the data-set sizes side by side.
 * @param each  whether to write a row per layer. @return false, with only headings, if nothing else
 * was timed */
bool gr_ratios_cells(struct gr_cells *t, const struct gr_result *r, bool each);

/** Writes a check, its result and its points as the first cells of a row. */
void gr_check_cells(struct gr_cells *t, const struct gr_check *check);

/** Writes a manual item as cells of a row. @param result  shown instead of the item's result, or
 * NULL */
void gr_manual_cells(struct gr_cells *t, const struct gr_manual *item, const char *result);

/* ---- report_seal.c: whether grading.md is unchanged ----------------------------------------- */

/** A line of a text that people may edit. */
struct gr_line {
    const char *text;
    size_t bytes; /**< without line end and trailing blanks, which editors may change */
    const char *next;
};

/** Reads the line at @p at and moves @p at to the next line. @return false at the end */
bool gr_next_line(const char **at, const char *end, struct gr_line *line);

/** Writes the page's last line: a checksum of the page so far. */
void gr_seal_put(FILE *out, const char *page, size_t bytes);

/** @return whether a page has the right checksum, so that no person has edited it. */
bool gr_seal_holds(const char *page, size_t bytes);

/* ---- page.c, report_html.c, report_tables.c -------------------------------------------------- */

/** Writes the page, without its seal. @param kept name of the copy of an earlier page, named in a
 * note to the student, or NULL. */
enum st_code gr_page_write(FILE *out, const struct gr_result *result, const struct gr_plots *plots,
                           const char *kept, const char *folder, struct st_error *err);

/** Writes report.html from the text of grading.md. Includes pictures of @p folder; for other
 * pictures, shows only the address. */
void gr_html_write(FILE *out, const char *title, const char *page, size_t bytes,
                   const char *folder);

/** The style sheet of a grading's page and of a student's report (page.css). */
extern const char page_css[];

/** Writes the beginning of a self-contained page (page.html), up to its content. */
void gr_html_begin(FILE *out, const char *title, const char *style);

/** Writes the end of the page, after its content. */
void gr_html_end(FILE *out);

/** Writes a picture of @p folder as a data: URL. @return false if the picture cannot be shown: it
 * is outside the folder, not svg, png or jpeg, missing, or larger than 4 MB. */
bool gr_html_put_picture(FILE *out, const char *folder, const char *name);

void gr_evidence_tsv(FILE *out, const struct gr_result *result);
void gr_results_tsv(FILE *out, const struct gr_result *result);
void gr_checks_tsv(FILE *out, const struct gr_result *result);
void gr_op_times_tex(FILE *out, const struct gr_result *result);
void gr_speed_up_tex(FILE *out, const struct gr_result *result);
void gr_checks_tex(FILE *out, const struct gr_result *result);
