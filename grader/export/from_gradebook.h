/** @file
 * Reads the records to export from a gradebook: the grades that are valid now.
 */
#pragma once

#include "grader/export/export_record.h"
#include "grader/gradebook/gradebook.h"

/** Reads all grades, in the order of submission and milestone. A missing submission becomes a
 * failed check with a zero; a submission that could not be graded becomes a fault.
 * @param submission,milestone only this one, or NULL for all
 * @return ST_NOT_FOUND if there is no such grade. */
enum st_code gx_class_read(struct gx_class *class, struct gradebook *book, const char *submission,
                           const char *milestone, struct st_error *err);
