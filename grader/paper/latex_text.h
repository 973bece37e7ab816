/** @file
 * Text of a LaTeX document. Whatever is passed in is shown as it is: nothing in it is a command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Where text goes, and what was lost on the way. */
struct tex_out {
    FILE *out;
    size_t lost; /**< characters that became '?' */
};

/** Running text; long words may be broken. */
void tex_put_text(struct tex_out *tex, const char *text);

/** Monospaced text within a line, which may be broken behind punctuation. */
void tex_put_code(struct tex_out *tex, const char *text);

/** Lines of monospaced text as they are. */
void tex_put_lines(struct tex_out *tex, const char *text);

/** A link, for http, https and mailto addresses. @return false, with nothing written, for others.
 */
bool tex_begin_link(struct tex_out *tex, const char *address);
