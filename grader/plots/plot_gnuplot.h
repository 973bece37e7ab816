/** @file
 * Runs gnuplot. Internal to grader/plots.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** Runs gnuplot on scripts, one after another in one process, for at most 60 seconds: without the
 * user's settings and without a shell. Its output is discarded.
 * @param scripts  names in @p folder, where gnuplot runs; NULL ends the list
 * @return ST_OK; ST_MISSING_TOOL if gnuplot is not installed; ST_CHILD if it fails. */
enum st_code gnuplot_run(const char *folder, const char *const *scripts, struct st_error *err);

/** Looks for the end of a picture, because gnuplot ends with status 0 even after some errors.
 * @return whether a file is a complete SVG, PNG or PDF. */
bool gnuplot_picture_is_whole(const char *path);
