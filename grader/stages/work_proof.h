/** @file
 * The proof of a grading: the products that make y in two layers. It does not depend on the unit shapes:
 * in the sandbox its own thread makes it while they run.
 */
#pragma once

#include "grader/stages/grading.h"
#include "grader/technique/executed.h"
#include "grader/technique/way.h"

#include <pthread.h>
#include <stdatomic.h>

enum { GR_PROOF_LAYERS = EXERCISE_LAYERS, GR_PROOF_IMAGES = 2 };

struct gr_proof {
    struct gr_host host;
    struct arena arena;      /**< its own: the network may still need the grading's */
    struct gr_check seen;    /**< the error, if it was not made */
    struct gr_copies copies; /**< tensors in host memory: of the exercise's layer for that */
    bool made, ended;
    bool is_proved[GR_PROOF_LAYERS]; /**< by a layer of a model, where none was made */
    struct gr_way way[GR_PROOF_LAYERS];
    struct gr_executed
        executed[GR_PROOF_LAYERS]; /**< in all runs of such layers that were proved */
    /* Until gr_proof_end() returns, all of it belongs to this thread. */
    pthread_t maker;
    bool has_maker;
    atomic_bool given_up;
    enum st_code status;
    struct st_error err;
};

/** Starts g->proof, if the milestone has one. */
enum st_code gr_proof_begin(struct grading *g, struct st_error *err);

/** Completes it, the first time. @pre g->proof */
enum st_code gr_proof_end(struct grading *g, struct st_error *err);

/** Proves one more convolution. @param nth  of this grading, for its random inputs @return whether it
 * was right: then @p way is filled in; else the check states the mistake, or *status is set. */
bool gr_prove(struct grading *g, const struct conv_shape *shape, size_t nth, struct gr_way *way,
              struct gr_check *check, enum st_code *status, struct st_error *err);

/** Finds the layer that a shape is like: the one with several input maps, or with one. A proof of one is
 * not a proof of the other: a submission may treat them differently. */
static inline size_t gr_layer_like(const struct conv_shape *s)
{
    return s->C == 1;
}
