/** @file
 * Runs one block. The workers in workers.c use it.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

enum vg_block_state {
    VG_BLOCK_DONE,
    VG_BLOCK_MOVED, /**< some warp has done more than spin */
    VG_BLOCK_QUIET, /**< all warps that can run only spin */
};

/** @return a block context for a launch, with registers, shared and local memory; NULL: out of
 * memory. */
struct vg_block *vg_block_prepare(struct vg_worker *worker, struct vg_launch *launch);
void vg_block_start(struct vg_block *block, uint64_t number);
/** Gives each warp a turn. */
enum vg_block_state vg_block_round(struct vg_block *block);
/** Reports the first spinning warp. */
void vg_block_no_progress(struct vg_block *block, bool is_interrupted);
void vg_block_free(struct vg_block *block);
