/** @file
 * Running gnuplot. Internal to grader/plots.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/** Runs gnuplot on scripts, one after the other in one process: none of the user's settings, no
 * shell, what it prints thrown away, at most 60 seconds.
 * @param scripts  names in @p folder, where it runs; ended by NULL
 * @return ST_OK; ST_MISSING_TOOL if there is no gnuplot; ST_CHILD if it fails. */
enum st_code gnuplot_run(const char *folder, const char *const *scripts, struct st_error *err);

/** gnuplot ends with status 0 after some errors, so the end of a picture is looked for.
 * @return whether a file is a whole SVG, PNG or PDF. */
bool gnuplot_picture_is_whole(const char *path);
