/** @file
 * Writes text into a LaTeX document. Every text appears literally: nothing in it acts as a command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** The output, and the number of characters that it cannot show. */
struct tex_out {
    FILE *out;
    size_t lost; /**< characters that became '?' */
};

/** Writes running text; long words may be broken. */
void tex_put_text(struct tex_out *tex, const char *text);

/** Writes monospaced text within a line, which may be broken after punctuation. */
void tex_put_code(struct tex_out *tex, const char *text);

/** Writes lines of monospaced text, unchanged. */
void tex_put_lines(struct tex_out *tex, const char *text);

/** Begins a link to an http, https or mailto URL. @return false, with nothing written, for other
 * URLs. */
bool tex_begin_link(struct tex_out *tex, const char *address);
