/** @file
 * Bulk copies (cp.async.bulk, TMA) and other operations that complete on a barrier object. See
 * bulk_copies.c.
 */
#pragma once

#include "vgpu/api/tensor_map.h"
#include "vgpu/ptx/ptx_ir.h"

struct vg_block;

/** @return whether an instruction copies from global memory to shared, or from shared to global. */
static inline bool bulk_is_load(const struct ir_insn *in)
{
    return in->op == IR_BULK_LOAD || in->op == IR_TENSOR_LOAD;
}
static inline bool bulk_is_store(const struct ir_insn *in)
{
    return in->op == IR_BULK_STORE || in->op == IR_BULK_REDUCE || in->op == IR_TENSOR_STORE ||
           in->op == IR_TENSOR_REDUCE;
}

static inline bool bulk_reduces(const struct ir_insn *in)
{
    return in->op == IR_BULK_REDUCE || in->op == IR_BULK_REDUCE_SEND ||
           in->op == IR_TENSOR_REDUCE || in->op == IR_RED_ASYNC;
}

/** A copy that has not arrived. */
struct vg_bulk {
    struct vg_bulk *next;
    const struct ir_insn *in;
    struct vg_warp *warp;
    int lane;
    struct vg_block
        *owner; /* has the shared memory `at`: destination, or source if `global` is set */
    uint32_t at, bytes, barrier, group;
    uint64_t global;       /* destination; 0: the destination is shared memory */
    bool is_read;          /* its source has been checked for changes */
    struct tensor_map map; /* dimensions 0: no tensor map */
    int32_t coordinates[TENSOR_MAP_DIMENSIONS];
    char data[];
};

/** Begins the copies of a warp's lanes. */
const struct ir_insn *bulk_copy(struct vg_warp *w, const struct ir_insn *in);
/** Begins st.async and red.async. */
const struct ir_insn *bulk_store_async(struct vg_warp *w, const struct ir_insn *in);
/** Called when a thread tests a barrier object of a block: completes the copies that signal it. */
void bulk_arrive(struct vg_warp *w, struct vg_block *owner, uint32_t barrier);
/** Called when lanes wait: completes all their groups but the last @p groups. @param reads_only
 * only checks the sources of the copies */
void bulk_wait(struct vg_warp *w, uint32_t lanes, uint32_t groups, bool reads_only);
/** Called when lanes end: completes their copies to global memory. */
void bulk_lanes_ended(struct vg_warp *w, uint32_t lanes);
/** Called when a block starts: drops copies that its predecessor did not wait for. */
void bulk_block_start(struct vg_block *b);
