/** @file
 * The pieces of a template: text, places for a student's words, and blocks that the grader fills in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { GR_ATTRIBUTES = 10, GR_NAME = 48 };

/** One piece. Its strings point into its template. */
struct gr_piece {
    enum { GR_TEXT, GR_PLACE, GR_BLOCK } kind;
    const char *text; /**< GR_TEXT: the text */
    size_t bytes;
    char name[GR_NAME]; /**< places and blocks: the name, unique in the section */
    const char *fill;   /**< GR_BLOCK: the kind, "table", "figure", ... (blocks.def) */
    bool figure;        /**< numbered as a figure, not as a table */
    int number; /**< number among the template's captions of this kind, from 1; 0: no caption */
    size_t attributes;
    struct {
        const char *key, *value;
    } attribute[GR_ATTRIBUTES];
};

/** @return the value of an attribute, or @p otherwise. */
const char *gr_attribute(const struct gr_piece *piece, const char *key, const char *otherwise);

/** @return whether an attribute exists and has this value. */
bool gr_attribute_is(const struct gr_piece *piece, const char *key, const char *value);

/** @return whether a text can name a section, a place or a block: lower-case letters, digits,
 * '-'. */
bool gr_is_name(const char *text, size_t bytes);
