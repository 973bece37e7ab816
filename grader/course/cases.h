/** @file
 * The unit shapes with which an exercise is checked: fixed edge cases, and random shapes from a
 * seed.
 */
#pragma once

#include "base/status.h"
#include "exercise/exercise.h"

#include <stddef.h>
#include <stdint.h>

/** Bits of the signalling NaN with which outputs are filled before every run. Arithmetic with this
 * NaN gives another NaN, so an element that still has these bits was never written. */
#define GR_POISON_BITS 0x7fa0c0deu

/** Bits of the signalling NaN in the guard zones before and after every buffer. */
#define GR_GUARD_BITS 0x7fa1beefu

/** One unit shape and its purpose. */
struct gr_case_shape {
    struct conv_shape shape;
    char label[48]; /**< "K = H", "tile 16 + 1", "random" */
};

enum { GR_MAX_HELD_OUT = 32, GR_MAX_CASES = 64 + GR_MAX_HELD_OUT };

/** Fills @p to with the fixed edge cases, followed by random shapes from @p seed.
 * @param quick  fewer random shapes. @return their number, at most GR_MAX_CASES. */
size_t gr_case_shapes(const struct exercise *exercise, struct gr_case_shape *to, uint64_t seed,
                      int quick);

/** Reads unit shapes that are not in the built-in table, such as an instructor's held-out shapes: a
 * table with the exercise's columns and optionally label, in any order, of 1 to GR_MAX_HELD_OUT
 * rows. @param n  set to the number of shapes. @return ST_OK; ST_BAD_FORMAT or ST_TOO_LARGE with
 * file and line of an invalid shape, or of one with more than 10^8 multiply-adds. */
enum st_code gr_case_shapes_read(const struct exercise *exercise, const char *path,
                                 struct gr_case_shape to[GR_MAX_HELD_OUT], size_t *n,
                                 struct st_error *err);

/** A case with its data. Tensors are dense, see conv.h; the case owns none. */
struct gr_case {
    struct gr_case_shape spec;
    const float *x, *k; /**< the submission's inputs */
    const float *ref;   /**< the oracle's output */
    const float *atol;  /**< [M], see nn_conv_tolerance() */
    const float *y;     /**< the submission's output */
};
