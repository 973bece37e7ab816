/** @file
 * The command line of bubblewrap for a box, which determines what the program sees and may do.
 */
#pragma once

#include "grader/sandbox/box.h"

#include <stdbool.h>
#include <stddef.h>

enum { GR_COMMAND_WORDS = 1024, GR_COMMAND_TEXT = 65536 };

struct gr_command {
    char **argv;
    size_t n, used;
    bool full; /**< the command line did not fit */
    char *text;
};

/** The descriptors that bubblewrap gets in addition to the program's: the system-call filter, and
 * confine's two pipes. */
enum { GR_COMMAND_FILTER, GR_COMMAND_REPORT, GR_COMMAND_LIFE, GR_COMMAND_DESCRIPTORS };

/** Makes the command line. */
void gr_command_make(struct gr_command *command, const struct gr_box_options *options);

/** Frees the command line. */
void gr_command_free(struct gr_command *command);
