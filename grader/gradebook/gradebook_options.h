/** @file
 * Command lines of the commands that work on a gradebook.
 */
#ifndef CONVLAB_GRADER_GRADEBOOK_OPTIONS_H
#define CONVLAB_GRADER_GRADEBOOK_OPTIONS_H

#include <argp.h>

/** Parses a command line that also takes --gradebook FILE (-g): for that, @p gradebook is set, to
 * gradebook.db if it is not there. On --help or wrong usage prints and exits (status 2).
 * @param argp  the command's own options, and what is said of it
 * @param input  what argp's parser gets */
void gb_options_parse(const struct argp *argp, int argc, char **argv, void *input,
                      const char **gradebook);

#endif
