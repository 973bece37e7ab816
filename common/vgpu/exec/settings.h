/** @file
 * Limits of a device. api/vgpu.h declares the other functions of settings.c.
 */
#pragma once

struct vg_device;

/** Sets the limits of a new device. */
void vg_limits_reset(struct vg_device *d);
