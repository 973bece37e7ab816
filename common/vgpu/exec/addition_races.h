/** @file
 * Plain additions to global memory by several blocks. See addition_races.c.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct vg_launch;

/** @return whether blocks of a kernel can wait for each other or agree on an order. */
bool vg_blocks_may_agree(const struct ir_function *f);
/** @return whether a store writes a value that was computed from the stored element's last
 * value. */
bool vg_is_addition(const struct ir_function *f, size_t store);
/** Records the execution of such a store. @param addresses  of the lanes, without the instruction's
 * offset; not read if its address is fixed */
void vg_addition(struct vg_warp *w, const struct ir_insn *in, const uint64_t *addresses);
/** Called after a launch: drops the notes of additions. */
void vg_additions_end(struct vg_launch *l);
