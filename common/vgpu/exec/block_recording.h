/** @file
 * Recordings of blocks (probe/picture.h): for each kernel, the middle block of its largest launch.
 * The interpreter executes this block. Recording changes no result, finding, counter or time.
 */
#pragma once

#include <stdbool.h>

struct ir_insn;
struct vg_block;
struct vg_device;
struct vg_launch;
struct vg_warp;

enum { RECORDED_KERNELS = 16 };

/** Starts the recording of a launch's block, if the launch is to be recorded. */
void recorded_launch_start(const struct vg_launch *launch);
/** Called after the launch: records the allocations of its accesses while they are still known. */
void recorded_launch_end(const struct vg_launch *launch);
/** @return whether a block is recorded. */
bool recorded_block(const struct vg_block *block);
/** Records an instruction before it is executed, and its effect afterwards. */
void recorded_before(struct vg_warp *w, const struct ir_insn *in);
void recorded_after(struct vg_warp *w);
void recorded_free(struct vg_device *device);
