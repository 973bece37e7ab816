/** @file
 * The export formats of grades (export_formats.def), each written from the same record
 * (export_record.h), and how each shows a fault, which is never a zero for a student:
 *
 * - gradescope: one record; a check not requested has no score and no status; a fault is refused,
 *   and Gradescope reports the autograder
 * - autolab: one record; a check not requested is not in "scores"; a fault is refused, and Autolab
 *   reports the autograder
 * - classroom50: one record; a check not requested is left out; a fault is refused, and Classroom
 *   50 reports the autograder
 * - check50: one record; a check not requested has "passed": null; a fault is "error" instead of
 *   "results"
 * - prairielearn: one record; a check not requested is left out; a fault is refused, and
 *   PrairieLearn reports the grading job
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
    bool excel; /**< CSV: with a byte order mark, without which Excel does not read UTF-8 */
};

enum gx_holds { GX_RECORD, GX_CLASS };

/** Writes a class in a format; a format for one record gets a class with one record. */
typedef enum st_code gx_writer(FILE *out, const struct gx_class *class,
                               const struct gx_options *options, struct st_error *err);

/** A format: a row of export_formats.def. */
struct gx_format {
    const char *name, *summary;
    const char *suffix;  /**< of a file, such as ".json" */
    const char *refuses; /**< the platform that gets no records that could not be graded, or NULL */
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

/** All formats; the last has no name. */
extern const struct gx_format gx_formats[];

/** @return a format by its name, or NULL. */
const struct gx_format *gx_format_named(const char *name);

/** Writes a class in a format. @return ST_BAD_FORMAT for a record that the format cannot express without
 * blaming the student. */
enum st_code gx_format_write(const struct gx_format *format, FILE *out,
                             const struct gx_class *class, const struct gx_options *options,
                             struct st_error *err);
