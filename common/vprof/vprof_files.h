/** @file
 * The files that vprof writes: their names, as nvprof's options have them, and whether they can be
 * written.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** Fills in a name: %p is the number of this process (the program's is not known yet), %h the
 * machine's name, %q{NAME} a variable of the environment, %% a percent sign. Anything else after a
 * percent sign is an error.
 * @param option  for the message @param name  becomes @p to */
enum st_code vprof_file_name(char to[PATH_MAX], const char *option, const char **name,
                             struct st_error *err);

/** Opens --log-file; %1 and %2 are the standard streams, NULL is the second. */
enum st_code vprof_log_open(const char *name, FILE **log, struct st_error *err);
/** Closes it. @return an error if any line could not be written */
enum st_code vprof_log_close(const char *name, FILE *log, struct st_error *err);

/** Before the program runs, which may take long: whether a file can be written after it.
 * @param path  NULL: none is to be @param force  whether it may exist already */
enum st_code vprof_may_write(const char *path, bool force, struct st_error *err);
