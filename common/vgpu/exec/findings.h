/** @file
 * Collects the findings of a launch.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Merges the workers' findings into the device's list, empties the workers' lists, and sets the
 * report's fault. */
void vg_findings_merge(struct vg_launch *launch, struct vg_launch_report *report);

/** Records an arithmetic instruction that reads an unwritten register. @param threads  number of
 * threads that executed it */
void vg_find_unset_register(struct vg_launch *launch, const struct ir_insn *in, uint64_t threads);
