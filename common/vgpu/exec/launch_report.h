/** @file
 * The report of a launch. The model of vgpu/probe/model.h computes its time from counts and a
 * sample of the accesses.
 */
#pragma once

#include "vgpu/api/vgpu.h"

struct vg_launch;

/** @return how many blocks of a launch fit one multiprocessor, at least 1. */
int vg_resident_blocks(const struct vg_launch *launch);
/** Fills the report of a finished launch, and adds it to its kernel's sums. */
void vg_launch_report_fill(struct vg_launch *launch, struct vg_launch_report *report);
