/** @file
 * The rubric of a milestone: labs/mN-NAME/rubric.yaml.
 *
 *     milestone: m1
 *     title: CPU convolution
 *     technique: one sentence
 *     compute_capability: 80       optional: 10 times the lowest that the technique needs; make
 *                                  compiles for it and later GPUs
 *     tolerance: 0.004             optional, for lower precision than float32: an output's error
 *                                  may be this fraction of max|x| * sum|k|
 *     items:
 *       - id: unit_shapes          automatic items name a check of the grader
 *         kind: automatic          or manual: scored by the instructor
 *         points: 25
 *         at_most: [3, 4, 6]       only of "speed", rising: times m2's Op Time. Each satisfied
 *                                  bound gives an equal share of the points, here one third
 *         linear: [2, 8]           instead of at_most: all points up to 2 times m2's Op Time, none
 *                                  at 8 times or more, in proportion between them
 *         timed: {images: 5000, model: two-layer-86, gpu: A40}
 *                                  only with linear, whose bounds are then milliseconds: the Op
 *                                  Times of all layers of this model (default two-layer) for this
 *                                  many images, measured on a GPU with this word in its name, or
 *                                  modelled for "virtual:h200"
 *         by_share: true           only of "unit_shapes": if it fails, it gives the share of right
 *                                  shapes as points; otherwise it gives all points or none
 *         facts:                   only of "technique": the required facts: a name of facts.def
 *                                  with a bound
 *           - work_on_gpu          or without, if the fact itself decides
 *           - x_shared >= 0.7
 *         counted: [shared_load_requests]   only of "technique": these counters (trace_columns.def)
 *                                           per output must be about equal in a timed run and in
 *                                           the proved run
 *         long_sums: true          only of "technique": the work is proved with all weights of the same
 *                                  size and compared by the tolerance alone, for algorithms that
 *                                  add larger numbers than the products; otherwise it must be as
 *                                  precise as float32's products
 *         whole_layers: true       only of "technique": the work is proved with planes as large as the
 *                                  models', since programs choose their kernels by this size
 *         text: the requirement, in words
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum gr_item_kind { GR_AUTOMATIC, GR_MANUAL };

/** A fact that a technique must show: "x_shared >= 0.7". */
struct gr_bound {
    char fact[48];
    enum { GR_JUDGED, GR_AT_LEAST, GR_AT_MOST } relation; /**< GR_JUDGED: no bound */
    double bound;
};

/** The configuration for judging the Op Time of "speed" in milliseconds. */
struct gr_timed {
    unsigned images;
    char *model; /**< NULL: two-layer */
    char *gpu;   /**< a word in the name of a real GPU, or "virtual:PROFILE" */
};

/** One item of a rubric. */
struct gr_item {
    char *id;
    enum gr_item_kind kind;
    double points;
    double *at_most; /**< "speed": rising multiples of m2's Op Time; NULL: other items, linear */
    unsigned at_most_count;
    double *linear; /**< "speed": the values that give all points and no points, or NULL */
    unsigned linear_count;
    struct gr_timed *timed;  /**< "speed": linear is in milliseconds of this configuration; NULL: in
                         multiples of m2's Op Time */
    bool by_share;           /**< "unit_shapes": points in proportion to the right shapes */
    bool long_sums;          /**< "technique": only the tolerance judges the proved results */
    bool whole_layers;       /**< "technique": proved with planes of the models' size */
    char **facts, **counted; /**< "technique", else NULL: read a fact with gr_bound_read() */
    unsigned facts_count, counted_count;
    char *text;
};

/** A whole rubric; free with gr_rubric_free(). */
struct gr_rubric {
    char *milestone, *title, *technique;
    unsigned compute_capability; /**< 10 times the lowest capability that the technique needs; 0:
                                      any */
    double tolerance;            /**< for nn_conv_tolerance(); 0: float32's tolerance */
    struct gr_item *items;
    unsigned items_count;
};

/** Loads and checks a rubric. @return ST_OK; ST_BAD_FORMAT with file, line, column and the mistake:
 * not YAML, an unknown or missing key, a wrong kind, negative points, a repeated id. */
enum st_code gr_rubric_load(struct gr_rubric **rubric, const char *path, struct st_error *err);

/** @return the images of an item "inference_100", or the size of "size_100"; 0 for other items. */
size_t gr_item_images(const struct gr_item *item);

/** @return the size at which an item "speed" is judged. @param speed_size  the exercise's size,
 * used without timed */
size_t gr_item_speed_images(const struct gr_item *item, size_t speed_size);

/** @return the model for which an item "speed" is judged in milliseconds; NULL: it is not. */
const char *gr_item_speed_model(const struct gr_item *item);

/** @return the points that an item "speed" gives for a value: a multiple of m2's Op Time, or
 * milliseconds. */
double gr_item_speed_points(const struct gr_item *item, double value);

/** @return the automatic item with this id, or NULL. */
const struct gr_item *gr_rubric_item(const struct gr_rubric *rubric, const char *id);

/** Reads "x_shared >= 0.7", or a name alone. @return false if it is neither. */
bool gr_bound_read(struct gr_bound *to, const char *fact);

/** Frees a rubric, which may be NULL. */
void gr_rubric_free(struct gr_rubric *rubric);
