/** @file
 * What the student's code printed: shown to a person, never parsed.
 */
#ifndef CONVLAB_GRADER_SESSION_OUTPUT_H
#define CONVLAB_GRADER_SESSION_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/** The first lines, capped and escaped. */
struct gr_output {
    char text[8192]; /**< whole lines, printable characters, tabs and newlines only */
    size_t length;
    unsigned long lines, lines_kept;
    bool midline, dropping;
};

/** Adds what can be read from a non-blocking pipe without waiting. At its end the pipe is closed
 * and
 * @p pipe becomes -1, which is harmless here. */
void gr_output_drain(struct gr_output *out, int *pipe);

#endif
