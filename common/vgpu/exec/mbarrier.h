/** @file
 * Barrier objects in shared memory. An object has 64 bits, like a real one:
 *
 *     | phase 1 | bytes still expected + 2^21: 23 | arrivals per phase 20 | arrivals missing 20 |
 *
 * A phase ends when no arrival and no byte is missing; then everything that the block's threads did
 * before is ordered before everything that they do afterwards. If another block took part, this
 * holds for the whole cluster. The state that arrive returns is the object itself.
 */
#pragma once

#include "vgpu/exec/distributed.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <string.h>

enum { MBARRIER_COUNT = 0xfffff, MBARRIER_NO_BYTES = 1 << 21 };

struct mbarrier {
    u32 missing, count, phase;
    s32 bytes;
};

static inline struct mbarrier mbarrier_of(u64 v)
{
    return (struct mbarrier){(u32)v & MBARRIER_COUNT, (u32)(v >> 20) & MBARRIER_COUNT,
                             (u32)(v >> 63), (s32)(v >> 40 & 0x7fffff) - MBARRIER_NO_BYTES};
}

static inline u64 mbarrier_bits(struct mbarrier b)
{
    return (u64)(b.missing & MBARRIER_COUNT) | (u64)(b.count & MBARRIER_COUNT) << 20 |
           (u64)((u32)(b.bytes + MBARRIER_NO_BYTES) & 0x7fffff) << 40 | (u64)b.phase << 63;
}

static inline struct mbarrier mbarrier_read(const struct vg_block *owner, u32 at)
{
    u64 v;
    memcpy(&v, owner->shared + at, sizeof v);
    return mbarrier_of(v);
}

/** Changes an object, and ends its phase if nothing is missing. @param by_other  a thread of
 * another block changes it */
static inline void mbarrier_write(struct vg_block *owner, u32 at, struct mbarrier b,
                                  struct vg_warp *w, bool by_other)
{
    const u64 object = (u64)1 << at / 8 % 64;
    owner->reached |= by_other ? object : 0;
    if (b.missing == 0 && b.bytes == 0) {
        b.phase ^= 1;
        b.missing = b.count;
        if (owner->reached & object)
            distributed_ordered(owner->cluster);
        else
            race_barrier(&owner->race);
        owner->reached &= ~object;
        w->warp_epoch++;
    }
    const u64 v = mbarrier_bits(b);
    memcpy(owner->shared + at, &v, sizeof v);
    vg_progressed(w->worker);
}
