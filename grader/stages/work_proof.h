/** @file
 * The proof of the work: which products are summed into y, in two layers and a unit shape. In the sandbox, a
 * separate thread makes the proof while the library is loaded and the unit shapes run.
 */
#pragma once

#include "grader/stages/grading.h"
#include "grader/technique/executed.h"
#include "grader/technique/way.h"

#include <pthread.h>
#include <stdatomic.h>

enum { GR_PROOF_LAYERS = EXERCISE_LAYERS, GR_PROOF_IMAGES = 2 };
#define GR_PROOF_MACS 4e6 /**< the most multiplications of a unit shape that is proved */

struct gr_proof {
    struct gr_host host;
    struct arena arena;       /**< a separate arena: the network may still need the grading's */
    struct gr_check seen;     /**< states the error if the proof was not made */
    struct conv_shape copied; /**< for tensors in host memory: a layer, and its copies */
    struct gr_copies copies;
    bool has_copies;
    bool made, ended;
    bool is_proved[GR_PROOF_LAYERS]; /**< a model's layer has proved the work, for layers without a
                                          proof */
    /** Of the layers; then of a random unit shape with another K, if `has_unit_way` is set: the host
     * could compute all shapes that do not resemble the layers. */
    struct gr_way way[GR_PROOF_LAYERS + 1];
    bool has_unit_way;
    struct gr_executed executed[GR_PROOF_LAYERS]; /**< in all proved runs of such layers */
    /* This thread owns the whole structure until gr_proof_end() returns. */
    pthread_t maker;
    bool has_maker;
    atomic_bool given_up;
    enum st_code status;
    struct st_error err;
};

/** Starts g->proof, if the milestone has one. @pre the library is built */
enum st_code gr_proof_begin(struct grading *g, struct st_error *err);

/** Ends the thread that makes the proof, if nothing will need it. */
void gr_proof_give_up(struct grading *g);

/** Completes the proof; later calls do nothing. @pre g->proof */
enum st_code gr_proof_end(struct grading *g, struct st_error *err);

/** Proves one more convolution. @param nth  its number in this grading, which selects the random
 * inputs
 * @return whether it was right: then @p way is filled in; otherwise the check states the mistake,
 * or *status is set. */
bool gr_prove(struct grading *g, const struct conv_shape *shape, size_t nth, struct gr_way *way,
              struct gr_check *check, enum st_code *status, struct st_error *err);

/** Runs a convolution with the same inputs as gr_prove(), but without a proof, which is much faster.
 * @param executed  the code that it executes is added @return whether it was right */
bool gr_run_unproved(struct grading *g, const struct conv_shape *shape, size_t nth,
                     struct gr_executed *executed, enum st_code *status, struct st_error *err);

/** For tensors in host memory: runs the exercise's layer and records its copies, unless those of a
 * timed run are known. @pre the proof is complete. Like the proof, it may not be made. */
enum st_code gr_proof_copies(struct grading *g, struct st_error *err);

/** Stores the copies of a timed run. */
void gr_proof_set_copies(struct grading *g, const struct gr_copies *copies,
                         const struct conv_shape *of);

/** @return whether only the tolerance is judged: always if the milestone has its own. Winograd's
 * transforms lose a part of the largest sum that they form, not of each product: with few large
 * weights, their error exceeds what a proof allows (the page of m14). */
bool gr_has_long_sums(const struct grading *g);

/** Finds the layer that a shape resembles: the layer with several input maps, or with one. A proof
 * of one layer says nothing about the other: a submission may treat them differently. */
static inline size_t gr_layer_like(const struct conv_shape *s)
{
    return s->C == 1;
}
