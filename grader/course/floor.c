#include "grader/course/floor.h"

#include "nn/oracle.h"

#include <math.h>

static const double FEWEST_MACS = 4; /* fast algorithms need at least 1/4 of the direct
                                        algorithm's */

static double bytes_of(const struct conv_shape *shape)
{
    return 4.0 * (double)(nn_conv_x_elems(shape) + nn_conv_k_elems(shape) + nn_conv_y_elems(shape));
}

struct gr_floor gr_floor_of(const struct conv_shape *shape, double bytes_per_s, double macs_per_s)
{
    const double bytes = bytes_of(shape);
    return (struct gr_floor){bytes, bytes / bytes_per_s, nn_conv_macs(shape) / macs_per_s};
}

struct gr_floor gr_floor_on(const struct vg_profile *p, const struct conv_shape *shape)
{
    const bool fits = bytes_of(shape) < (double)p->l2_bytes;
    return gr_floor_of(shape, fits ? p->l2_bytes_per_s : p->dram_bytes_per_s,
                       gr_floor_macs_per_s(p));
}

double gr_floor_macs_per_s(const struct vg_profile *p)
{
    return p->multiprocessors * p->fp32_lanes * p->clock_hz;
}

double gr_floor_direct_s(struct gr_floor floor)
{
    return fmax(floor.memory_s, floor.arithmetic_s);
}

double gr_floor_any_s(struct gr_floor floor)
{
    return fmax(floor.memory_s, floor.arithmetic_s / FEWEST_MACS);
}
