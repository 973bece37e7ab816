/** @file
 * Final grades: the parts of a course's grade, from a table that the instructor may change.
 *
 *     part  weight  kind  of  best  first  second
 *
 * | kind         | of                         | share of the weight that a submission gets |
 * |--------------|----------------------------|--------------------------------------------|
 * | rubric       | milestones                 | mean of the best so many: automatic and manual points, of all that the rubric gives |
 * | optimisation | milestones                 | the same, but first (0.6) for the automatic points and the rest for the manual |
 * | ranking      | milestones                 | first (0.75) at the class's median Op Time, and second (0.125) more for each standard deviation below it; from 0 to 1; 0 without a right result |
 * | manual       | an item of the whole course | its points, of first |
 * | late         | an item of the whole course | weight (negative) for each day beyond first |
 */
#pragma once

#include "base/status.h"
#include "grader/gradebook/gradebook.h"

#include <stddef.h>

enum { CL_MAX_PARTS = 16, CL_MAX_OF = 16 };

enum cl_part_kind { CL_RUBRIC, CL_OPTIMISATION, CL_RANKING, CL_MANUAL, CL_LATE };

/** A milestone of a part. */
struct cl_part_milestone {
    char id[16];
    double automatic, manual; /**< the most points of its rubric */
    size_t manual_items;
};

/** One part. */
struct cl_part {
    char name[64];
    double weight;
    enum cl_part_kind kind;
    size_t best;
    double first, second;
    char item[64]; /**< of manual and late */
    size_t milestones;
    struct cl_part_milestone milestone[CL_MAX_OF];
};

/** A table of parts. */
struct cl_weights {
    size_t parts;
    struct cl_part part[CL_MAX_PARTS];
};

/** Reads a table. @return ST_BAD_FORMAT with file and row if something in it is wrong. */
enum st_code cl_weights_read(struct cl_weights *weights, const char *path, struct st_error *err);

/** The final grade of one submission. */
struct cl_final {
    char *submission, *team;
    bool is_team;  /**< it counts for students of the roster, who have rows or share this one */
    char *student; /**< of one whom being late costs something; else NULL */
    double points[CL_MAX_PARTS];     /**< of each part */
    double total;                    /**< their sum, not below 0 */
    size_t open;                     /**< manual items that were not entered: they count 0 */
    size_t faults;                   /**< grades that are missing through a fault of ours */
    size_t teams_open, teams_faults; /**< those of them that are the team's */
    size_t grades;                   /**< milestones that have one, whatever its status */
};

/** All submissions, in the order of their names. */
struct cl_final_list {
    size_t n;
    struct cl_final *row;
    size_t lates;
    struct cl_final *
        late; /**< grades that replace it for some students, by their deadlines (grader/standing) */
    char uncounted[128]; /**< "m40, m41": milestones with grades that no part counts; "" if none */
};

/** @return a student's own, where being late makes it another than the submission's, or @p otherwise. */
const struct cl_final *cl_final_of(const struct cl_final_list *list, const char *student,
                                   const struct cl_final *otherwise);

/** The points of a check of the rubric that a grading did not request. */
enum cl_unchecked {
    CL_UNDECIDED, /**< not decided: no such check may exist */
    CL_LEFT_OUT,  /**< its points are given to nobody and removed from the maximum */
    CL_LOST       /**< 0 of its points */
};

/** Computes them. @return ST_USAGE, with the first of them, if a check that was not requested
 * needs a decision. */
enum st_code cl_final_make(struct cl_final_list *list, struct gradebook *book,
                           const struct cl_weights *weights, enum cl_unchecked unchecked,
                           struct st_error *err);

/** Releases them. */
void cl_final_free(struct cl_final_list *list);

/** The share of a ranking's weight for an Op Time, in a class with these. @param n  at least 1 */
double cl_ranking_share(const struct cl_part *part, double op_time_s, const double *all, size_t n);
