/** @file
 * The changes from one graded version to another: checks, Op Times, and for each kernel profiled in
 * both, the lines whose counters changed. The virtual GPU's counters are exact, so that a
 * difference comes from the code.
 */
#pragma once

#include "grader/history/history.h"
#include "grader/history/line_match.h"

#include <stdio.h>

enum hi_count {
#define COUNT(name, ...) HI_##name,
#include "grader/history/counts.def"
#undef COUNT
    HI_COUNTS
};

enum { HI_KERNELS = 16, HI_NAME = 256, HI_BEFORE = 0, HI_AFTER = 1 };

/** A segment of the source in one kernel; [HI_BEFORE], [HI_AFTER]. */
struct hi_line {
    struct hi_place place; /**< zeroed: the whole kernel */
    double ns[2];          /**< the segment's share of the kernel's time */
    double count[2][HI_COUNTS];
};

/** A kernel of both versions, or of one of them. */
struct hi_kernel {
    char name[HI_NAME];    /**< name with parameters, as in profiles */
    char earlier[HI_NAME]; /**< earlier name, if it differs; otherwise "" */
    double ns[2];          /**< of all launches; 0: this version lacks the kernel */
    char limit[2][64];     /**< "the issue of instructions" */
    struct hi_line total;
    size_t n;
    struct hi_line *line; /**< segments that differ, the largest difference in time first */
};

/** The change from one version to another. */
struct hi_change {
    struct hi_version version[2];
    struct gr_result *result[2];
    struct line_match match; /**< between their sources; empty if a source was not kept */
    long images;             /**< size at which both versions were profiled; 0: none */
    size_t kernels;
    struct hi_kernel kernel[HI_KERNELS];
    char missing[400]; /**< the reason if a part is not compared, or "" */
};

/** Chooses two versions of a list. @param before, after  a number or the first digits of a hash;
 * NULL for @p after: the newest version; NULL for @p before: the previous comparable version.
 * @param change  gets both versions and their records */
enum st_code hi_versions_choose(const struct hi_list *list, const char *before, const char *after,
                                struct hi_change *change, struct st_error *err);

/** Compares both versions. Free the change with hi_change_free(), even after an error of either
 * function. */
enum st_code hi_change_find(struct hi_change *change, struct st_error *err);

/** Frees the members of a change. */
void hi_change_free(struct hi_change *change);

/* ---- words (change_words.c) ------------------------------------------------------------------- */

enum { HI_WORDS = 120 };

/** @return whether the times of two records can be compared: same device, model and machine. */
bool hi_is_comparable(const struct gr_result *a, const struct gr_result *b);

/** "31% faster", "2.1 times as fast", "12% slower", "equal", "equal within noise". @param noise 
 * how far the ratio may differ from 1 by chance. @return @p to */
const char *hi_time_words(char to[HI_WORDS], double before, double after, double noise);

/** The Op Time of a layer (from 1) at a size; NAN if its outputs were wrong or it did not run.
 * @param noise  set to the relative uncertainty */
double hi_op_time(const struct gr_result *result, size_t images, int layer, double *noise);

/** "a third fewer shared loads", "twice as many barriers". @return @p to */
const char *hi_count_words(char to[HI_WORDS], enum hi_count count, double before, double after);

/** "line 43", "lines 43-45 (line 40 before)". @return @p to */
const char *hi_place_words(char to[HI_WORDS], const struct hi_place *place);

/** Chooses the counts of a line that best explain the line's change. @return their number */
size_t hi_line_counts(const struct hi_kernel *kernel, const struct hi_line *line,
                      enum hi_count to[HI_COUNTS]);

/** Writes the kernel's change as a sentence: "conv_tile 31% faster: a third fewer shared loads at
 * line 43". */
void hi_kernel_sentence(FILE *out, const struct hi_kernel *kernel);
