/** @file
 * The floor: the least time in which a GPU can compute a convolution, in two variants.
 *
 *     floor of the direct algorithm   x, k and y moved once, or all multiply-adds of the definition.
 *                                     No kernel that sums every product can be faster.
 *     floor of any algorithm          the same bytes, or a quarter of the multiply-adds, which is what
 *                                     Winograd's algorithm and the FFT save at most here. A shorter
 *                                     Op Time is refused.
 *
 * Each is the larger of its two times: all units of the GPU busy, bytes and sums overlapped.
 */
#pragma once

#include "conv.h"
#include "vgpu/api/vgpu.h"

/** The shortest possible times of a convolution, in seconds. */
struct gr_floor {
    double bytes;        /**< of x, k and y */
    double memory_s;     /**< to move each once */
    double arithmetic_s; /**< for all multiply-adds of the direct algorithm */
};

/** The floor at measured rates. */
struct gr_floor gr_floor_of(const struct conv_shape *shape, double bytes_per_s, double macs_per_s);

/** The floor by a GPU's description: bytes that fit into the L2 cache move at its rate. */
struct gr_floor gr_floor_on(const struct vg_profile *profile, const struct conv_shape *shape);

/** @return the float32 multiply-adds per second of all units of a GPU together. */
double gr_floor_macs_per_s(const struct vg_profile *profile);

/** @return the floor of the direct algorithm, in seconds. */
double gr_floor_direct_s(struct gr_floor floor);

/** @return the floor of any algorithm, in seconds. */
double gr_floor_any_s(struct gr_floor floor);
