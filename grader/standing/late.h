/** @file
 * Finds late submissions, by the platform's times and the course's deadlines, and computes what
 * they cost.
 */
#pragma once

#include "grader/gradebook/gradebook.h"
#include "grader/standing/deadlines.h"

/** A student's milestone that has a due date or was marked late. */
struct sd_late {
    char *student; /**< name in the roster; the submission's name if its author is not in the
                        roster */
    char *submission, *milestone;
    double submitted_s, due_s; /**< NAN: unknown */
    double late_s;             /**< seconds after the due date, extension and grace; 0: in time */
    bool unknown;              /**< the platform marks the submission as late, but does not state by
                                    how much */
    unsigned days_late;        /**< late days, rounded up, that no slip day covers */
    unsigned slip_days;        /**< slip days used for this milestone */
    double lost;               /**< lost share of the points, 0 to 1 */
    char reason[400];          /**< one line; "" if in time */
};

/** All late records, ordered by due date, milestone and student. */
struct sd_lates {
    size_t n;
    struct sd_late *row;
    bool counts_days; /**< the policy itself deducts no points: days count for `late` in the
                           weights */
};

/** Computes lateness from the gradebook. @param report  receives a line for each mistake, such as
 * an extension for an unknown student; may be NULL */
enum st_code sd_lates_make(struct sd_lates *lates, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err);

/** @return a student's record for a milestone, or NULL. */
const struct sd_late *sd_late_of(const struct sd_lates *lates, const char *student,
                                 const char *milestone);

/** Frees all records. */
void sd_lates_free(struct sd_lates *lates);

/** Stores a file of deadlines in the gradebook. @return ST_BAD_FORMAT if it is invalid; then
 * nothing is changed. */
enum st_code sd_deadlines_keep(struct gradebook *book, const char *path, sd_report *report,
                               void *context, struct st_error *err);

/** Stores one due date of --due, in addition to the file's due dates, which take precedence. */
enum st_code sd_due_keep(struct gradebook *book, const char *milestone, double at_s,
                         struct st_error *err);

/** Reads submission times from a table with the columns name, email, or any other heading of a
 * roster, and submitted (or Moodle's "Last modified (submission)"). @param zone_s  zone, in
 * seconds, of times without a zone, or NAN. @param taken  set to the number of times */
enum st_code sd_times_import(struct gradebook *book, const char *path, const char *milestone,
                             double zone_s, size_t *taken, sd_report *report, void *context,
                             struct st_error *err);
