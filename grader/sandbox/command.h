/** @file
 * The command line of bubblewrap for a box: what the program sees and may do.
 */
#ifndef CONVLAB_GRADER_SANDBOX_COMMAND_H
#define CONVLAB_GRADER_SANDBOX_COMMAND_H

#include "grader/sandbox/box.h"

#include <stdbool.h>
#include <stddef.h>

enum { GR_COMMAND_WORDS = 1024, GR_COMMAND_TEXT = 65536 };

struct gr_command {
    char **argv;
    size_t n, used;
    bool full; /**< it did not fit */
    char *text;
};

/** Makes it. @param filter, report  the numbers of these descriptors in bubblewrap. */
void gr_command_make(struct gr_command *command, const struct gr_box_options *options, int filter,
                     int report);

/** Releases it. */
void gr_command_free(struct gr_command *command);

#endif
