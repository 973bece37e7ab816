/** @file
 * Who was late, by the platform's times and the course's deadlines, and what it costs.
 */
#pragma once

#include "grader/gradebook/gradebook.h"
#include "grader/standing/deadlines.h"

/** A student's milestone that has a due date or was called late. */
struct sd_late {
    char *student; /**< of the roster; a submission that nobody of the roster made is its own */
    char *submission, *milestone;
    double submitted_s, due_s; /**< NAN: not known */
    double late_s;             /**< after due date, extension and grace; 0: in time */
    bool unknown;              /**< the platform calls it late, and does not say by how much */
    unsigned days_late;        /**< begun ones that no slip day covers */
    unsigned slip_days;        /**< used for it */
    double lost;               /**< share of its points, 0 to 1 */
    char reason[400];          /**< in one line, or "" in time */
};

/** All of them, ordered by due date, milestone and student. */
struct sd_lates {
    size_t n;
    struct sd_late *row;
    bool counts_days; /**< the policy takes nothing by itself: days are for `late` of the weights */
};

/** Works them out from the gradebook. @param report  receives a line for each mistake, such as an extension
 * for an unknown student; or NULL */
enum st_code sd_lates_make(struct sd_lates *lates, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err);

/** A student's of a milestone, or NULL. */
const struct sd_late *sd_late_of(const struct sd_lates *lates, const char *student,
                                 const char *milestone);

/** Releases them. */
void sd_lates_free(struct sd_lates *lates);

/** Keeps a file of deadlines in the gradebook. @return ST_BAD_FORMAT: nothing is changed. */
enum st_code sd_deadlines_keep(struct gradebook *book, const char *path, sd_report *report,
                               void *context, struct st_error *err);

/** Keeps one due date, as --due gives it, beside the file's, which come first. */
enum st_code sd_due_keep(struct gradebook *book, const char *milestone, double at_s,
                         struct st_error *err);

/** Takes submission times from a table: name, email, or any other heading of a roster, and submitted
 * (or Moodle's "Last modified (submission)").
 * @param zone_s  of times without one, or NAN. @param taken  set to how many */
enum st_code sd_times_import(struct gradebook *book, const char *path, const char *milestone,
                             double zone_s, size_t *taken, sd_report *report, void *context,
                             struct st_error *err);
