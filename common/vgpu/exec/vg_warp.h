/** @file
 * A warp, its fragments, and the meetings where fragments wait for each other.
 *
 * A warp's lanes at the same instruction form a fragment. One fragment of a warp runs at a time;
 * the others are ready, or wait at a meeting point, at a barrier, or for the lanes of a mask.
 *
 * Divergence: a branch that splits a fragment creates a meeting (the immediate post-dominator of
 * the branch, and the lanes expected there). Fragments that reach it wait until all its lanes have
 * arrived or ended, and continue as one. A call also creates a meeting, at its return. If a warp
 * makes no progress because lanes that wait at a meeting hold a lock that others spin for, the
 * meeting releases them (Volta's guarantee of progress).
 */
#pragma once

#include "vgpu/exec/frames.h"
#include "vgpu/exec/proof_state.h"
#include "vgpu/exec/unset_local.h"
#include "vgpu/exec/vg_block.h"
#include "vgpu/exec/vg_launch.h"

#include <string.h>

struct sample_warp;

enum { VG_PRODUCT_GROUPS = 8 };

enum vg_fragment_state {
    FRAGMENT_READY,
    FRAGMENT_BARRIER,
    FRAGMENT_CLUSTER, /**< waits at the barrier of the cluster */
    FRAGMENT_SYNC,    /**< waits for the lanes of a mask */
};

struct vg_fragment {
    const struct ir_insn *pc;
    struct vg_frame *frame;
    uint32_t mask, wanted; /**< wanted: the lanes it waits for */
    int meeting;
    enum vg_fragment_state state;
    uint8_t barrier;
    bool spins;       /**< at the end of its last turn the registers were as at its beginning */
    uint64_t seen[2]; /**< hashes of its registers when it yielded last, and before */
    uint64_t since;   /**< the warp's clock when it last had registers other than these */
};

/** A point where fragments meet. */
struct vg_meeting {
    const struct ir_insn *pc; /**< ENTER_JOIN, or the instruction after a call */
    struct vg_frame *frame;   /**< the frame whose function contains it */
    uint32_t expected, arrived;
    int parent;
    bool is_call, used;
    struct vg_frame *callee;
    const struct ir_insn *call;
};

/** A moment in the life of a warp. */
struct vg_moment {
    uint32_t epoch, step; /**< of the race shadow; of the warp in this epoch */
};

struct vg_warp {
    char *regs; /**< of the running fragment's frame */
    uint32_t mask;
    int meeting;
    const struct ir_insn *insns; /**< of the running function */
    struct vg_site *sites;
    uint64_t *block_warps, *block_threads;
    struct vg_block *block;
    struct vg_worker *worker;
    struct vg_frame *frame;
    int quantum;
    uint16_t index, warp_epoch;
    uint32_t step, step_epoch; /**< shared memory instructions in a race epoch; that epoch */
    struct vg_moment fenced;   /**< at the last fence.proxy.async */
    uint32_t alive;
    uint32_t tid[3][VG_LANES]; /**< %tid.x, y, z */
    struct vg_frame *entry;
    struct vg_fragment fragments[VG_LANES];
    int fragment_count;
    struct vg_meeting *meetings;
    int meetings_used;
    int meeting_room;
    char *local; /**< [32][local_stride] */
    size_t local_room;
    const struct ir_insn *resume; /**< see vg_resume() */
    bool yielded;
    uint32_t gather_own;          /**< the running fragment's lanes in a gathered operation */
    const struct ir_insn *forced; /**< an operation that continues although lanes are missing */
    uint64_t clock;
    bool looked_at_clock; /**< during this turn: a loop that waits for time is not spinning */
    uint64_t spins;
    struct sample_warp *sample; /**< records the warp's accesses, or NULL */
    bool recorded;              /**< its block is recorded, see block_recording.h */
    uint32_t racing_stores;     /**< executed, see block_races.c */
    bool watched;               /**< its accesses are watched, see child_races.h */
    bool copies_unset;          /**< it holds unwritten bytes, see unset_copies.h */
    struct vg_unset *unset;     /**< these bytes; NULL: none so far */
    struct vg_copies *copies;   /**< [copy_room] in the order of their instructions */
    int copy_count, copy_room;
    uint32_t groups[VG_LANES];      /**< copy groups that each lane has ended */
    uint32_t bulk_groups[VG_LANES]; /**< groups of bulk copies that each lane has ended */
    struct vg_bulk *bulk;           /**< their copies, until the lanes wait for them */
    uint32_t products;              /**< number of warpgroup products computed so far */
    uint32_t product_groups[VG_PRODUCT_GROUPS]; /**< `products` at the end of the last groups */
    uint32_t product_group_count;
    uint32_t announced, opened; /**< lanes that have arrived at the cluster's barrier; lanes that
                                     may pass it */
    /** Registers of the running fragment: native code saves them here when it returns. While
     * saved_as names their plan, they have not been written to the frame. */
    char *saved;
    size_t saved_room;
    const struct native_saved *saved_as;
    struct proof_warp proof;
};

/** @return a lane's local memory, of launch->local_bytes bytes. */
static inline char *vg_local(const struct vg_warp *w, int lane)
{
    return w->local + (size_t)lane * w->block->launch->local_stride;
}

/** Clears local memory of some lanes, so that it does not depend on the blocks that ran before on
 * this core. @param bytes  rounded up to a multiple of 16 */
static inline void vg_local_clear(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes)
{
    const size_t stride = w->block->launch->local_stride;
    char *lane = w->local + at;
    if (w->copies_unset)
        unset_local_set(w, lanes, at, bytes);
    for (; bytes && lanes; lanes >>= 1, lane += stride)
        for (size_t i = 0; i < (lanes & 1 ? bytes : 0); i += 16)
            memset(lane + i, 0, 16);
}

/** Counts the warp's shared memory instructions since the last barrier. */
static inline void vg_shared_step(struct vg_warp *w)
{
    if (w->step_epoch != w->block->race.epoch) {
        w->step_epoch = w->block->race.epoch;
        w->step = 0;
    }
    w->step++;
}

void vg_warp_start(struct vg_warp *w, const struct ir_insn *first);
/** Runs a warp until all its lanes have to wait. @return whether anything was executed. */
bool vg_warp_run(struct vg_warp *w);
/** Called when all lanes of a warp wait: ends one wait. @return whether a fragment is then
 * ready. */
bool vg_warp_unstick(struct vg_warp *w);
