/** @file
 * Thread block clusters: how their blocks wait for each other and find each other's memory. See
 * clusters.c.
 */
#pragma once

#include "vgpu/exec/vg_block.h"

struct ir_insn;
struct vg_warp;

/** @return whether all blocks of a cluster have ended. */
static inline bool vg_cluster_ended(const struct vg_cluster *c)
{
    for (uint32_t rank = 0; rank < c->size; rank++)
        if (c->blocks[rank]->alive_threads && !c->blocks[rank]->stop)
            return false;
    return true;
}

/** @return the block whose shared memory contains an address, which becomes an offset in it; NULL:
 * no such block. */
static inline struct vg_block *vg_shared_owner(struct vg_block *b, uint64_t *address)
{
    const uint64_t rank = *address >> VG_RANK_SHIFT;
    if (!rank)
        return b;
    if (rank > b->cluster->size)
        return NULL;
    *address &= (UINT64_C(1) << VG_RANK_SHIFT) - 1;
    return b->cluster->blocks[rank - 1];
}

/** Execute barrier.cluster.arrive and barrier.cluster.wait. */
const struct ir_insn *vg_cluster_arrive(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_cluster_wait(struct vg_warp *w, const struct ir_insn *in);
/** @return whether another block of the cluster has a warp that can run. */
bool vg_cluster_can_run(const struct vg_block *b);
/** Opens the barrier if all threads that have not ended have arrived. */
void vg_cluster_barrier_check(struct vg_cluster *c);
/** Reports a barrier of the cluster that cannot open. @return whether a thread waits at it */
bool vg_cluster_report_barrier(struct vg_block *b);

/** A race between an access of another block's thread to the shared memory of @c owner and an
 * access of @c other_thread. */
struct vg_cluster_race {
    struct vg_warp *warp;
    const struct ir_insn *in, *other;
    int lane;
    bool is_write, other_writes;
    struct vg_block *owner, *other_block;
    uint32_t address, bytes, other_thread;
};
void vg_find_cluster_race(const struct vg_cluster_race *race);
