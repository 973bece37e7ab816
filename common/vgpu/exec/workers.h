/** @file
 * The threads that run a launch's blocks.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Runs the blocks of a launch until all have ended: on the caller's thread if there is only one
 * block or their order matters, otherwise on all workers. */
void vg_workers_run(struct vg_device *device, struct vg_launch *launch);
/** Sets a worker's counts for a module to zero. @return false: out of memory. */
bool vg_counts_clear(struct vg_worker *worker, const struct vg_module *module);
