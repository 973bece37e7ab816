/** @file
 * Speed, as ratios of Op Times that were taken in turn in one run.
 */
#ifndef CONVLAB_GRADER_SPEED_H
#define CONVLAB_GRADER_SPEED_H

#include "grader/result.h"
#include "vgpu/device/vgpu.h"

/** The shortest time in which a GPU could compute a convolution: that of moving x, k and y once, by
 * the rate of the L2 cache if they fit in it, or of a quarter of the direct convolution's
 * multiply-adds (a fast algorithm needs fewer), by the rate of its float32 units. */
double gr_roofline_floor_s(const struct vg_profile *profile, const struct conv_shape *shape);

/** Op Times of one subject at one size, all layers together. */
struct gr_op_time {
    int layers;
    double seconds;
    double uncertainty; /**< as a share of it */
};

/** Sums a subject's medians. @return layers 0 if it was not timed at that size. */
struct gr_op_time gr_op_time_sum(const struct gr_result *result, enum gr_subject subject,
                                 size_t images);

/** @return the ratio of two sums of the same layers, NAN if one is missing. @param uncertainty  of
 * the ratio, as a share of it; may be NULL. */
double gr_op_time_ratio(struct gr_op_time a, struct gr_op_time b, double *uncertainty);

#endif
