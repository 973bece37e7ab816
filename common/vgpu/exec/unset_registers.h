/** @file
 * Reads of registers that nothing was written to.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Looks for them in what a launch, which has just ended, executed. */
void unset_registers_find(struct vg_launch *launch);
