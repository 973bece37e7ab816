/** @file
 * Accesses of one thread to many bytes of shared memory, of its block or another one of its cluster.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** @return the block in whose shared memory some bytes are, which become an offset; NULL after a finding. */
struct vg_block *shared_range_find(struct vg_warp *w, const struct ir_insn *in, int lane,
                                   uint64_t *at, uint32_t bytes, bool is_write);
/** Enters an access and reports the race that it makes. */
void shared_range_enter(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                        uint32_t at, uint32_t bytes, enum race_access_kind kind);
/** The same of a read, of bytes that must have been written. */
void shared_range_read(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                       uint32_t at, uint32_t bytes);
/** Whether a kernel has instructions that read shared memory so. */
bool shared_ranges_are_read(const struct ir_function *f);
/** @return the race that reading is with a copy to the bytes, of either kind, that has not arrived; RACE_NONE if
 * there is none. */
struct race_hit bulk_race(struct vg_block *b, uint32_t address, uint32_t bytes);
