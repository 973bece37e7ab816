/** @file
 * Modelled Op Times of references, kept in build/. The virtual GPU's times never change, so a
 * reference runs once at each size instead of in every grading.
 *
 * The table is in the library's folder: build/reference/m3/modelled-times.tsv. A row is valid only
 * if its key matches everything that its time depends on: the library, the programs of the virtual
 * GPU, the modelled GPU, the engine if one was requested, and the convolution with its weights.
 * (Not its input: references do the same work for every image.) A table that cannot be read or
 * written is ignored.
 */
#pragma once

#include "base/sha256.h"
#include "grader/compare/verify.h"
#include "grader/session/session.h"

#include <limits.h>
#include <stdbool.h>

/** The times of one library. */
struct gr_kept_times {
    char path[PATH_MAX];  /**< the table; "": nothing is kept */
    struct sha256 origin; /**< a hash of the key's parts other than the convolution */
};

/** Finds the table of a library, which need not exist yet. */
void gr_kept_times_open(struct gr_kept_times *kept, const struct gr_host *host,
                        const char *library);
/** @return whether the table has the convolution's time; then @p op_time_s is set. */
bool gr_kept_time_find(const struct gr_kept_times *kept, const struct gr_conv *conv,
                       double *op_time_s);
/** Adds a time. A long table loses its oldest rows. */
void gr_kept_time_add(const struct gr_kept_times *kept, const struct gr_conv *conv,
                      double op_time_s);
