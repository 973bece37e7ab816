/** @file
 * Runs gnuplot. Internal to grader/plots.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** Runs gnuplot on scripts, one after the other in one process: without the user's settings,
 * without a shell, with its output discarded, for at most 60 seconds.
 * @param scripts  names in @p folder, where it runs; ended by NULL
 * @return ST_OK; ST_MISSING_TOOL without gnuplot; ST_CHILD if it fails. */
enum st_code gnuplot_run(const char *folder, const char *const *scripts, struct st_error *err);

/** gnuplot ends with status 0 after some errors, so this checks for the end of a picture. @return
 * whether a file is a complete SVG, PNG or PDF. */
bool gnuplot_picture_is_whole(const char *path);
