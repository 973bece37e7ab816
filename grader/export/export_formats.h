/** @file
 * The formats that grades are exported to, each from the same record (record.h), and what they say
 * of a fault, which is never a zero for a student:
 *
 * - gradescope: one record; a check not asked for has no score and no status; a fault is refused,
 *   and Gradescope reports the autograder
 * - autolab: one record; a check not asked for is not in "scores"; a fault is refused, and Autolab
 *   reports the autograder
 * - check50: one record; a check not asked for has "passed": null; a fault is "error" in the place
 *   of "results"
 * - github: one record; a check not asked for has the status "error" and no score; so has a fault
 * - junit: a class; a check not asked for is an element skipped, a fault an element error
 * - csv: a class; a check not asked for is an empty cell, a fault the status "fault" and an empty
 *   score
 *
 * The documents that the formats follow are named in each file and in docs/exports.md.
 */
#ifndef CONVLAB_GRADER_EXPORT_FORMATS_H
#define CONVLAB_GRADER_EXPORT_FORMATS_H

#include "grader/export/export_record.h"

#include <stdio.h>

/** What can be chosen when exporting. */
struct gx_options {
    const char *visibility;        /**< Gradescope: of the tests */
    const char *stdout_visibility; /**< Gradescope: of what run_autograder printed */
    bool excel; /**< CSV: with a byte order mark, without which Excel reads no UTF-8 */
};

/** A format: what `grader export NAME` calls. */
struct gx_format {
    const char *name, *summary;
    const char *suffix; /**< of a file: ".json" */
    bool whole_class;   /**< one file for all records, not one file for each */
    /** Writes it. @return ST_BAD_FORMAT for a record that the format cannot say without blaming the
     * student. */
    enum st_code (*write)(FILE *out, const struct gx_class *class, const struct gx_options *options,
                          struct st_error *err);
};

/** All formats; the last has no name. */
extern const struct gx_format gx_formats[];

/** @return a format by its name, or NULL. */
const struct gx_format *gx_format_named(const char *name);

enum st_code gx_gradescope_write(FILE *out, const struct gx_class *class,
                                 const struct gx_options *options, struct st_error *err);
enum st_code gx_autolab_write(FILE *out, const struct gx_class *class,
                              const struct gx_options *options, struct st_error *err);
enum st_code gx_check50_write(FILE *out, const struct gx_class *class,
                              const struct gx_options *options, struct st_error *err);
enum st_code gx_github_write(FILE *out, const struct gx_class *class,
                             const struct gx_options *options, struct st_error *err);
enum st_code gx_junit_write(FILE *out, const struct gx_class *class,
                            const struct gx_options *options, struct st_error *err);
enum st_code gx_csv_write(FILE *out, const struct gx_class *class, const struct gx_options *options,
                          struct st_error *err);

/** The refusal of a format that has no way to say "not the student's fault". */
enum st_code gx_refuse_fault(const struct gx_record *record, const char *platform,
                             struct st_error *err);

/** @return whether a check has points, be they 0: it ran, or it did not because of another that
 * failed. */
bool gx_check_counts(const struct gx_record *record, const struct gx_check *check);

/** What a student is told of a check: message, error map and hint. @return malloc'd, or NULL. */
char *gx_check_output(const struct gx_check *check);

/** Writes a cJSON tree and a newline, and deletes it. @param line  on one line. */
enum st_code gx_json_print(FILE *out, struct cJSON *root, bool line, struct st_error *err);

/** Adds a string with what is not UTF-8 replaced. */
void gx_json_text(struct cJSON *to, const char *name, const char *text);

#endif
