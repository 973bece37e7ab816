/** @file
 * Tables for platforms' gradebooks: the GRADES rows of export_formats.def.
 */
#pragma once

#include "grader/standing/standing.h"

/** The columns to write, and their names. */
struct gx_columns {
    const char *milestone; /**< only this milestone, or NULL */
    enum sd_unchecked unchecked;
    size_t n;
    const char *text[SD_MAX_MILESTONES]; /**< entries of --column: "m1=Lab 1 (4711)" */
};

/** @return whether a milestone has a column. @param of  a struct gx_columns */
bool gx_is_wanted(const void *of, const char *milestone);

/** Writes a table of all students. */
typedef enum st_code gx_table_writer(FILE *out, const struct sd_class *class,
                                     const struct gx_columns *columns, struct st_error *err);

#define FORMAT(name, holds, suffix, refuses, summary)
#define AUTOGRADER(function, name, summary)
#define GRADES(function, name, summary) gx_table_writer function;
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
#undef GRADES
