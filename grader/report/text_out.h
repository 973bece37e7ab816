/** @file
 * A text in memory that may become a file.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Write to the member out. Free the text with text_out_free(). */
struct text_out {
    FILE *out;
    char *text; /**< after text_out_close(); NULL: out of memory */
    size_t bytes;
};

/** @return false: out of memory. */
bool text_out_open(struct text_out *t);

/** Closes the text. @return the text; NULL: out of memory. */
char *text_out_close(struct text_out *t);

/** Frees the text; harmless on a zeroed one. */
void text_out_free(struct text_out *t);

/** Closes the text and writes it to FOLDER/NAME, completely or not at all. */
enum st_code text_out_write(struct text_out *t, const char *folder, const char *name,
                            struct st_error *err);
