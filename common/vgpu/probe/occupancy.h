/** @file
 * The number of blocks of a kernel that fit on a multiprocessor: the rules of cudaOccupancy*.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** The schedulers of a multiprocessor; each has a part of the registers for its warps. */
enum { SCHEDULERS = 4 };

/** @return how many warps have room in @p available registers of a multiprocessor or block, which
 * are allocated in units of 256 per warp, for SCHEDULERS warps at a time. @param registers  of a
 * thread */
int occupancy_warps(int available, int registers);

/** @return how many blocks of @p threads threads can be resident on one multiprocessor: the
 * smallest of the limits by blocks, warps, registers and shared memory. Shared memory is allocated
 * in units of 128 bytes, plus what the system reserves. */
int occupancy_blocks(const struct vg_profile *profile, const struct vg_kernel_attributes *kernel,
                     int threads, size_t dynamic_shared_bytes);

/** @return the dynamic shared memory that each of @p blocks blocks may have if all of them must be
 * resident. */
size_t occupancy_shared(const struct vg_profile *profile, const struct vg_kernel_attributes *kernel,
                        int blocks);
