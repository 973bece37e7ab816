/** @file
 * result.json: the record of a grading for other programs.
 *
 * Numbers give the same double when read back; NaN and infinity are written as null. Text that is
 * not UTF-8 is repaired. Writer and reader use one table of fields (result_json.c): to add a field,
 * add a row.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <stdio.h>

/** The fields that a file must have to be read. An optional field that is missing, or whose type is
 * not the one that the grader writes, stays empty: "", 0, false, or NAN for a fractional number.
 * Unknown fields are ignored. */
enum gr_need {
    GR_NEED_OBJECT, /**< any JSON object: for a card or a plot, which shows the fields that exist */
    GR_NEED_CHECKS, /**< also the list of checks: for a report, perhaps of an older grading */
    GR_NEED_GRADE   /**< also all parts of a grade */
};

/** Writes result.json to a stream; writes nothing if memory runs out. */
void gr_result_write(FILE *out, const struct gr_result *result);

/** Reads a result.json. @param result  a large struct: allocate it on the heap
 * @return ST_OK, or ST_BAD_FORMAT with the field in @p err; on error @p result is undefined. */
enum st_code gr_result_read(const char *path, enum gr_need need, struct gr_result *result,
                            struct st_error *err);
