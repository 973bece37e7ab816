/** @file
 * Checks of the rubric that a grading did not request (--images, --quick): they count as 0 only if the
 * instructor decides so.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

enum sd_unchecked {
    SD_UNDECIDED, /**< no decision: no check may be missing */
    SD_OMIT,      /**< no student gets the check's points, and they are removed from the maximum */
    SD_LOST       /**< the check counts as 0 points */
};

/** The option --unchecked of a command. @param member  an enum sd_unchecked of the struct type */
#define SD_UNCHECKED_ROW(type, member)                                                                                                                                               \
    {                                                                                                                                                                                \
        "unchecked", 0, "WORD",                                                                                                                                                      \
            "checks of the rubric that a grading left out: omit removes their points from the maximum, lost counts them as 0; the default ask prints a message and writes no table", \
            OPTION_CHOICE(type, member, sd_unchecked_words)                                                                                                                          \
    }
extern const char *const sd_unchecked_words[];

/** Reads the checks that the valid gradings did not request. */
enum st_code sd_unchecked_read(struct gb_check_result_list *to, struct gradebook *book,
                               struct st_error *err);

/** @return the points of the checks that an attempt did not request */
double sd_unchecked_points(const struct gb_check_result_list *unchecked, int64_t attempt);

/** @return ST_USAGE if a check is missing in a milestone that counts; the error names the first.
 * @param counts  whether a milestone counts, for @p of */
enum st_code sd_unchecked_refuse(const struct gb_check_result_list *unchecked,
                                 const struct gb_grade_list *grades,
                                 bool (*counts)(const void *of, const char *milestone),
                                 const void *of, struct st_error *err);
