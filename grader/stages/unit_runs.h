/** @file
 * The runs of unit shapes, for the stage that grades them (unit_shapes.c).
 */
#pragma once

#include "grader/compare/compare.h"
#include "grader/stages/grading.h"

/** A unit shape with its data. One allocation contains everything: x, k, ref, y, atol. */
struct gr_unit {
    struct gr_case c;
    float *storage, *x, *k, *ref, *y, *atol;
};

/** Orders that a wrong submission may need. */
enum gr_needs { GR_NEEDS_NOTHING, GR_NEEDS_STREAMS, GR_NEEDS_BLOCKS };

/** The state of the stage: the shapes whose runs ended normally, and the first run that did not. */
struct gr_unit_stage {
    const struct exercise *exercise;
    struct gr_unit unit[GR_MAX_CASES];
    struct gr_case cases[GR_MAX_CASES];
    struct gr_compare compared[GR_MAX_CASES];
    size_t whole;   /**< cases with outputs to compare */
    size_t refused; /**< shapes for which conv_forward returned an error */
    bool is_enough; /**< set when the other shapes need not run */
    size_t crashes;
    size_t accidents;               /**< crashes, hangs and findings, of all kinds */
    size_t clean;                   /**< right shapes, without any accident */
    const struct conv_shape *shown; /**< the largest clean shape that is quick to prove */
    char accident[512];             /**< the first crash, hang or damage, with its shape; or "" */
    char accident_hint[320];
    char accident_pattern[32];
    const struct gr_unit *bad; /**< the first bad shape of those that run in another order */
    enum gr_needs needs;       /**< the order that it needs */
    bool found;                /**< the virtual GPU found the accident, with line and thread */
    bool only_k5;              /**< set once the other shapes have crashed often enough */
    size_t k5, k5_right, others, others_right; /**< shapes with K = 5, and with other K */
    uint64_t free_bytes;          /**< free device memory after the last run of this process */
    const struct gr_unit *keeper; /**< the last shape whose run left less free memory than before */
    size_t in_bytes; /**< wrong shapes that have a copy of as many bytes as a tensor has elements */
    char clue[160];  /**< one of these copies */
    size_t shared_workspaces; /**< wrong shapes that called conv_workspace() more than once */
    size_t swapped;           /**< wrong shapes whose grid fits only with the axes exchanged */
    size_t too_short;         /**< wrong shapes whose grid has too few blocks along one axis */
    char swapped_clue[256], short_clue[256]; /**< the first of these grids */
    char warning[320];        /**< of the compiler, if it may explain the mistake; or "" */
    const char *warning_hint; /**< its hint */
    size_t left;              /**< wrong shapes, completely written, in which threads ended before a
                                   barrier */
    char left_clue[256];      /**< those of the first such shape */
};

/** Allocates a unit shape's data and fills it in. @param number  of the shape, which selects the
 * random inputs. @param tolerance  for nn_conv_tolerance() */
enum st_code gr_unit_make(struct gr_unit *unit, const struct gr_case_shape *spec, uint64_t seed,
                          size_t number, double tolerance, struct st_error *err);

/** Describes a shape by its sizes and its label. */
void gr_unit_shape_text(const struct exercise *exercise, char *to, size_t room,
                        const struct gr_case_shape *spec);

/** Runs one shape, and adds its outcome to the stage. @param n  the number of all shapes
 * @return false if the stage must end. */
bool gr_unit_run(struct grading *g, struct gr_unit_stage *stage, struct gr_unit *unit, size_t n,
                 struct st_error *err, enum st_code *code);

/** Checks whether each call leaves less device memory; a leak becomes the stage's accident. */
void gr_unit_leak_check(struct grading *g, struct gr_unit_stage *stage, size_t n);

/** Checks whether the kernels have repeated so many products that a short grading ends; this becomes
 * the stage's accident. @param unit  the last shape that ran @return whether they have */
bool gr_unit_repeats_check(struct grading *g, struct gr_unit_stage *stage,
                           const struct gr_unit *unit, size_t n);

/** @return whether outputs that fit no pattern are the same in every run. */
bool gr_unit_is_repeatable(struct grading *g, const struct gr_unit_stage *stage);

/** @return whether a shape runs in another order than that of calls and block numbers. */
bool gr_unit_is_reordered(const struct grading *g, size_t number);

/** @return the order that the first bad shape needs: it is right, without a finding, in the order of
 * calls and block numbers, and bad again in another order that CUDA permits. */
enum gr_needs gr_unit_needs_order(struct grading *g, const struct gr_unit_stage *stage);

/** Runs the first wrong shape again, with zeros in y before the call. @return whether all outputs that
 * were NaN are NaN again. */
bool gr_unit_is_nan_anyway(struct grading *g, const struct gr_unit_stage *stage);

/** The results of repeating the first wrong case in new processes. */
enum gr_alone {
    GR_ALONE_WRONG,  /**< it is wrong as a process's first call, too */
    GR_ALONE_STATE,  /**< it is right as the first call, and wrong again after the same calls:
                          something is kept from call to call */
    GR_ALONE_CHANCE, /**< it is right as the first call, and after the same calls, too */
};

enum gr_alone gr_unit_alone(struct grading *g, const struct gr_unit_stage *stage);
