/** @file
 * The code that a run executed, and the bytes that the host sent: they show whether a timed run
 * does the same as the proved run. The proof would take too long at the timed sizes.
 */
#pragma once

#include "base/tsv.h"
#include "conv.h"
#include "grader/course/rubric.h"
#include "grader/record/result.h"
#include "grader/session/device_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The number of threads that ran a basic block of a kernel's module, and the name of a kernel. */
struct gr_executed_block {
    uint64_t code; /**< from the module's hash, the function's number and the block's */
    double threads;
    char kernel[96]; /**< the kernel in whose launch it first ran */
};

struct gr_executed {
    struct gr_executed_block *block; /**< sorted by code */
    size_t blocks;
    double sent_bytes;              /**< from the host in one run, without tensors; the maximum */
    double counted[GR_MAX_COUNTED]; /**< the technique's counters (struct gr_item) per output; the
                                       minimum of the runs */
    size_t runs;
};

/** Adds the record of a run. @param technique  the rubric's item, or NULL @param host_tensors  the
 * harness copies nothing, so that y is not sent @return false without memory. */
bool gr_executed_add(struct gr_executed *to, const struct gr_item *technique,
                     const struct gr_device_record *record, const struct conv_shape *shape,
                     bool host_tensors);
void gr_executed_free(struct gr_executed *executed);

/** @return code of @p run that @p proved never ran, or NULL. */
const struct gr_executed_block *gr_executed_beyond(const struct gr_executed *run,
                                                   const struct gr_executed *proved);

/** @return a counter of the technique that is far lower per output in @p run than in @p proved, or
 * NULL. */
const char *gr_executed_lacks(const struct gr_item *technique, const struct gr_executed *run,
                              const struct gr_executed *proved);

/** @return whether the device has that counter. */
bool gr_is_counter(const char *name);
