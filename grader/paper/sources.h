/** @file
 * The sources of a student's report: gradings found in build/report.
 */
#pragma once

#include "base/status.h"
#include "grader/report/block.h"

/** Finds and reads every grading in src->gradings, which the caller has set, like root and out.
 * Free with pp_sources_free(). Damaged gradings are not an error: the report names them. */
enum st_code pp_sources_read(struct gr_sources *src, struct st_error *err);
void pp_sources_free(struct gr_sources *src);

/** @return the grading of that milestone, or NULL. */
struct gr_grading *pp_sources_find(const struct gr_sources *src, const char *id);
