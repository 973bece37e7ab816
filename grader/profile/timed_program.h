/** @file
 * Running a program of ours and reading, besides what it prints, what it cost: as /usr/bin/time
 * does.
 */
#pragma once

#include "base/cost.h"
#include "base/status.h"

#include <stddef.h>

/** Takes one line, without its newline. */
typedef void gr_line_function(void *context, const char *line);

/** Runs a program, waits for it and hands on each line of its standard output as it comes.
 * @param argv         NULL-terminated; argv[0] is the path
 * @param limit_s      it is ended by SIGALRM after that many seconds
 * @param exit_status  set; 128 + signal if it was ended by one
 * @param said         set to the last line of its standard error, or "" */
enum st_code gr_timed_program(const char *const *argv, unsigned limit_s, gr_line_function *line,
                              void *context, struct cost *cost, int *exit_status, char said[512],
                              struct st_error *err);
