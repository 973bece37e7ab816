/** @file
 * Recordings of blocks (probe/picture.h): of each kernel one block of its largest launch, the one in
 * the middle of the grid. The interpreter executes that block; all others run as ever, and results,
 * findings, counters and times stay the same.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

enum { RECORDED_KERNELS = 16 };

/** Whether the block of a launch is to be recorded; starts its recording. */
void recorded_launch_start(const struct vg_launch *launch);
/** The launch is over: says where its accesses went while that is still known. */
void recorded_launch_end(const struct vg_launch *launch);
/** @return whether this is the block. */
bool recorded_block(const struct vg_block *block);
/** Records an instruction before it is executed, and its effect afterwards. */
void recorded_before(struct vg_warp *w, const struct ir_insn *in);
void recorded_after(struct vg_warp *w);
void recorded_free(struct vg_device *device);
