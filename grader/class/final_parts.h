/** @file
 * Internal to final grades: final_source.c reads, final_ranking.c ranks, final.c adds up. */
#pragma once

#include "grader/class/final.h"
#include "grader/standing/late.h"

/** The data of final grades. Lists are sorted by submission. */
struct cl_source {
    struct gb_submission_list submissions;
    struct gb_roster_list roster;
    struct gb_member_list members;
    struct gb_grade_list grades;
    struct gb_manual_item_list items;
    struct gb_timing_list timings;         /**< Op Times for the ranking */
    struct gb_check_result_list unchecked; /**< checks that were not requested */
    enum sd_unchecked counts;
    struct sd_lates lates;
    const char *student; /**< the student whose lateness counts, or NULL */
};

/** Reads the data; the caller frees the data, even after an error. @param s  zeroed except for
 * counts */
enum st_code cl_source_read(struct cl_source *s, struct gradebook *book, struct st_error *err);

/** Frees the data. */
void cl_source_free(struct cl_source *s);

/** @return a student's team in the roster, or "". */
const char *cl_team_of(const struct cl_source *s, const char *name);

/** Computes the ranking points of all submissions. @param which  index of the part in the
 * weights */
enum st_code cl_rank(const struct cl_source *s, const struct cl_part *part, size_t which,
                     struct cl_final_list *list, struct st_error *err);

/** Gives a student who also hands in with a team the better of both ranks; the team keeps one
 * rank. */
void cl_share_places(const struct cl_source *s, size_t which, struct cl_final_list *list);
