/** @file
 * The kernel model of the virtual clock: how long a launch would take on a profile's GPU, and what
 * limits it. A roofline over all pipes: the time is the largest of what each resource needs for its
 * share of the work, no less than what latency allows at the achieved occupancy.
 */
#ifndef CONVLAB_VGPU_MODEL_H
#define CONVLAB_VGPU_MODEL_H

#include "vgpu/device/vgpu.h"
#include "vgpu/ptx/ptx_ir.h"

/** What a launch looks like to the model. */
struct vg_clock_facts {
    uint64_t blocks;
    uint32_t threads;         /**< of a block */
    int registers;            /**< of a thread */
    size_t shared_bytes;      /**< of a block */
    double issue_slots;       /**< warp instructions, expanded ones by their slots */
    double slots[IR_CLASSES]; /**< the same per class */
    double dram_bytes;        /**< distinct bytes, at least the footprint */
};

struct vg_clock_result {
    double ns, occupancy;
    const char *limiter;
    int blocks_per_multiprocessor;
};

/** Blocks of a kernel that fit one multiprocessor, and what stops more. 0: the launch is too large.
 */
int vg_clock_resident(const struct vg_profile *profile, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit);

struct vg_clock_result vg_clock_kernel(const struct vg_profile *profile,
                                       const struct vg_counters *counters,
                                       const struct vg_clock_facts *facts);

#endif
