/** @file
 * Libraries that are timed alternately with the submission, on the same data: the references of its
 * milestone and of m2, and the plain loops of m1. The outputs of companions are not compared and
 * earn no points.
 */
#pragma once

#include "grader/stages/grading.h"
#include "grader/stages/kept_times.h"
#include "grader/record/timing.h"
#include "grader/compare/verify.h"

/** A library that is timed alternately with the submission. */
struct gr_companion {
    enum gr_subject subject;
    struct gr_host host; /**< the grading's host, but with a separate store of native code */
    struct gr_session session;
    bool running;
    size_t images_at_most;     /**< slow libraries are timed only up to this size */
    char library[PATH_MAX];    /**< virtual GPU: the library to run for times that have not been
                                    kept */
    struct gr_kept_times kept; /**< virtual GPU: the kept times */
    char milestone
        [16]; /**< virtual GPU, without the library: the milestone whose times are looked up */
};

enum { GR_COMPANIONS = 3 };

/** Zeroes all companions, so that none runs. */
void gr_companions_clear(struct gr_companion companion[GR_COMPANIONS]);
/** Builds and starts the companions that exist; none with --quick. */
void gr_companions_start(struct gr_companion companion[GR_COMPANIONS], struct grading *g);
/** Times each companion once on the convolution in the arena. @param layer  from 0
 * @param warm_up  discard the times. */
void gr_companions_time(struct gr_companion companion[GR_COMPANIONS], struct grading *g,
                        const char *model, const struct gr_conv *conv, int layer, bool warm_up);
/** Models the time of one convolution with a library again, on the grading's virtual GPU. @return
 * whether it ran */
bool gr_companion_model(struct gr_companion *companion, struct grading *g, const char *library,
                        const struct gr_conv *conv, double *op_time_s);
/** Ends all companions. */
void gr_companions_end(struct gr_companion companion[GR_COMPANIONS]);
