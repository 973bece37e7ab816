/** @file
 * The floor: the shortest time in which a GPU can compute a convolution, in two variants.
 *
 *     floor of the direct algorithm   the time to move x, k and y once, or for all multiply-adds.
 *                                     No kernel that sums every product can be faster.
 *     floor of any algorithm          as above, with a quarter of the multiply-adds: Winograd's
 *                                     algorithm and the FFT need at least as many here. A shorter
 *                                     Op Time is rejected.
 *
 * Each floor is the larger of its two times, with all units of the GPU busy, and data movement and
 * arithmetic overlapped.
 */
#pragma once

#include "conv.h"
#include "vgpu/api/vgpu.h"

/** The shortest possible times of a convolution, in seconds. */
struct gr_floor {
    double bytes;        /**< of x, k and y */
    double memory_s;     /**< to move these bytes once */
    double arithmetic_s; /**< for all multiply-adds of the direct algorithm */
};

/** The floor for measured rates. */
struct gr_floor gr_floor_of(const struct conv_shape *shape, double bytes_per_s, double macs_per_s);

/** The floor for a GPU's description: bytes that fit into the L2 cache move at the cache's rate. */
struct gr_floor gr_floor_on(const struct vg_profile *profile, const struct conv_shape *shape);

/** @return the float32 multiply-adds per second of all units of a GPU together. */
double gr_floor_macs_per_s(const struct vg_profile *profile);

/** @return the floor of the direct algorithm, in seconds. */
double gr_floor_direct_s(struct gr_floor floor);

/** @return the floor of any algorithm, in seconds. */
double gr_floor_any_s(struct gr_floor floor);
