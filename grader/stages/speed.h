/** @file
 * Speed, as ratios of Op Times that were taken in turn in one run.
 */
#ifndef CONVLAB_GRADER_SPEED_H
#define CONVLAB_GRADER_SPEED_H

#include "conv.h"
#include "vgpu/api/vgpu.h"

/** The shortest time in which a GPU could compute a convolution: that of moving x, k and y once, by
 * the rate of the L2 cache if they fit in it, or of a quarter of the direct convolution's
 * multiply-adds (a fast algorithm needs fewer), by the rate of its float32 units. */
double gr_roofline_floor_s(const struct vg_profile *profile, const struct conv_shape *shape);

#endif
