/** @file
 * The values of %tid, %clock and the other special registers, for the interpreter and for native
 * code.
 */
#pragma once

#include "vgpu/exec/vg_device.h"
#include "vgpu/exec/vg_warp.h"

#define VALUE(name, value)                                                                         \
    case SREG_##name:                                                                              \
        return value

/* Every read of a clock advances it. This is deterministic, and ends loops that wait until a
 * time. */
static inline uint64_t look_at_clock(struct vg_warp *w, uint64_t step)
{
    w->looked_at_clock = true;
    return w->clock += step;
}

/** @return a lane's special register; 0 if the virtual GPU does not have it. */
static inline uint64_t special_register(struct vg_warp *w, enum ir_sreg which, int lane)
{
    const struct vg_block *b = w->block;
    const struct vg_launch *l = b->launch;
    switch (which) {
        VALUE(TID_X, w->tid[0][lane]);
        VALUE(TID_Y, w->tid[1][lane]);
        VALUE(TID_Z, w->tid[2][lane]);
        VALUE(NTID_X, l->block.x);
        VALUE(NTID_Y, l->block.y);
        VALUE(NTID_Z, l->block.z);
        VALUE(CTAID_X, b->id[0]);
        VALUE(CTAID_Y, b->id[1]);
        VALUE(CTAID_Z, b->id[2]);
        VALUE(NCTAID_X, l->grid.x);
        VALUE(NCTAID_Y, l->grid.y);
        VALUE(NCTAID_Z, l->grid.z);
        VALUE(LANEID, (uint64_t)lane);
        VALUE(WARPID, w->index);
        VALUE(NWARPID, (uint64_t)l->device->profile.max_threads_per_multiprocessor / 32);
        VALUE(SMID, b->number % (uint64_t)(l->device->profile.multiprocessors > 0
                                               ? l->device->profile.multiprocessors
                                               : 1));
        VALUE(NSMID, (uint64_t)l->device->profile.multiprocessors);
        VALUE(GRIDID, l->number);
        VALUE(LANEMASK_EQ, 1u << lane);
        VALUE(LANEMASK_LE, (2u << lane) - 1);
        VALUE(LANEMASK_LT, (1u << lane) - 1);
        VALUE(LANEMASK_GE, ~((1u << lane) - 1));
        VALUE(LANEMASK_GT, ~((2u << lane) - 1));
        VALUE(CLOCK, look_at_clock(w, 8));
        VALUE(CLOCK64, look_at_clock(w, 8));
        VALUE(CLOCK_HI, look_at_clock(w, 8) >> 32);
        VALUE(GLOBALTIMER, look_at_clock(w, 32));
        VALUE(GLOBALTIMER_LO, look_at_clock(w, 32));
        VALUE(GLOBALTIMER_HI, look_at_clock(w, 32) >> 32);
        VALUE(DYNAMIC_SMEM, l->dynamic_bytes);
        VALUE(TOTAL_SMEM, l->shared_bytes);
        VALUE(RESERVED_SMEM, l->reserved_start);
        VALUE(RESERVED_SMEM_END, l->reserved_start + VG_RESERVED_SHARED);
        VALUE(ENVREG1, l->workspace >> 32);
        VALUE(ENVREG2, l->workspace & 0xffffffffu);
        VALUE(CLUSTERID_X, b->id[0] / l->cluster.x);
        VALUE(CLUSTERID_Y, b->id[1] / l->cluster.y);
        VALUE(CLUSTERID_Z, b->id[2] / l->cluster.z);
        VALUE(NCLUSTERID_X, l->grid.x / l->cluster.x);
        VALUE(NCLUSTERID_Y, l->grid.y / l->cluster.y);
        VALUE(NCLUSTERID_Z, l->grid.z / l->cluster.z);
        VALUE(CLUSTER_CTAID_X, b->id[0] % l->cluster.x);
        VALUE(CLUSTER_CTAID_Y, b->id[1] % l->cluster.y);
        VALUE(CLUSTER_CTAID_Z, b->id[2] % l->cluster.z);
        VALUE(CLUSTER_NCTAID_X, l->cluster.x);
        VALUE(CLUSTER_NCTAID_Y, l->cluster.y);
        VALUE(CLUSTER_NCTAID_Z, l->cluster.z);
        VALUE(CLUSTER_CTARANK, b->rank);
        VALUE(CLUSTER_NCTARANK, l->cluster_blocks);
        VALUE(IS_EXPLICIT_CLUSTER, l->has_clusters);
    default:
        return 0;
    }
}

#undef VALUE
