/** @file
 * The command line of `grader mN`.
 */
#pragma once

#include "grader/course/options.h"

/** Parses the command line; on --help, --version or wrong usage, prints and exits (wrong usage:
 * status 2). */
void gr_options_parse(struct gr_options *options, int argc, char **argv);
