/** @file
 * Accesses of one thread to many bytes of shared memory, of its block or another block of the
 * cluster.
 */
#pragma once

#include "vgpu/probe/race.h"

struct ir_function;
struct ir_insn;
struct vg_block;
struct vg_warp;

/** @return the block whose shared memory contains some bytes; their address becomes an offset. NULL
 * after a finding. */
struct vg_block *shared_range_find(struct vg_warp *w, const struct ir_insn *in, int lane,
                                   uint64_t *at, uint32_t bytes, bool is_write);
/** Enters an access in the race shadow and reports its race. */
void shared_range_enter(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                        uint32_t at, uint32_t bytes, enum race_access_kind kind);
/** Enters a read, as above, and checks that the bytes have been written. */
void shared_range_read(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                       uint32_t at, uint32_t bytes);
/** @return whether a kernel has instructions that read shared memory asynchronously. */
bool shared_ranges_are_read(const struct ir_function *f);
/** @return the race of a read with a pending asynchronous or bulk copy to its bytes, or
 * RACE_NONE. */
struct race_hit bulk_race(struct vg_block *b, uint32_t address, uint32_t bytes);
