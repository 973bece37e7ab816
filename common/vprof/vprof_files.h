/** @file
 * The files that vprof writes: their names, in the syntax of nvprof's options, and checks that they
 * can be written.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** Expands a name: %p is the process ID of vprof (the program's ID is not known yet), %h the
 * machine's name, %q{NAME} a variable of the environment, %% a percent sign. Any other character
 * after a percent sign is an error. @param option  the option, for the error message @param name
 * becomes @p to */
enum st_code vprof_file_name(char to[PATH_MAX], const char *option, const char **name,
                             struct st_error *err);

/** Opens --log-file; %1 is stdout, %2 and NULL are stderr. */
enum st_code vprof_log_open(const char *name, FILE **log, struct st_error *err);
/** Closes the log. @return an error if any line could not be written */
enum st_code vprof_log_close(const char *name, FILE *log, struct st_error *err);

/** Checks before the program runs, which may take long, that a file can be written afterwards.
 * @param path  NULL: no file @param force  whether the file may already exist */
enum st_code vprof_may_write(const char *path, bool force, struct st_error *err);
