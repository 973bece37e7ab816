/* Tests of the floors of an Op Time, against values computed by hand. */
#include "grader/course/floor.h"

#include <criterion/criterion.h>
#include <math.h>

Test(floor, is_the_larger_of_bytes_and_arithmetic)
{
    const struct vg_profile gpu = {.multiprocessors = 100,
                                   .fp32_lanes = 100,
                                   .clock_hz = 1e9,
                                   .l2_bytes = 1000,
                                   .l2_bytes_per_s = 1e10,
                                   .dram_bytes_per_s = 1e9};
    /* x 25, k 1, y 25 floats: 204 bytes at the cache's rate; 25 multiply-adds. */
    const struct conv_shape small = {1, 1, 1, 5, 5, 1};
    cr_assert_float_eq(gr_floor_any_s(gr_floor_on(&gpu, &small)), 204 / 1e10, 1e-18);
    /* 1224 bytes do not fit into the cache. */
    const struct conv_shape larger = {6, 1, 1, 5, 5, 1};
    cr_assert_float_eq(gr_floor_any_s(gr_floor_on(&gpu, &larger)), 1204 / 1e9, 1e-15);
    /* 1e6 multiply-adds at 1e13 per second. */
    const struct conv_shape deep = {1, 100, 100, 10, 10, 1};
    cr_assert_float_eq(gr_floor_any_s(gr_floor_on(&gpu, &deep)), fmax(1e6 / 4 / 1e13, 120000 / 1e9),
                       1e-12);
    /* If moving bytes takes longer, both floors are equal; if arithmetic does, the direct
     * algorithm's is higher. */
    cr_assert_float_eq(gr_floor_direct_s(gr_floor_on(&gpu, &larger)), 1204 / 1e9, 1e-15);
    struct vg_profile wide = gpu;
    wide.dram_bytes_per_s = 1e13;
    cr_assert_float_eq(gr_floor_direct_s(gr_floor_on(&wide, &deep)), 1e6 / 1e13, 1e-18);
    cr_assert_float_eq(gr_floor_any_s(gr_floor_on(&wide, &deep)), 1e6 / 4 / 1e13, 1e-18);
}
