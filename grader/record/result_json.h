/** @file
 * result.json, the record of a grading as other programs read it.
 *
 * Numbers read back as the same double, and what is not finite is null. Text that is not UTF-8 is
 * repaired. Writer and reader walk one table of fields (result_json.c): to add a field, add a row.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <stdio.h>

/** The fields that a file must have to be read. A field that may be missing, or that has another
 * type than the grader gives it, stays empty: "", 0, false, or NAN where a number can be
 * fractional. Unknown fields are ignored. */
enum gr_need {
    GR_NEED_OBJECT, /**< any JSON object: a card or a plot shows the fields it has */
    GR_NEED_CHECKS, /**< also the list of checks: a report, maybe of an older grading */
    GR_NEED_GRADE   /**< also everything that a grade consists of */
};

/** Writes result.json to a stream; nothing without memory. */
void gr_result_write(FILE *out, const struct gr_result *result);

/** Reads a result.json. @param result  large: allocate it
 * @return ST_OK, or ST_BAD_FORMAT with the field in @p err; on error @p result is undefined. */
enum st_code gr_result_read(const char *path, enum gr_need need, struct gr_result *result,
                            struct st_error *err);
