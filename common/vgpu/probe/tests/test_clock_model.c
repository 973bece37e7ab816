/* Tests of the clock's model: resident blocks, and the time and limiter of a kernel. */
#include "vgpu/probe/model.h"

#include <criterion/criterion.h>

static const struct vg_profile gpu = {.multiprocessors = 100,
                                      .max_threads_per_multiprocessor = 2048,
                                      .max_blocks_per_multiprocessor = 32,
                                      .registers_per_multiprocessor = 65536,
                                      .shared_per_multiprocessor_bytes = 228 << 10,
                                      .shared_reserved_bytes = 1024,
                                      .clock_hz = 1e9,
                                      .issue_slots = 4,
                                      .fp32_lanes = 128,
                                      .fp64_lanes = 64,
                                      .fp16_lanes = 256,
                                      .special_lanes = 16,
                                      .int_lanes = 64,
                                      .l2_bytes_per_s = 5e12,
                                      .dram_bytes_per_s = 4e12,
                                      .alu_latency_clocks = 4,
                                      .dram_latency_clocks = 500};

Test(model, resident_blocks_follow_the_scarcest_resource)
{
    const char *why;
    cr_assert_eq(vg_clock_resident(&gpu, 256, 32, 0, &why), 8);
    cr_assert_eq(vg_clock_resident(&gpu, 256, 64, 0, &why), 4);
    cr_assert_str_eq(why, "registers");
    cr_assert_eq(vg_clock_resident(&gpu, 96, 112, 0, &why), 5, "four warps per scheduler");
    cr_assert_eq(vg_clock_resident(&gpu, 32, 16, 0, &why), 32);
    cr_assert_str_eq(why, "blocks");
    cr_assert_eq(vg_clock_resident(&gpu, 128, 16, 100 << 10, &why), 2);
    cr_assert_str_eq(why, "shared memory");
}

Test(model, the_limiter_is_the_kernels_largest_term)
{
    struct vg_counters c = {0};
    struct vg_clock_facts f = {
        .blocks = 10000, .threads = 256, .registers = 32, .issue_slots = 1e8};
    f.slots[IR_CLASS_FP32] = 9e7;
    cr_assert_str_eq(vg_clock_kernel(&gpu, &c, &f).limiter, "issue");
    f.slots[IR_CLASS_FP64] = 8e7;
    cr_assert_str_eq(vg_clock_kernel(&gpu, &c, &f).limiter, "fp64");
    f.dram_bytes = 1e11;
    c.global_load_sectors = (uint64_t)(1e11 / 32);
    struct vg_clock_result r = vg_clock_kernel(&gpu, &c, &f);
    cr_assert_str_eq(r.limiter, "dram");
    cr_assert(r.ns > 24e6 && r.ns < 26e6);
    cr_assert_float_eq(vg_clock_combine(r.term_ns), r.ns, 1e-6 * r.ns);
    r.term_ns[VG_TERM_DRAM] /= 100;
    cr_assert(vg_clock_combine(r.term_ns) < r.ns / 2, "shorter terms make a shorter time");
    cr_assert_str_eq(vg_clock_term_name(vg_clock_limiter(r.term_ns)), "fp64");
    cr_assert(r.occupancy == 1);
}

Test(model, stores_that_fill_their_sectors_are_faster)
{
    struct vg_profile p = gpu;
    struct vg_counters c = {.global_store_sectors = 1000000, .global_store_bytes = 32000000};
    struct vg_clock_facts f = {
        .blocks = 10000, .threads = 256, .registers = 32, .l2_write_sectors = 1e6};
    p.l2_write_bytes_per_s = 1e12;
    const double whole = vg_clock_kernel(&p, &c, &f).term_ns[VG_TERM_L2];
    c.global_store_bytes /= 2;
    cr_assert_float_eq(vg_clock_kernel(&p, &c, &f).term_ns[VG_TERM_L2], 5 * whole, 1e-6 * whole);
}

Test(model, the_scheduler_with_the_most_warps_decides)
{
    const struct vg_counters c = {0};
    struct vg_clock_facts f = {.blocks = 100, .threads = 128, .registers = 32, .issue_slots = 4e6};
    const double four = vg_clock_kernel(&gpu, &c, &f).term_ns[VG_TERM_ISSUE];
    f.threads = 32;
    cr_assert_float_eq(vg_clock_kernel(&gpu, &c, &f).term_ns[VG_TERM_ISSUE], 4 * four, 1);
    f.threads = 7 * 32;
    cr_assert_float_eq(vg_clock_kernel(&gpu, &c, &f).term_ns[VG_TERM_ISSUE], 8 / 7.0 * four, 1);
}

Test(model, warps_wait_in_whole_rounds)
{
    const struct vg_counters c = {0};
    struct vg_clock_facts f = {.blocks = 800, .threads = 256, .registers = 32, .warp_clocks = 1e6};
    const double one = vg_clock_kernel(&gpu, &c, &f).term_ns[VG_TERM_LATENCY] * 800;
    f.blocks = 1000;
    cr_assert_float_eq(vg_clock_kernel(&gpu, &c, &f).term_ns[VG_TERM_LATENCY] * 1000, 2 * one, 1);
}

Test(model, a_load_waits_for_the_slowest_sector)
{
    struct vg_profile p = gpu;
    p.l1_latency_clocks = 40, p.l2_latency_clocks = 300;
    const struct vg_clock_facts f = {.l2_read_sectors = 100, .dram_read_bytes = 50 * 32};
    cr_assert_float_eq(vg_clock_load_latency(&p, &f, 0, 0), 40, 1e-6);
    cr_assert_float_eq(vg_clock_load_latency(&p, &f, 1, 1), 400, 1e-6);
    cr_assert_float_eq(vg_clock_load_latency(&p, &f, 1, 2), 450, 1e-6);
    cr_assert_float_eq(vg_clock_load_latency(&p, &f, 0.5, 2), 245, 1e-6);
}

Test(model, latency_overlaps_less_than_other_terms)
{
    const double busy[VG_TERMS] = {[VG_TERM_ISSUE] = 100, [VG_TERM_DRAM] = 100};
    const double waits[VG_TERMS] = {[VG_TERM_ISSUE] = 100, [VG_TERM_LATENCY] = 100};
    cr_assert(vg_clock_combine(busy) > 115 && vg_clock_combine(busy) < 125);
    cr_assert(vg_clock_combine(waits) > 170 && vg_clock_combine(waits) < 200);
}
