/** @file
 * Distributed shared memory: accesses of the blocks of a cluster to each other's shared memory, and
 * their races. See distributed.c.
 */
#pragma once

#include "vgpu/probe/race.h"

struct ir_function;
struct ir_insn;
struct vg_block;
struct vg_cluster;
struct vg_warp;

/** A thread's access to shared memory of another block of its cluster. */
struct distributed_access {
    struct vg_warp *warp;
    const struct ir_insn *in;
    int lane;
    uint32_t bytes;
    enum race_access_kind kind;
};

/** Records an access to shared memory of @p owner, and reports its races. */
void distributed_enter(struct vg_block *owner, uint32_t address, struct distributed_access access);
/** @return whether the last change of a word was an atomic operation of another block. */
bool distributed_is_released(const struct vg_block *owner, uint32_t address, uint32_t rank);
/** Orders all past accesses of the cluster before all later ones. */
void distributed_ordered(struct vg_cluster *cluster);
/** Called when all threads of a block have ended. */
void distributed_block_ended(struct vg_block *owner);
/** Called when a block starts: clears the records of the block that used its memory before. */
void distributed_start(struct vg_block *owner);
void distributed_free(struct vg_block *owner);
/** @return whether only clusters' barriers and shared memory can order a kernel's blocks: it has no
 * atomics or strong accesses to global memory that could. */
bool distributed_is_checked(const struct ir_function *f);
