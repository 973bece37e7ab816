/** @file
 * The code that a run executed, and the bytes that the host sent: they show whether a timed run does the
 * same as the proved one. The proof takes too long for the timed sizes.
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

/** Threads that ran a basic block of a kernel's module, and the name of a kernel. */
struct gr_executed_block {
    uint64_t code; /**< of the module's hash, the function's number and the block's */
    double threads;
    char kernel[96]; /**< in whose launch it ran first */
};

struct gr_executed {
    struct gr_executed_block *block; /**< sorted by code */
    size_t blocks;
    double sent_bytes;              /**< by the host in one run, other than the tensors; the most */
    double counted[GR_MAX_COUNTED]; /**< the technique's counters (struct gr_item) for each output;
                                       the least of a run */
    size_t runs;
};

/** Adds what a run did. @param technique  the rubric's item, or NULL @param host_tensors  the harness
 * copies nothing, so y is not sent @return false without memory. */
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
