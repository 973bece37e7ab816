/** @file
 * Records to export from a gradebook: the grades that count now.
 */
#pragma once

#include "grader/export/export_record.h"
#include "grader/gradebook/gradebook.h"

/** Reads all grades, in the order of submission and milestone. A missing submission is a failed
 * check with a zero; one that the grader could not grade is a fault.
 * @param submission,milestone  only these, or NULL for all
 * @return ST_NOT_FOUND if there is no such grade. */
enum st_code gx_class_read(struct gx_class *class, struct gradebook *book, const char *submission,
                           const char *milestone, struct st_error *err);
