/** @file
 * Asynchronous copies to shared memory (cp.async). See async_copies.c.
 */
#pragma once

#include "vgpu/exec/warp_size.h"
#include "vgpu/probe/race.h"

struct vg_block;
struct vg_warp;

/** Asynchronous copies of a warp to shared memory that are still pending. */
struct vg_copies {
    uint32_t insn;  /**< number of the instruction in the module */
    uint32_t epoch; /**< epoch of the race shadow in which it was issued */
    uint32_t lanes, bytes;
    uint32_t to[VG_LANES], group[VG_LANES];
    uint16_t unset[VG_LANES]; /**< a bit for each byte that nothing wrote */
    char data[VG_LANES][16];
};

/** @return a structure for the copies of one instruction. They are pending: their bytes are stored
 * to shared memory when their thread waits for them, and must not be read before. */
struct vg_copies *vg_copies_new(struct vg_warp *w);
/** Makes lanes wait for all their copies, or for all except their last @p groups groups. */
void vg_copies_wait(struct vg_warp *w, uint32_t lanes, bool all, uint32_t groups);
/** @return the race of a read of @p bytes bytes at @p address; RACE_NONE if no copy to them is
 * pending. */
struct race_hit vg_copies_race(struct vg_block *b, uint32_t address, uint32_t bytes);
