/** @file
 * Runs one of our programs, and reads its output and measures its cost, like /usr/bin/time.
 */
#pragma once

#include "base/cost.h"
#include "base/status.h"

#include <stddef.h>

/** Receives one line, without its newline. */
typedef void gr_line_function(void *context, const char *line);

/** Runs a program and waits for it; passes each line of its standard output to a function
 * immediately.
 * @param argv         NULL-terminated; argv[0] is the path
 * @param limit_s  SIGALRM ends the program after that many seconds
 * @param exit_status  set; 128 + N if signal N ended the program
 * @param said  set to the last line of the program's standard error, or "" */
enum st_code gr_timed_program(const char *const *argv, unsigned limit_s, gr_line_function *line,
                              void *context, struct cost *cost, int *exit_status, char said[512],
                              struct st_error *err);
