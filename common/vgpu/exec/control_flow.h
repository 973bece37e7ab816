/** @file
 * Control flow of a warp: branches (branches.c), calls (calls.c), barriers (barriers.c), and
 * waiting for other lanes (vg_warp.c). A function that returns an instruction returns the next one,
 * or NULL.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct vg_block;

const struct ir_insn *vg_split(struct vg_warp *w, const struct ir_insn *in, uint32_t taken);
/** Makes some lanes wait at the meeting of a branch. */
void vg_wait(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_branch_index(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_meet(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_call(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_return(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_exit(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_barrier(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_yield(struct vg_warp *w, const struct ir_insn *resume);
/** Ends the turn of the running fragment, so that other handlers execute it, from @p in on. */
const struct ir_insn *vg_resume(struct vg_warp *w, const struct ir_insn *in);
/** Waits for the lanes of the mask in slot f; without f, for all lanes of the warp that have not
 * ended. @return whether all have arrived; then they are in w->mask. */
bool vg_gather(struct vg_warp *w, const struct ir_insn *in);
/** @return whether all lanes of the mask have arrived. @param all  becomes the lanes that have
 * arrived */
bool vg_gather_complete(const struct vg_warp *w, const struct ir_insn *in, uint32_t *all);
/** Called after vg_gather() and the operation: all gathered lanes continue after the
 * instruction. */
const struct ir_insn *vg_gathered(struct vg_warp *w, const struct ir_insn *in);
/** The same after an operation that does not order the accesses of its lanes. */
const struct ir_insn *vg_rejoined(struct vg_warp *w, const struct ir_insn *in);
/** Called when lanes have ended: opens barriers that only waited for them. */
void vg_block_lanes_ended(struct vg_block *b);
