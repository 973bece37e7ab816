/** @file
 * Shared by `grader log` and `grader diff`. Internal to grader/history.
 */
#pragma once

#include "grader/course/milestone.h"
#include "grader/history/history.h"

/** Lists the versions of a milestone. @return ST_NOT_FOUND if none was graded. Free the list even
 * after an error. */
enum st_code hi_milestone_list(const char *id, struct gr_milestone *milestone, struct hi_list *list,
                               struct st_error *err);

/** Writes "virtual GPU, profile h200", "NVIDIA H200" or "CPU", and whose code it is if it is not a
 * student's.
 * @return @p to. */
const char *hi_device_words(char to[128], const struct gr_result *result);
