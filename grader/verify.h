/** @file
 * Handing one convolution over in the arena, and looking at what came back.
 */
#ifndef CONVLAB_GRADER_VERIFY_H
#define CONVLAB_GRADER_VERIFY_H

#include "base/status.h"
#include "conv.h"
#include "grader/compare.h"
#include "runner/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** A convolution to be computed, on the grader's own copies of its inputs. */
struct gr_conv {
    struct conv_shape shape;
    const float *x, *k;
    size_t rotate; /**< image i of the arena is image (i + rotate) mod B of x: repeats of a timing
                        get their images in another order, so that outputs cannot be kept */
};

/** Lays inputs, poisoned output and guard zones out in the arena (which must be large enough). */
void gr_arena_fill(const struct arena *arena, const struct gr_conv *conv);

/** What a submission did to memory that is not y. */
struct gr_damage {
    const char *pattern; /**< "guard", "input_changed", or "" if nothing was damaged */
    char message[320], hint[320];
};

/** Checks guard zones and inputs after a run. @return true if nothing was damaged. */
bool gr_arena_intact(const struct arena *arena, const struct gr_conv *conv,
                     struct gr_damage *damage);

/** Compares the arena's y with the oracle.
 * @param expected  the oracle's output for x unrotated, or NULL to compute it piece by piece
 * @param sum       filled; its coordinates and first are in terms of the arena's (rotated) order
 * @return ST_OK or ST_NO_MEMORY. */
enum st_code gr_arena_compare(const struct arena *arena, const struct gr_conv *conv,
                              const float *expected, struct gr_compare *sum, struct st_error *err);

#endif
