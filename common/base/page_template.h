/** @file
 * Templates: text with \@names@ that a program replaces.
 *
 *     page_write(out, board_html, (struct page_part[]){{"style", .text = board_css}, {0}}, NULL);
 *
 * Files with a suffix in EMBEDDED (common/mk/compile.mk) become a part of their module's library:
 * board.html is `extern const char board_html[]`, which ends with a zero byte. Lines that contain
 * only a comment are omitted.
 */
#pragma once

#include <stdio.h>

enum { PAGE_NAME_CHARS = 32 };

/** The replacement of a name in a template: a text, JSON as the data of a script element, or the
 * output of a function. */
struct page_part {
    const char *name, *text, *json;
    void (*put)(FILE *out, const void *of);
};

/** Writes a whole template; a name that is not in @p parts is removed, and \@head@ becomes the
 * common beginning of all pages, up to the title. @param parts  ends with a part without a name;
 * @param of  is passed to their functions */
void page_write(FILE *out, const char *template, const struct page_part *parts, const void *of);

/** Writes a template up to its next \@name@, or to its end.
 * @param at  position in the template; moved to after the name @return @p name, or NULL at the end.
 * A '@' that does not begin such a mark, with a name of lower-case letters, digits and '_', is
 * text. */
const char *page_template_next(FILE *out, const char **at, char name[PAGE_NAME_CHARS]);
