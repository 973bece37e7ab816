/** @file
 * Makes a student's report, or renews it: missing sections come from their templates, the grader's
 * blocks are refilled, and all other bytes stay.
 */
#pragma once

#include "grader/paper/document.h"
#include "grader/report/block.h"

enum { PP_SECTIONS = 32 };

/** Options of a report. */
struct pp_request {
    struct gr_sources *src;
    const char *templates; /**< folder of the templates */
    const char *template;  /**< the template for all sections, and no front page; NULL: each section
                          has its own template */
    bool draw;             /**< whether to redraw plots before copying them */
    size_t sections;       /**< sections to insert if missing */
    const char *section[PP_SECTIONS];
};

/** Writes the new report.
 * @param old    the current report, or an empty document
 * @param notes  gets a line for each thing that the student should know
 * @return an error if a template is missing or wrong: @p out is then unusable. */
enum st_code pp_assemble(const struct pp_request *request, const struct pp_document *old, FILE *out,
                         FILE *notes, struct st_error *err);
