/** @file
 * The export formats of grades (export_formats.def). All are written from the same record
 * (export_record.h). The list shows how each format expresses an unrequested check and a fault,
 * which is never a zero for a student:
 *
 * - gradescope: one record; a check not requested has no score and no status; a fault is refused,
 *   and Gradescope reports that the autograder failed
 * - autolab: one record; a check not requested is not in "scores"; a fault is refused, and Autolab
 *   reports that the autograder failed
 * - classroom50: one record; a check not requested is left out; a fault is refused, and Classroom
 *   50 reports that the autograder failed
 * - check50: one record; a check not requested has "passed": null; a fault is "error" instead of
 *   "results"
 * - prairielearn: one record; a check not requested is left out; a fault is refused, and
 *   PrairieLearn reports that the grading job failed
 * - junit: a class; a check not requested is an element skipped, a fault an element error
 * - csv: a class; a check not requested is an empty cell, a fault the status "fault" and an empty
 *   score
 *
 * The documents that the formats follow are named in each file and in docs/exports.md.
 */
#pragma once

#include "grader/export/export_record.h"

#include <stdio.h>

/** The options of an export. */
struct gx_options {
    const char *visibility;        /**< Gradescope: visibility of the tests' results */
    const char *stdout_visibility; /**< Gradescope: visibility of run_autograder's output */
    bool excel; /**< CSV: writes a byte order mark, which Excel needs to read UTF-8 */
};

enum gx_holds { GX_RECORD, GX_CLASS };

/** Writes a class in a format; a format for one record receives a class of one record. */
typedef enum st_code gx_writer(FILE *out, const struct gx_class *class,
                               const struct gx_options *options, struct st_error *err);

/** A format: a row of export_formats.def. */
struct gx_format {
    const char *name, *summary;
    const char *suffix;  /**< suffix of a file, such as ".json" */
    const char *refuses; /**< the platform that accepts no records that could not be graded, or
                              NULL */
    enum gx_holds holds;
    gx_writer *write;
};

#define FORMAT(name, holds, suffix, refuses, summary) gx_writer gx_##name##_write;
#define AUTOGRADER(function, name, summary)
#define GRADES(function, name, summary)
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
#undef GRADES

/** All formats; the last row has no name. */
extern const struct gx_format gx_formats[];

/** @return the format with this name, or NULL. */
const struct gx_format *gx_format_named(const char *name);

/** Writes a class in a format. @return ST_BAD_FORMAT if a grading ended in a fault, which this format
 * could express only as a failure of the student. */
enum st_code gx_format_write(const struct gx_format *format, FILE *out,
                             const struct gx_class *class, const struct gx_options *options,
                             struct st_error *err);
