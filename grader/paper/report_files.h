/** @file
 * The files of a report in its folder: report.md, and from it report.html, report.tex and report.pdf.
 */
#pragma once

#include "grader/paper/assemble.h"

/** The formats of a report; report.md is always made. */
enum pp_format { PP_MD = 1, PP_HTML = 2, PP_LATEX = 4, PP_PDF = 8 };

/** Reads FOLDER/report.md; a missing file is an empty document. Free with pp_document_free().
 * @return ST_USAGE if it was not made by pp_report_write() */
enum st_code pp_report_read(const char *folder, struct pp_document *old, struct st_error *err);

/** Makes the report again from the old one, in the folder of its sources, and prints the files. The
 * previous report is kept as report.md~. @param formats  of enum pp_format; a PDF includes its
 * source */
enum st_code pp_report_write(const struct pp_request *request, const struct pp_document *old,
                             unsigned formats, struct st_error *err);
