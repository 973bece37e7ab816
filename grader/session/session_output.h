/** @file
 * The output of the student's code: shown to people, never parsed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { GR_OUTPUT_START = 13 }; /**< bytes of a line that show its origin */

/** The first lines from one origin, limited in length and escaped. */
struct gr_said {
    char text[4096]; /**< whole lines, printable characters, tabs and newlines only */
    size_t length;
    unsigned long lines, lines_kept;
    bool dropping;
};

/** The text from the pipe, by origin. */
struct gr_output {
    struct gr_said lab;    /**< the student's code */
    struct gr_said device; /**< the virtual GPU: "virtual GPU: ..." and its indented details */
    struct gr_said *now;   /**< origin of the current line; NULL while its start is collected */
    unsigned char start[GR_OUTPUT_START];
    size_t started;
    bool after_device; /**< the previous line was printed by the virtual GPU */
};

/** Adds all text that a non-blocking pipe holds now. At the end of the text, closes the pipe and
 * sets @p pipe to -1, with which a call does nothing. */
void gr_output_drain(struct gr_output *out, int *pipe);
