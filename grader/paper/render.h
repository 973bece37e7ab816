/** @file
 * The report in other formats, from the text of report.md.
 */
#pragma once

#include "grader/paper/document.h"

#include <stdio.h>

/** Writes a self-contained page: style and pictures are included, nothing is fetched, nothing
 * runs. */
void pp_html_write(FILE *out, const struct pp_document *document, const char *folder);

/** Writes a LaTeX article, with pictures from @p folder by their relative names.
 * @return the number of characters that became '?', because LaTeX's fonts lack them. */
size_t pp_latex_write(FILE *out, const struct pp_document *document, const char *folder);

/** Makes FOLDER/report.pdf from FOLDER/report.tex or FOLDER/report.html, by an installed program:
 * pdflatex, or if that fails, a browser.
 * @param how  set to "pdflatex" or "chromium"
 * @return ST_MISSING_TOOL without either; ST_CHILD if it fails. An earlier file then stays. */
enum st_code pp_pdf_write(const char *folder, bool have_tex, bool have_html, const char **how,
                          struct st_error *err);
