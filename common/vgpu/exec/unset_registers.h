/** @file
 * Reads of unwritten registers.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Searches the code executed by a launch that has just ended. */
void unset_registers_find(struct vg_launch *launch);
