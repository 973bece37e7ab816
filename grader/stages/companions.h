/** @file
 * Libraries that are timed in turn with the submission, on the same data: the reference of the same
 * milestone, that of m2, the plain loops of m1. They are never compared and never scored.
 */
#ifndef CONVLAB_GRADER_COMPANIONS_H
#define CONVLAB_GRADER_COMPANIONS_H

#include "grader/stages/grading.h"
#include "grader/stages/kept_times.h"
#include "grader/record/timing.h"
#include "grader/compare/verify.h"

/** One of them. */
struct gr_companion {
    enum gr_subject subject;
    struct gr_host host; /**< that of the grading, but with native code of its own */
    struct gr_session session;
    bool running;
    size_t images_at_most;     /**< what is slow is timed at small sizes only */
    char library[PATH_MAX];    /**< virtual GPU: what is run for a time that is not kept */
    struct gr_kept_times kept; /**< virtual GPU */
    char milestone[16];        /**< virtual GPU, without the library: whose times are looked up */
};

enum { GR_COMPANIONS = 3 };

/** Zeroed companions, none of which runs. */
void gr_companions_clear(struct gr_companion companion[GR_COMPANIONS]);
/** Builds and starts those that there are, with --quick none. */
void gr_companions_start(struct gr_companion companion[GR_COMPANIONS], struct grading *g);
/** Times each once on a convolution, which the arena is filled with. @param layer  from 0
 * @param warm_up  the times are not kept. */
void gr_companions_time(struct gr_companion companion[GR_COMPANIONS], struct grading *g,
                        const char *model, const struct gr_conv *conv, int layer, bool warm_up);
/** Models one convolution with a library, anew, on the grading's virtual GPU. @return whether it ran */
bool gr_companion_model(struct gr_companion *companion, struct grading *g, const char *library,
                        const struct gr_conv *conv, double *op_time_s);
/** Ends them. */
void gr_companions_end(struct gr_companion companion[GR_COMPANIONS]);

#endif
