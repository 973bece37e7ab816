/** @file
 * How each student stands: per milestone the automatic and manual points, what being late took, and
 * what waits for the instructor. Exports, feedback and the class page are made from this.
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

/** A milestone that anybody has a grade of. */
struct sd_milestone {
    char id[16];
    double automatic, manual; /**< the most points that its rubric gives */
    size_t items;
    struct sd_item *item;
    size_t images,
        times;      /**< the largest size that anybody got right and was timed at; how many were */
    double *time_s; /**< their Op Times, ascending: one of each submission, all layers together */
};

/** One student's milestone. */
struct sd_points {
    const char *submission;           /**< whose grade it is: their own or their team's; or NULL */
    const struct gb_grade *grade;     /**< or NULL: none yet */
    const struct gb_attempt *attempt; /**< that counts, or NULL */
    const struct gb_handin *handin;   /**< or NULL */
    const struct sd_late *late;       /**< or NULL */
    double automatic, manual;         /**< given so far; automatic is NAN through a fault of ours */
    size_t open;                      /**< manual items that were not entered */
    double op_time_s;                 /**< at the milestone's images, or NAN */
    double total;                     /**< less what being late takes; NAN if nothing is known */
};

/** One student: a row of the roster, or a submission that nobody of the roster made. */
struct sd_student {
    const char *name, *display_name, *email, *platform_id, *sis_id, *section;
    const char
        *submission;  /**< their own or their team's, or NULL: what they handed in alone counts */
    const char *team; /**< or "" */
    struct sd_points milestone[SD_MAX_MILESTONES];
};

/** Everybody, in the roster's order. */
struct sd_class {
    size_t milestones, students;
    struct sd_milestone milestone[SD_MAX_MILESTONES];
    struct sd_student *student;
    struct gb_manual_item_list items; /**< ordered by submission */
    struct sd_lates lates;
    struct gb_submission_list submissions;
    struct gb_grade_list grades;
    struct gb_attempt_list attempts; /**< those that count */
    struct gb_handin_list handins;
    struct gb_roster_list roster;
    struct gb_member_list members;
};

/** Reads it. @param report  receives a line for each mistake in the deadlines; or NULL */
enum st_code sd_class_read(struct sd_class *class, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err);

/** Fills in the milestones' Op Times; sd_class_read() calls it. */
enum st_code sd_times_read(struct sd_class *class, struct gradebook *book, struct st_error *err);

/** A manual item that was entered, or NULL. */
const struct gb_manual_item *sd_item_of(const struct sd_class *class, const char *submission,
                                        const char *milestone, const char *item);

/** Releases it. */
void sd_class_free(struct sd_class *class);
