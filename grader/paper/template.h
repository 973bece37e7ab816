/** @file
 * The templates of a student's report: report-templates/NAME.md, one per milestone, and the
 * sections "front" and "final" (report-templates/README.md says how they are written).
 *
 * A template is Markdown with directives, comments that begin with "<!-- @":
 *
 *     <!-- @prose NAME question="..." -->               a place for the student's words
 *     <!-- @KIND NAME attribute="value" ... -->         what the grader fills in (fill.h)
 */
#ifndef CONVLAB_PAPER_TEMPLATE_H
#define CONVLAB_PAPER_TEMPLATE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { PP_ATTRIBUTES = 10, PP_NAME = 48, PP_PIECES = 96 };

/** What stands in a template, from top to bottom. */
struct pp_piece {
    enum { PP_TEXT, PP_PLACE, PP_BLOCK } kind;
    const char *text; /**< of PP_TEXT */
    size_t bytes;
    char name[PP_NAME];      /**< of places and blocks: unique in its section */
    const char *fill;        /**< of PP_BLOCK: "table", "figure", ... */
    const char *number_kind; /**< "Table", "Figure", or NULL for a block without caption */
    int number;              /**< of the tables, or figures, of this template, from 1 */
    size_t attributes;
    struct {
        const char *key, *value;
    } attribute[PP_ATTRIBUTES];
    size_t line; /**< in the template */
};

/** A template; large: allocate it. Free with pp_template_free(). */
struct pp_template {
    char section[PP_NAME]; /**< "m3" */
    char path[512];        /**< for messages */
    char *storage;         /**< what the strings point into */
    size_t pieces;
    struct pp_piece piece[PP_PIECES];
};

/** Reads FOLDER/SECTION.md. @return ST_BAD_FORMAT with file and line if a directive is wrong. */
enum st_code pp_template_read(const char *folder, const char *section, struct pp_template *t,
                              struct st_error *err);

/** Releases a template; harmless on a zeroed one. */
void pp_template_free(struct pp_template *t);

/** @return the block or place of that name, or NULL. */
const struct pp_piece *pp_piece_find(const struct pp_template *t, const char *name);

/** @return the value of an attribute, or @p otherwise. */
const char *pp_attribute(const struct pp_piece *piece, const char *key, const char *otherwise);

/** Where a section belongs: "front", then milestones by number, others, "final". */
long pp_section_rank(const char *section);

/** @return whether it can name a section, a place or a block: lower-case letters, digits, '-'. */
bool pp_is_name(const char *text, size_t bytes);

#endif
