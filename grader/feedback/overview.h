/** @file
 * An overview of the class on one page: progress, distributions, mistakes, similar submissions, and
 * the instructor's open tasks.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

/** The progress of a run. */
struct ov_progress {
    size_t done, total; /**< gradings of the run; total 0: no run */
    double left_s;      /**< estimated seconds left; NAN: not known yet */
};

/** Writes the page. The page is one self-contained file, which reloads itself during a run. */
enum st_code ov_page_write(const char *path, struct gradebook *book,
                           const struct ov_progress *progress, struct st_error *err);
