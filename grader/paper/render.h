/** @file
 * Converts the text of report.md to other formats.
 */
#pragma once

#include "grader/paper/document.h"

#include <stdio.h>

/** Writes a self-contained page: it includes its style and pictures, fetches nothing and runs
 * nothing. */
void pp_html_write(FILE *out, const struct pp_document *document, const char *folder);

/** Writes a LaTeX article, with pictures from @p folder, found by their relative names.
 * @return the number of characters that became '?', because LaTeX's fonts lack them. */
size_t pp_latex_write(FILE *out, const struct pp_document *document, const char *folder);

/** Makes FOLDER/report.pdf from FOLDER/report.tex or FOLDER/report.html, with an installed program:
 * pdflatex or, if it fails, a browser.
 * @param how  set to "pdflatex" or "chromium"
 * @return ST_MISSING_TOOL if neither is installed; ST_CHILD if the program fails. After an error,
 * an earlier file stays. */
enum st_code pp_pdf_write(const char *folder, bool have_tex, bool have_html, const char **how,
                          struct st_error *err);
