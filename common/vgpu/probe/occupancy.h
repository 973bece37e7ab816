/** @file
 * The number of blocks of a kernel that fit on a multiprocessor: the rules of cudaOccupancy*.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** Blocks of @p threads threads that are resident on one multiprocessor at a time: the least that
 * blocks, warps, registers and shared memory allow. Registers are given to warps in units of 256
 * and to four warps at a time, shared memory in units of 128 bytes plus what the system reserves.
 */
int occupancy_blocks(const struct vg_profile *profile, const struct vg_kernel_attributes *kernel,
                     int threads, size_t dynamic_shared_bytes);

/** The dynamic shared memory that each of @p blocks blocks may have if all must be resident. */
size_t occupancy_shared(const struct vg_profile *profile, const struct vg_kernel_attributes *kernel,
                        int blocks);
