/* Tests of the order of blocks and warps, which depends on a seed, of results that must not depend
 * on this order, and of modules that consist of several units. */
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCKS = 37, WARPS = 5 };

/* Every warp takes a ticket: out[block][warp] becomes the number of warps before it. */
static const char *const tickets = PTX_HEAD
    ".visible .entry tickets(.param .u64 p, .param .u64 q)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n"
    "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra DONE;\n"
    "atom.global.add.u32 %r3, [%rd1], 1;\n"
    "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\nmad.lo.s32 %r6, %r4, %r5, %r1;\n"
    "shr.u32 %r6, %r6, 5;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "st.global.u32 [%rd4], %r3;\nDONE:\nret;\n}\n";

static void run_tickets(uint64_t seed, uint32_t to[BLOCKS * WARPS])
{
    struct vg_device *d = gpu_open(3);
    vg_device_seed(d, seed);
    uint32_t zero = 0;
    uint64_t p[2] = {gpu_alloc(d, &zero, 4), gpu_alloc(d, NULL, 4 * BLOCKS * WARPS)};
    gpu_run(d, gpu_load(d, tickets), "tickets", BLOCKS, 32 * WARPS, p);
    gpu_read(d, to, p[1], 4 * BLOCKS * WARPS);
    vg_device_close(d);
}

Test(order, a_seed_gives_one_order_in_which_everybody_comes_once)
{
    uint32_t first[BLOCKS * WARPS], again[BLOCKS * WARPS], other[BLOCKS * WARPS];
    bool seen[BLOCKS * WARPS] = {false};
    run_tickets(5, first);
    run_tickets(5, again);
    run_tickets(6, other);
    cr_assert_arr_eq(first, again, sizeof first);
    cr_assert_arr_neq(first, other, sizeof first);
    for (int i = 0; i < BLOCKS * WARPS; i++) {
        cr_assert_lt(first[i], BLOCKS * WARPS);
        cr_assert(!seen[first[i]]);
        seen[first[i]] = true;
    }
    int blocks_in_order = 0, warps_in_order = 0;
    for (int b = 1; b < BLOCKS; b++)
        blocks_in_order += first[b * WARPS] > first[(b - 1) * WARPS];
    for (int b = 0; b < BLOCKS; b++)
        warps_in_order += first[b * WARPS + 1] > first[b * WARPS];
    cr_assert_lt(blocks_in_order, BLOCKS - 1, "blocks ran by number");
    cr_assert_lt(warps_in_order, BLOCKS, "warps ran by number");
}

Test(order, blocks_run_by_number_one_after_the_other_if_asked)
{
    uint32_t got[BLOCKS * WARPS];
    run_tickets(VG_SEED_ONE_BY_ONE, got);
    for (uint32_t i = 0; i < BLOCKS * WARPS; i++)
        cr_assert_eq(got[i] / WARPS, i / WARPS, "warp %u was number %u", i, got[i]);
}

/* Every block stores to its own element, but block 20 stores out of bounds. */
static const char *const one_misses = PTX_HEAD
    ".visible .entry miss(.param .u64 p)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "setp.eq.s32 %p1, %r1, 20;\nselp.b64 %rd3, 100000, %rd2, %p1;\nadd.s64 %rd4, %rd1, %rd3;\n"
    "st.global.u32 [%rd4], %r1;\nld.global.u32 %r2, [%rd4];\nret;\n}\n";

Test(order, counters_of_a_launch_that_faulted_do_not_depend_on_the_cores)
{
    struct vg_launch_report report[3];
    const int cores[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        struct vg_device *d = gpu_open(cores[i]);
        uint64_t p = gpu_alloc(d, NULL, 4 * 200);
        report[i] = gpu_run(d, gpu_load(d, one_misses), "miss", 200, 32, &p);
        const struct vg_fault *f = gpu_fault(d, VG_FAULT_OUT_OF_BOUNDS);
        cr_assert(f && f->block[0] == 20 && f->count == 1);
        vg_device_close(d);
    }
    cr_assert(report[0].faulted);
    for (int i = 1; i < 3; i++) {
        cr_assert_eq(memcmp(&report[0].counters, &report[i].counters, sizeof report[0].counters),
                     0);
        cr_assert_float_eq(report[0].modelled_ns, report[i].modelled_ns, 1e-9);
    }
}

/* ---- units ---------------------------------------------------------------------------------- */

static const char *const unit_a = PTX_HEAD
    ".extern .func (.param .b32 r) other(.param .b32 x);\n"
    ".extern .global .align 4 .u32 shared_value;\n"
    ".global .align 4 .u32 own = 1;\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [own];\nld.global.u32 %r2, [shared_value];\n"
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\n"
    "call.uni (b), twice, (a);\nld.param.b32 %r3, [b];\n}\n"
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r3;\n"
    "call.uni (b), other, (a);\nld.param.b32 %r4, [b];\n}\n"
    "add.u32 %r5, %r4, %r1;\nst.global.u32 [%rd1], %r5;\nret;\n}\n";

static const char *const unit_b =
    PTX_HEAD ".visible .global .align 4 .u32 shared_value = 7;\n"
             ".global .align 4 .u32 own = 100;\n"
             ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
             "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 1000;\nst.param.b32 [r], %r2;\nret;\n}\n"
             ".visible .func (.param .b32 r) other(.param .b32 x)\n{\n.reg .b32 %r<5>;\n"
             "ld.param.u32 %r1, [x];\nld.global.u32 %r2, [own];\n"
             "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
             "call.uni (b), twice, (a);\nld.param.b32 %r3, [b];\n}\n"
             "add.u32 %r4, %r3, %r2;\nst.param.b32 [r], %r4;\nret;\n}\n";

Test(units, find_each_others_names_and_keep_their_own)
{
    struct vg_device *d = gpu_open(1);
    struct st_error err;
    struct vg_module *m;
    struct vg_image images[] = {{unit_a, strlen(unit_a), NULL, 0},
                                {unit_b, strlen(unit_b), NULL, 0}};
    cr_assert_eq(vg_module_link(d, &m, images, 2, &err), ST_OK, "%s %s", err.what, err.where);
    uint64_t p = gpu_alloc(d, NULL, 4);
    uint32_t got;
    gpu_run(d, m, "k", 1, 1, &p);
    gpu_read(d, &got, p, 4);
    cr_assert_eq(got, 2 * 7 + 1000 + 100 + 1);
    vg_device_close(d);
}

Test(units, a_name_that_none_of_them_defines_is_reported)
{
    struct vg_device *d = gpu_open(1);
    struct st_error err;
    struct vg_module *m;
    struct vg_image image = {unit_a, strlen(unit_a), NULL, 0};
    cr_assert_neq(vg_module_link(d, &m, &image, 1, &err), ST_OK);
    cr_assert(strstr(err.where, "no module of the program defines function 'other'"), "%s",
              err.where);
    cr_assert(strstr(err.where, "shared_value"), "%s", err.where);
    vg_device_close(d);
}
