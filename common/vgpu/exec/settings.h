/** @file
 * Limits of a device; api/vgpu.h declares the rest of settings.c.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Sets the limits of a new device. */
void vg_limits_reset(struct vg_device *d);
