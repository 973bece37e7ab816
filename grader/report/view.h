/** @file
 * Views: parts of report.html that Markdown cannot express. In grading.md, the block "view" marks
 * the position with a comment, "<!-- view NAME -->", before the heading of a section; on the HTML
 * page the view follows that heading, and the section's own text is folded below it.
 *
 * A view uses only the files of profile/, and no script: HTML's details element unfolds lines, and
 * radio buttons with the style sheet select the meaning of the colours.
 */
#pragma once

#include "base/tsv.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/** The comment that marks a view's position. */
#define GR_VIEW_MARK "<!-- view "

/** Writes a view of the profile in FOLDER/profile. @return false, with nothing written, if the view
 * or its files do not exist */
bool gr_view_put(FILE *out, const char *name, const char *folder);

/** @return whether gr_view_put() has something to write. */
bool gr_view_exists(const char *name, const char *folder);

/* ---- the views; each gets a whole profile --------------------------------------------------- */

/** The tables of a profile from which views are made. */
struct gr_view {
    struct tsv kernels, analysis, resources, lines, pictures;
    char *source;  /**< the graded file, malloc'd; NULL: none */
    long images;   /**< the largest size, which the view shows */
    bool timeline; /**< there is a timeline page (timeline_page.h) */
};

/** view_kernels.c: a card for each kernel and grid. */
bool gr_view_kernels(FILE *out, const struct gr_view *v);
/** view_source.c: the graded file, each line with its cost. */
bool gr_view_source(FILE *out, const struct gr_view *v);

/** @return a cell as a number; 0 if the column does not exist or the cell is not a
 * number. */
static inline double gr_view_number(const struct tsv *t, size_t row, const char *column)
{
    return strtod(tsv_text(t, row, column), NULL);
}
