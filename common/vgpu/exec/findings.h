/** @file
 * Gathering the findings of a launch.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Merges what the workers found into the device's list, and empties theirs. Sets the report's
 * fault. */
void vg_findings_merge(struct vg_launch *launch, struct vg_launch_report *report);

/** An arithmetic instruction reads a register that nothing was written to. @param threads  that
 * executed it */
void vg_find_unset_register(struct vg_launch *launch, const struct ir_insn *in, uint64_t threads);
