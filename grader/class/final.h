/** @file
 * Final grades: the parts of a course's grade, from a table that the instructor may change.
 *
 *     part  weight  kind  of  best  first  second
 *
 * | kind         | of                         | share of the weight that a submission gets |
 * |--------------|----------------------------|--------------------------------------------|
 * | rubric       | milestones                 | mean of the `best` milestones: automatic and manual points divided by the rubric's maximum |
 * | optimisation | milestones                 | as rubric, but first (0.6) for the automatic points and the rest for the manual points |
 * | ranking      | milestones                 | first (0.75) at the class's median Op Time, plus second (0.125) per standard deviation below it; from 0 to 1; 0 without a right result |
 * | manual       | an item of the whole course | its points divided by first |
 * | late         | an item of the whole course | weight (negative) per day beyond first |
 */
#pragma once

#include "base/status.h"
#include "grader/gradebook/gradebook.h"
#include "grader/standing/unchecked.h"

#include <stddef.h>

enum { CL_MAX_PARTS = 16, CL_MAX_OF = 16 };

enum cl_part_kind { CL_RUBRIC, CL_OPTIMISATION, CL_RANKING, CL_MANUAL, CL_LATE };

/** A milestone of a part. */
struct cl_part_milestone {
    char id[16];
    double automatic, manual; /**< maximum points in its rubric */
    size_t manual_items;
};

/** One part. */
struct cl_part {
    char name[64];
    double weight;
    enum cl_part_kind kind;
    size_t best;
    double first, second;
    char item[64]; /**< the item, if the kind is manual or late */
    size_t milestones;
    struct cl_part_milestone milestone[CL_MAX_OF];
};

/** A table of parts. */
struct cl_weights {
    size_t parts;
    struct cl_part part[CL_MAX_PARTS];
};

/** Reads a table. @return ST_BAD_FORMAT with file and row if a value is wrong. */
enum st_code cl_weights_read(struct cl_weights *weights, const char *path, struct st_error *err);

/** The final grade of one submission. */
struct cl_final {
    char *submission, *team;
    bool is_team;  /**< a team with members in the roster, whose rows have its grades */
    char *student; /**< a student who loses points for lateness; else NULL */
    double points[CL_MAX_PARTS]; /**< per part */
    double total;                /**< their sum, not below 0 */
    size_t open;                 /**< manual items that were not entered, and count as 0 */
    size_t faults;               /**< grades missing because of a fault of the grader or machine */
    size_t teams_open, teams_faults; /**< how many of these are the team's */
    size_t grades;                   /**< milestones with a grade, whatever its status */
};

/** The final grades of all submissions, in the order of their names. */
struct cl_final_list {
    size_t n;
    struct cl_final *row;
    size_t lates;
    struct cl_final *late; /**< for late students: replace the submission's grade
                                (grader/standing) */
    char uncounted[128]; /**< "m40, m41": milestones with grades that no part counts; "" if none */
};

/** @return a student's own final grade, if lateness makes it differ from the submission's, or
 * @p otherwise. */
const struct cl_final *cl_final_of(const struct cl_final_list *list, const char *student,
                                   const struct cl_final *otherwise);

/** Computes final grades. @return ST_USAGE if checks that were not requested need a decision; the
 * error names the first. */
enum st_code cl_final_make(struct cl_final_list *list, struct gradebook *book,
                           const struct cl_weights *weights, enum sd_unchecked unchecked,
                           struct st_error *err);

/** Frees a list of final grades. */
void cl_final_free(struct cl_final_list *list);

/** The share of a ranking's weight that an Op Time gets, compared with all times of the class.
 * @param n  at least 1 */
double cl_ranking_share(const struct cl_part *part, double op_time_s, const double *all, size_t n);
