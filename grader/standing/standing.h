/** @file
 * Each student's standing: per milestone the automatic and manual points, the deduction for
 * lateness, and open tasks of the instructor. Exports, feedback and the class page are made from
 * this.
 */
#pragma once

#include "grader/gradebook/gradebook.h"
#include "grader/standing/late.h"

enum { SD_MAX_MILESTONES = 16 };

/** A manual item of a milestone's rubric. */
struct sd_item {
    char *id, *text;
    double points;
};

/** A milestone with at least one grade. */
struct sd_milestone {
    char id[16];
    double automatic, manual; /**< maximum points by its rubric */
    size_t items;
    struct sd_item *item;
    size_t images, times; /**< largest size at which a submission was right and timed; times */
    double *time_s;       /**< their Op Times, ascending: one per submission, all layers together */
};

/** One student's milestone. */
struct sd_points {
    const char *submission;           /**< of the grade: the student's or their team's; or NULL */
    const struct gb_grade *grade;     /**< NULL: none yet */
    const struct gb_attempt *attempt; /**< the valid attempt, or NULL */
    const struct gb_handin *handin;   /**< or NULL */
    const struct sd_late *late;       /**< or NULL */
    double automatic, manual;         /**< points so far; automatic is NAN after a fault of ours */
    size_t open;                      /**< manual items that were not entered */
    double op_time_s;                 /**< at the milestone's images, or NAN */
    double total;                     /**< minus the deduction for lateness; NAN if unknown */
};

/** One student: a row of the roster, or a submission that no student of the roster made. */
struct sd_student {
    const char *name, *display_name, *email, *platform_id, *sis_id, *section;
    const char
        *submission;  /**< their own or their team's submission, or NULL; one handed in alone takes
                       * precedence */
    const char *team; /**< or "" */
    struct sd_points milestone[SD_MAX_MILESTONES];
};

/** All students, in the roster's order. */
struct sd_class {
    size_t milestones, students;
    struct sd_milestone milestone[SD_MAX_MILESTONES];
    struct sd_student *student;
    struct gb_manual_item_list items; /**< ordered by submission */
    struct sd_lates lates;
    struct gb_submission_list submissions;
    struct gb_grade_list grades;
    struct gb_attempt_list attempts; /**< the valid attempts */
    struct gb_handin_list handins;
    struct gb_roster_list roster;
    struct gb_member_list members;
};

/** Reads the class. @param report  receives a line per mistake in the deadlines; or NULL */
enum st_code sd_class_read(struct sd_class *class, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err);

/** Fills in the milestones' Op Times; sd_class_read() calls it. */
enum st_code sd_times_read(struct sd_class *class, struct gradebook *book, struct st_error *err);

/** @return a manual item that was entered, or NULL. */
const struct gb_manual_item *sd_item_of(const struct sd_class *class, const char *submission,
                                        const char *milestone, const char *item);

/** Releases it. */
void sd_class_free(struct sd_class *class);
