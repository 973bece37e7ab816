/** @file
 * The output of the student's code: shown to people, never parsed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { GR_OUTPUT_START = 13 }; /**< number of bytes that show a line's origin */

/** The first lines of one source, capped and escaped. */
struct gr_said {
    char text[4096]; /**< whole lines, printable characters, tabs and newlines only */
    size_t length;
    unsigned long lines, lines_kept;
    bool dropping;
};

/** The text from the pipe. */
struct gr_output {
    struct gr_said lab;    /**< the student's code */
    struct gr_said device; /**< the virtual GPU: "virtual GPU: ..." and its indented details */
    struct gr_said *now;   /**< the source of the current line; NULL while its start is collected */
    unsigned char start[GR_OUTPUT_START];
    size_t started;
    bool after_device; /**< the previous line was the virtual GPU's */
};

/** Adds what can be read from a non-blocking pipe without waiting. At its end, the pipe is closed
 * and @p pipe becomes -1, which is harmless here. */
void gr_output_drain(struct gr_output *out, int *pipe);
