/** @file
 * A student's report made, or made again: sections that are not in it yet come from their
 * templates, blocks of the grader are refilled, all other bytes stay.
 */
#pragma once

#include "grader/paper/document.h"
#include "grader/report/block.h"

enum { PP_SECTIONS = 32 };

/** Options of a report. */
struct pp_request {
    struct gr_sources *src;
    const char *templates; /**< the folder */
    const char
        *template;   /**< the one of all sections, which have no front then; NULL: each its own */
    bool draw;       /**< redraw plots before they are copied */
    size_t sections; /**< to be put in if they are not there */
    const char *section[PP_SECTIONS];
};

/** Writes the new report.
 * @param old    the present one, or an empty document
 * @param notes  gets a line for everything that the student should know
 * @return an error if a template is missing or wrong: then @p out is of no use. */
enum st_code pp_assemble(const struct pp_request *request, const struct pp_document *old, FILE *out,
                         FILE *notes, struct st_error *err);
