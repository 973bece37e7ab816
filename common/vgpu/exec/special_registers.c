/* The values of %tid, %clock and the other special registers. */
#include "vgpu/exec/vg_exec.h"

uint64_t vg_special_register(struct vg_warp *w, enum ir_sreg which, int lane)
{
    const struct vg_block *b = w->block;
    const struct vg_launch *l = b->launch;
    uint32_t t = w->index * VG_LANES + (uint32_t)lane;
    switch (which) {
    case SREG_TID_X:
        return t % l->block.x;
    case SREG_TID_Y:
        return t / l->block.x % l->block.y;
    case SREG_TID_Z:
        return t / l->block.x / l->block.y;
    case SREG_NTID_X:
        return l->block.x;
    case SREG_NTID_Y:
        return l->block.y;
    case SREG_NTID_Z:
        return l->block.z;
    case SREG_CTAID_X:
        return b->id[0];
    case SREG_CTAID_Y:
        return b->id[1];
    case SREG_CTAID_Z:
        return b->id[2];
    case SREG_NCTAID_X:
        return l->grid.x;
    case SREG_NCTAID_Y:
        return l->grid.y;
    case SREG_NCTAID_Z:
        return l->grid.z;
    case SREG_LANEID:
        return (uint64_t)lane;
    case SREG_WARPID:
        return w->index;
    case SREG_NWARPID:
        return (uint64_t)l->device->profile.max_threads_per_multiprocessor / 32;
    case SREG_SMID:
        return b->number % (uint64_t)(l->device->profile.multiprocessors > 0
                                          ? l->device->profile.multiprocessors
                                          : 1);
    case SREG_NSMID:
        return (uint64_t)l->device->profile.multiprocessors;
    case SREG_GRIDID:
        return l->number;
    case SREG_LANEMASK_EQ:
        return 1u << lane;
    case SREG_LANEMASK_LE:
        return (2u << lane) - 1;
    case SREG_LANEMASK_LT:
        return (1u << lane) - 1;
    case SREG_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case SREG_LANEMASK_GT:
        return ~((2u << lane) - 1);
    /* Every look at a clock moves it: deterministic, and loops that wait for time end. */
    case SREG_CLOCK:
    case SREG_CLOCK64:
        return w->clock += 8;
    case SREG_CLOCK_HI:
        return (w->clock += 8) >> 32;
    case SREG_GLOBALTIMER:
    case SREG_GLOBALTIMER_LO:
        return w->clock += 32;
    case SREG_GLOBALTIMER_HI:
        return (w->clock += 32) >> 32;
    case SREG_DYNAMIC_SMEM:
        return l->dynamic_bytes;
    case SREG_TOTAL_SMEM:
        return l->shared_bytes;
    case SREG_RESERVED_SMEM:
        return l->reserved_start;
    case SREG_RESERVED_SMEM_END:
        return l->reserved_start + VG_RESERVED_SHARED;
    case SREG_ENVREG1:
        return l->workspace >> 32;
    case SREG_ENVREG2:
        return l->workspace & 0xffffffffu;
    case SREG_ONE:
        return 1;
    default:
        return 0;
    }
}
