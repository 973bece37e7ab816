/** @file
 * The code that a run executed, and the bytes that the host sent. They show whether a timed run
 * does the same as the proved run, because a proof would take too long at the timed sizes.
 */
#pragma once

#include "conv.h"
#include "grader/course/rubric.h"
#include "grader/record/result.h"
#include "grader/session/device_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A basic block: how many threads ran it, and the name of a kernel. */
struct gr_executed_block {
    uint64_t code; /**< made from the module's hash, the function's number and the block's number */
    double threads;  /**< in the run that is being added */
    double each;     /**< threads per output; the maximum over runs */
    bool works;      /**< in a proof, it loaded or multiplied elements of x and k */
    char kernel[96]; /**< the kernel in whose launch the block first ran */
};

struct gr_executed {
    struct gr_executed_block *block; /**< sorted by code */
    size_t blocks;
    double sent_bytes;              /**< bytes from the host in one run, without tensors; the
                                         maximum over runs */
    double counted[GR_MAX_COUNTED]; /**< the technique's counters (struct gr_item) per output; the
                                         minimum over runs */
    size_t runs;
    double channels; /**< the maximum C over runs */
};

/** Adds the record of a run. @param technique  the rubric's item, or NULL
 * @param host_tensors  whether the tensors are in host memory: then the harness copies nothing, and
 * y is not sent
 * @return false: out of memory. */
bool gr_executed_add(struct gr_executed *to, const struct gr_item *technique,
                     const struct gr_device_record *record, const struct conv_shape *shape,
                     bool host_tensors);
/** Call gr_executed_free() for the copy. @return false: out of memory. */
bool gr_executed_copy(struct gr_executed *to, const struct gr_executed *from);
void gr_executed_free(struct gr_executed *executed);

/** @return code that @p run executed and @p proved never did, or NULL. */
const struct gr_executed_block *gr_executed_beyond(const struct gr_executed *run,
                                                   const struct gr_executed *proved);

/** @return code that works, and that far more threads per output executed in @p run than in @p proved,
 * or NULL. If the run has more channels, a loop may execute more often in proportion. (Other code may
 * wait in loops.) */
const struct gr_executed_block *gr_executed_more(const struct gr_executed *run,
                                                 const struct gr_executed *proved);

/** @return the name of a technique's counter of which @p run has less than a part of @p proved, per
 * output, or NULL. */
const char *gr_executed_lacks(const struct gr_item *technique, const struct gr_executed *run,
                              const struct gr_executed *proved, double part);

/** @return whether the device has a counter with this name. */
bool gr_is_counter(const char *name);
