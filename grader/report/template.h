/** @file
 * Templates of pages: Markdown with directives, which are comments that begin with "<!-- @" in the
 * first column (see report-templates/README.md):
 *
 *     <!-- @prose NAME question="..." -->               a place for the student's words
 *     <!-- @KIND NAME attribute="value" ... -->         a block that the grader fills in (block.h)
 *     <!-- @include NAME -->                            the contents of parts/NAME.md
 *
 * The files report-templates/SECTION.md are the sections of a student's report; grading.md in this
 * folder is the page of a grading.
 */
#pragma once

#include "base/status.h"
#include "grader/report/piece.h"

enum { GR_PIECES = 96, GR_TEMPLATE_FILES = 8 };

/** A template. It is large: allocate it on the heap. Free its contents with gr_template_free(). */
struct gr_template {
    char section[GR_NAME];            /**< "m3" */
    char path[512];                   /**< the file that is being parsed, for messages */
    char *storage[GR_TEMPLATE_FILES]; /**< the texts into which the strings point */
    size_t files;
    size_t pieces;
    struct gr_piece piece[GR_PIECES];
};

/** Reads FOLDER/SECTION.md and the files that it includes. @return ST_BAD_FORMAT with file and line
 * if a directive is wrong. */
enum st_code gr_template_read(const char *folder, const char *section, struct gr_template *t,
                              struct st_error *err);

/** As gr_template_read(), but from memory, and without includes. @param text  malloc'd; the
 * template owns it, even after an error. @param path  for messages */
enum st_code gr_template_parse(char *text, const char *path, struct gr_template *t,
                               struct st_error *err);

/** Frees a template's contents; harmless on a zeroed template. */
void gr_template_free(struct gr_template *t);

/** @return the block or place with this name, or NULL. */
const struct gr_piece *gr_piece_find(const struct gr_template *t, const char *name);
