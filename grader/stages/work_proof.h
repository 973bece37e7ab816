/** @file
 * The proof of a grading: what y is made of in two layers. It does not depend on the unit shapes: in the
 * sandbox a thread of its own makes it while they run.
 */
#ifndef CONVLAB_GRADER_WORK_PROOF_H
#define CONVLAB_GRADER_WORK_PROOF_H

#include "grader/stages/grading.h"
#include "grader/technique/executed.h"
#include "grader/technique/way.h"

#include <pthread.h>
#include <stdatomic.h>

enum { GR_PROOF_LAYERS = 2, GR_PROOF_IMAGES = 2 };

struct gr_proof {
    struct gr_host host;
    struct arena arena;   /**< its own: that of the grading may hold what a network goes on with */
    struct gr_check seen; /**< why it was not made, if it was not */
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

/** Begins g->proof, if the milestone has one. */
enum st_code gr_proof_begin(struct grading *g, struct st_error *err);

/** Completes it, the first time. @pre g->proof */
enum st_code gr_proof_end(struct grading *g, struct st_error *err);

/** Proves one more convolution. @param nth  of this grading, for its random inputs @return whether it
 * was right: then @p way is filled in; else the check says what is wrong, or *status. */
bool gr_prove(struct grading *g, const struct conv_shape *shape, size_t nth, struct gr_way *way,
              struct gr_check *check, enum st_code *status, struct st_error *err);

/** Which of the two layers a shape is like: one with several input maps, or with one. Work for one of
 * them is no proof of work for the other. */
static inline size_t gr_layer_like(const struct conv_shape *s)
{
    return s->C == 1;
}

#endif
