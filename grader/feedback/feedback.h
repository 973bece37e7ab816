/** @file
 * What a student gets back: one page with everything that is theirs, and nothing that is not: no paths of
 * the instructor's machine, no private shapes, no names of others.
 */
#pragma once

#include "grader/standing/standing.h"

/** Writes a student's page as Markdown. @param only  a milestone's id, or NULL: all */
enum st_code fb_markdown_write(FILE *out, const struct sd_class *class,
                               const struct sd_student *student, const char *only,
                               struct gradebook *book, struct st_error *err);

/** Writes Markdown, such as that, as a page of HTML that needs nothing else. */
void fb_html_write(FILE *out, const char *title, const char *markdown, size_t bytes);

/** Writes text with the folders taken out of absolute paths: "/srv/x/conv.c:7" is "conv.c:7". */
void fb_put_without_paths(FILE *out, const char *text);
