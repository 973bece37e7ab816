/** @file
 * Distributed shared memory: what the blocks of a cluster do to each other's shared memory, and whether it
 * is in order. See distributed.c.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** A thread's access to shared memory of another block of its cluster. */
struct distributed_access {
    struct vg_warp *warp;
    const struct ir_insn *in;
    int lane;
    uint32_t bytes;
    enum race_access_kind kind;
};

/** Notes an access that is inside of @p owner and reports what it races with. */
void distributed_enter(struct vg_block *owner, uint32_t address, struct distributed_access access);
/** Notes a use of another block's memory that is not an access to data. */
void distributed_use(struct vg_block *owner, struct vg_warp *w, const struct ir_insn *in, int lane);
/** @return whether the last to change a word was an atomic operation of another block. */
bool distributed_is_released(const struct vg_block *owner, uint32_t address, uint32_t rank);
/** Everything that the cluster did so far is before everything that it is going to do. */
void distributed_ordered(struct vg_cluster *cluster);
/** All threads of a block have ended. */
void distributed_block_ended(struct vg_block *owner);
/** A block starts: nothing is known of the one that had its memory before. */
void distributed_start(struct vg_block *owner);
void distributed_free(struct vg_block *owner);
/** Whether an order among blocks can come from nowhere else than their clusters: not from atomics or strong
 * accesses to global memory. */
bool distributed_is_checked(const struct ir_function *f);
