/** @file
 * Reads of unwritten registers.
 */
#pragma once

struct vg_frame;
struct vg_kernel;
struct vg_launch;

/** Lists the registers that a kernel may read before it writes them. */
void unset_registers_list(struct vg_kernel *kernel);
/** Clears these registers, so that they do not depend on the blocks that ran before on this core. */
void unset_registers_clear(const struct vg_kernel *kernel, struct vg_frame *frame);
/** Searches the code executed by a launch that has just ended. */
void unset_registers_find(struct vg_launch *launch);
