/** @file
 * Passes one convolution to the submission in the arena and checks the result.
 */
#pragma once

#include "base/status.h"
#include "conv.h"
#include "grader/compare/compare.h"
#include "runner/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A convolution to be computed, on the grader's own copies of its inputs.
 *
 * Repeats of a timing get inputs that no earlier run had, so that kept outputs are useless: image i
 * of the arena is x[j] + w x[j + apart], where j = i + rotate (mod B), and each image has its own
 * weight w. The convolution is linear, so blending the expected outputs gives the expected
 * output. */
struct gr_conv {
    struct conv_shape shape;
    const float *x, *k;
    size_t rotate;
    size_t apart;     /**< less than B */
    uint64_t blend;   /**< seed of the weights; 0: all weights are 0, images are only rotated */
    double tolerance; /**< the milestone's tolerance, for nn_conv_tolerance(); 0: float32's */
};

/** Zeroes the whole arena, on all cores. */
void gr_arena_clear(const struct arena *arena);

/** Writes inputs, poisoned output and guard zones into the arena (which must be large enough). */
void gr_arena_fill(const struct arena *arena, const struct gr_conv *conv);

/** A submission's damage to memory other than y. */
struct gr_damage {
    const char *pattern; /**< "guard", "input_changed", or "" if nothing was damaged */
    char message[320], hint[320];
};

/** Checks guard zones and inputs after a run. @return true if nothing was damaged. */
bool gr_arena_intact(const struct arena *arena, const struct gr_conv *conv,
                     struct gr_damage *damage);

/** Compares the arena's y with the oracle.
 * @param expected  the oracle's output for x itself, or NULL to compute it piece by piece
 * @param sum  set to the result; its coordinates and `first` refer to the order in the arena
 * @return ST_OK or ST_NO_MEMORY. */
enum st_code gr_arena_compare(const struct arena *arena, const struct gr_conv *conv,
                              const float *expected, struct gr_compare *sum, struct st_error *err);

/** Maximum memory that gr_arena_compare() uses, in bytes. */
size_t gr_arena_compare_bytes(const struct conv_shape *shape);
