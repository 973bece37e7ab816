/** @file
 * The files in a report's folder: report.md, and report.html, report.tex and report.pdf, which are
 * made from it.
 */
#pragma once

#include "grader/paper/assemble.h"

/** The formats of a report; report.md is always made. */
enum pp_format { PP_MD = 1, PP_HTML = 2, PP_LATEX = 4, PP_PDF = 8 };

/** Reads FOLDER/report.md; a missing file gives an empty document. Free it with pp_document_free().
 * @return ST_USAGE if pp_report_write() did not make the file */
enum st_code pp_report_read(const char *folder, struct pp_document *old, struct st_error *err);

/** Makes the new report from the old one, in the folder that the request names, and prints its
 * files. The previous report is kept as report.md~. @param formats  a sum of enum pp_format; PP_PDF
 * also makes the LaTeX source */
enum st_code pp_report_write(const struct pp_request *request, const struct pp_document *old,
                             unsigned formats, struct st_error *err);
