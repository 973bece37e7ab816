/** @file
 * The threads that run a launch's blocks.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Runs the blocks of a launch to their ends: on the caller's thread if it has one block or their
 * order matters, otherwise on all workers. */
void vg_workers_run(struct vg_device *device, struct vg_launch *launch);
/** Sets a worker's counts to zero, with room for a module's. @return false without memory. */
bool vg_counts_clear(struct vg_worker *worker, const struct vg_module *module);
