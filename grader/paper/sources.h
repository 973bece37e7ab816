/** @file
 * Finds the data for a student's report: gradings in build/report.
 */
#pragma once

#include "base/status.h"
#include "grader/report/block.h"

/** Finds and reads every grading in the folder src->gradings. The caller has set this member, root
 * and out. Free the sources with pp_sources_free(). Damaged gradings are not an error: the report
 * names them. */
enum st_code pp_sources_read(struct gr_sources *src, struct st_error *err);
void pp_sources_free(struct gr_sources *src);

/** @return the grading of the milestone with this id, or NULL. */
struct gr_grading *pp_sources_find(const struct gr_sources *src, const char *id);
