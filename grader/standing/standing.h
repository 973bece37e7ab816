/** @file
 * Each student's standing: per milestone, the automatic and manual points, the deduction for
 * lateness, and the instructor's open tasks. Exports, feedback and the class page are made from
 * this data.
 */
#pragma once

#include "grader/gradebook/gradebook.h"
#include "grader/standing/late.h"
#include "grader/standing/unchecked.h"

enum { SD_MAX_MILESTONES = 16 };

/** A manual item of a milestone's rubric. */
struct sd_item {
    char *id, *text;
    double points;
};

/** A milestone with at least one grade. */
struct sd_milestone {
    char id[16];
    double automatic, manual; /**< maximum points in its rubric */
    size_t items;
    struct sd_item *item;
    size_t images, times; /**< images: largest size at which a submission was right and timed;
                               times: number of such submissions */
    double *time_s;       /**< their Op Times, ascending: one per submission, over all layers */
};

/** One milestone of one student. */
struct sd_points {
    const char *submission;           /**< owner of the grade: the student's or the team's
                                           submission; or NULL */
    const struct gb_grade *grade;     /**< NULL: no grade yet */
    const struct gb_attempt *attempt; /**< the valid attempt, or NULL */
    const struct gb_handin *handin;   /**< or NULL */
    const struct sd_late *late;       /**< or NULL */
    double automatic, manual; /**< points so far; automatic: NAN if not graded because of a fault */
    double unchecked;         /**< points of checks that were not requested */
    size_t open;              /**< manual items that were not entered */
    double op_time_s;         /**< at the milestone's number of images, or NAN */
    double total;             /**< points minus the deduction for lateness; NAN: unknown */
};

/** One student: a row of the roster, or a submission that does not belong to a student of the
 * roster. */
struct sd_student {
    const char *name, *display_name, *email, *platform_id, *sis_id, *section;
    const char
        *submission;  /**< the student's own or the team's submission, or NULL; a submission handed
                           in alone takes precedence */
    const char *team; /**< or "" */
    struct sd_points milestone[SD_MAX_MILESTONES];
};

/** All students, in the roster's order. */
struct sd_class {
    size_t milestones, students;
    struct sd_milestone milestone[SD_MAX_MILESTONES];
    struct sd_student *student;
    struct gb_manual_item_list items; /**< ordered by submission */
    struct gb_check_result_list unchecked;
    struct sd_lates lates;
    struct gb_submission_list submissions;
    struct gb_grade_list grades;
    struct gb_attempt_list attempts; /**< the valid attempts */
    struct gb_handin_list handins;
    struct gb_roster_list roster;
    struct gb_member_list members;
};

/** Reads the class. @param report  receives a line for each mistake in the deadlines; may be
 * NULL */
enum st_code sd_class_read(struct sd_class *class, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err);

/** Computes the milestones' Op Times; sd_class_read() calls this function. */
enum st_code sd_times_read(struct sd_class *class, struct gradebook *book, struct st_error *err);

/** @return a manual item that was entered, or NULL. */
const struct gb_manual_item *sd_item_of(const struct sd_class *class, const char *submission,
                                        const char *milestone, const char *item);

/** Frees the class. */
void sd_class_free(struct sd_class *class);
