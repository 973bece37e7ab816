/** @file
 * Internal to the diagnosis: declarations shared by its stages.
 *
 *     clues.c        marks wrong elements and counts their kinds of values
 *     diagnose.c     runs the stages in order, writes the message
 *     hypothesis.c   does a fault of faults.def predict every output?
 *     region.c       do the wrong elements fill a region of the tensor?
 *     terms.c        which products do the outputs leave out or repeat?
 *     block_gaps.c   do blocks store fewer outputs than the launch assumes?
 *     condition.c    does the mistake depend only on the shape?
 */
#pragma once

#include "grader/compare/compare.h"
#include "grader/diagnose/faults.h"

/** All cases, with each element marked as right or wrong. */
struct gr_clues {
    const struct gr_case *cases;
    const struct gr_compare *compared;
    size_t n;
    size_t wrong_cases, wrong, elems; /**< counts over all cases */
    uint8_t **is_wrong;               /**< [n][elements of y], by index of the case */
    size_t *by_work;                  /**< [n], indices of the cases, those with the least work
                                           first */
};

/** Marks the elements of all cases. @return false: out of memory. Free the clues in any case. */
bool gr_clues_make(struct gr_clues *clues, const struct gr_case *cases,
                   const struct gr_compare *compared, size_t n);

/** Frees what gr_clues_make() has allocated. */
void gr_clues_free(struct gr_clues *clues);

/** The kinds of values of the wrong elements: each element counts once. */
struct gr_contents {
    size_t unwritten, zero, old_y, scratch, outside, gpu_nan, other_nan, inf, number;
};

/** Counts the values. */
struct gr_contents gr_clues_contents(const struct gr_clues *clues);

/** @param written_only  whether to ignore elements that were never written, since they may be
 * missing for another reason.
 * @param exceptions  number of wrong cases that need not fit
 * @return the first fault of the table that predicts every element of every case, including the
 * right ones, or NULL. Elements that it computes from outside x or k count as unknown. */
const struct gr_fault *gr_find_fault(const struct gr_clues *clues, bool written_only,
                                     size_t exceptions);

/** A region that contains all wrong elements. */
struct gr_region_found {
    const char *missing_id; /**< pattern if the elements were never written, or are 0 */
    const char *wrong_id;   /**< pattern otherwise */
    char says[160];         /**< "those of the last row (h = H_out - 1)" */
    const char *hint;
    bool whole; /**< whether all of the region is wrong, not only a large part */
};

/** @param whole_only  accept only a region whose elements are all wrong. @return whether a region
 * was found. */
bool gr_find_region(const struct gr_clues *clues, bool whole_only, struct gr_region_found *to);

/** Outputs in which some products are missing or repeated. */
struct gr_terms_found {
    const char *id; /**< "terms_left_out", "terms_repeated" or "terms_wrong" */
    char says[224]; /**< names the products, for one shape */
};

/** Checks whether the outputs are the right sums, except that some input maps, filter elements or
 * products occur in them more or less than once, equally in all outputs of a shape. @return whether
 * this explains several wrong cases. */
bool gr_find_terms(const struct gr_clues *clues, struct gr_terms_found *to);

/** Writes a condition that is true for the shapes of all wrong cases and of no right case, such as
 * "C > 1". @return false, and an empty string, if there is no such condition. */
bool gr_find_condition(const struct gr_clues *clues, char *to, size_t room);

/** How blocks leave out outputs along some axes. */
struct gr_block_gaps {
    bool axis[2];        /**< rows, columns */
    size_t step, stored; /**< outputs of a block along an axis: in the launch, in the kernel */
    bool is_end;         /**< they are missing at the end, otherwise after each block */
};

/** @return whether the unwritten outputs of all wrong cases have this reason, and no others are
 * unwritten. */
bool gr_find_block_gaps(const struct gr_clues *clues, struct gr_block_gaps *to);
