/** @file
 * result.json: the record of a grading for other programs.
 *
 * Numbers read back as the same double; NaN and infinity are written as null. Text that is not
 * UTF-8 is repaired. Writer and reader walk one table of fields (result_json.c): to add a field,
 * add a row.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <stdio.h>

/** The fields that a file must have to be read. An optional field that is missing, or has a type
 * other than the grader's, stays empty: "", 0, false, or NAN for a fractional number. Unknown
 * fields are ignored. */
enum gr_need {
    GR_NEED_OBJECT, /**< any JSON object: a card or a plot shows the existing fields */
    GR_NEED_CHECKS, /**< also the list of checks: for a report, perhaps of an older grading */
    GR_NEED_GRADE   /**< also all parts of a grade */
};

/** Writes result.json to a stream; writes nothing without memory. */
void gr_result_write(FILE *out, const struct gr_result *result);

/** Reads a result.json. @param result  large: allocate it
 * @return ST_OK, or ST_BAD_FORMAT with the field in @p err; on error @p result is undefined. */
enum st_code gr_result_read(const char *path, enum gr_need need, struct gr_result *result,
                            struct st_error *err);
