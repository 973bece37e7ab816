/** @file
 * Limits of a device; the rest of what settings.c has is in api/vgpu.h.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** The limits of a new device. */
void vg_limits_reset(struct vg_device *d);
