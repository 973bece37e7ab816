/** @file
 * Accesses of one thread to many bytes of shared memory, of its block or another one of its cluster.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** @return the block whose shared memory has some bytes; their address becomes an offset; NULL
 * after a finding. */
struct vg_block *shared_range_find(struct vg_warp *w, const struct ir_insn *in, int lane,
                                   uint64_t *at, uint32_t bytes, bool is_write);
/** Enters an access and reports its race. */
void shared_range_enter(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                        uint32_t at, uint32_t bytes, enum race_access_kind kind);
/** The same for a read, of bytes that must have been written. */
void shared_range_read(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                       uint32_t at, uint32_t bytes);
/** @return whether a kernel has instructions that read shared memory in this way. */
bool shared_ranges_are_read(const struct ir_function *f);
/** @return the race of a read with a pending copy to its bytes, of either kind; RACE_NONE without
 * one. */
struct race_hit bulk_race(struct vg_block *b, uint32_t address, uint32_t bytes);
