/** @file
 * A student's feedback: one page with the student's own data only. It contains no paths of the
 * instructor's machine, no private shapes, and no names of others.
 */
#pragma once

#include "grader/standing/standing.h"

/** Writes a student's page as Markdown. @param only  a milestone's id, or NULL: all milestones */
enum st_code fb_markdown_write(FILE *out, const struct sd_class *class,
                               const struct sd_student *student, const char *only,
                               struct gradebook *book, struct st_error *err);

/** Writes Markdown, such as a student's page, as a self-contained HTML page. */
void fb_html_write(FILE *out, const char *title, const char *markdown, size_t bytes);

/** Writes text without the folders of absolute paths: "/srv/x/conv.c:7" becomes "conv.c:7". */
void fb_put_without_paths(FILE *out, const char *text);
