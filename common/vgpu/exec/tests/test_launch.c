/* Tests of launches: divergence, barriers, findings, printf, and counters that do not depend on the
 * cores. The kernels are hand-written PTX, so that these tests need no CUDA Toolkit. */
#include "base/tests/test_text.h"
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n"               \
    ".reg .b32 %r<20>;\n.reg .b64 %q<20>;\n.reg .f32 %f<9>;\n"                                     \
    "ld.param.u64 %q1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"                       \
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r5, %r3, %r4, %r2;\n"              \
    "mul.wide.u32 %q2, %r5, 4;\nadd.s64 %q2, %q1, %q2;\n" body "\nret;\n}\n"

struct args {
    uint64_t p;
    uint32_t n;
};

/* Each thread loops as often as the low bits of its number say, through an if with two branches. */
#define DIVERGING                                                                                  \
    KERNEL("diverging", "and.b32 %r6, %r2, 7;\nmov.u32 %r7, 0;\nLOOP:\n"                           \
                        "and.b32 %r8, %r6, 1;\nsetp.eq.s32 %p1, %r8, 0;\n@%p1 bra EVEN;\n"         \
                        "add.s32 %r7, %r7, 100;\nbra JOIN;\nEVEN: add.s32 %r7, %r7, 1;\n"          \
                        "JOIN: sub.s32 %r6, %r6, 1;\nsetp.ge.s32 %p2, %r6, 0;\n@%p2 bra LOOP;\n"   \
                        "activemask.b32 %r9;\nst.global.u32 [%q2], %r7;\n"                         \
                        "setp.ne.u32 %p3, %r9, 0xffffffff;\n@%p3 trap;\n")

Test(divergence, lanes_take_their_own_ways_and_meet_again)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m = gpu_load(d, PTX_HEAD DIVERGING);
    struct args a = {gpu_alloc(d, NULL, 64 * 4 * 10), 0};
    cr_assert(!gpu_run(d, m, "diverging", 10, 64, &a).faulted);
    uint32_t out[640];
    gpu_read(d, out, a.p, sizeof out);
    for (int i = 0; i < 640; i++) {
        int t = i % 64 & 7, odd = (t + 1) / 2;
        cr_assert_eq((int)out[i], odd * 100 + (t + 1 - odd));
    }
    vg_device_close(d);
}

Test(divergence, a_lock_between_lanes_of_one_warp_is_passed_on)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m = gpu_load(
        d, PTX_HEAD KERNEL("lock", "SPIN: atom.global.cas.b32 %r6, [%q1], 0, 1;\n"
                                   "setp.ne.s32 %p1, %r6, 0;\n@%p1 bra SPIN;\n"
                                   "ld.volatile.global.u32 %r7, [%q1+4];\nadd.s32 %r7, %r7, 1;\n"
                                   "st.volatile.global.u32 [%q1+4], %r7;\nmembar.gl;\n"
                                   "atom.global.exch.b32 %r8, [%q1], 0;\n"));
    uint32_t zero[2] = {0, 0};
    struct args a = {gpu_alloc(d, zero, 8), 0};
    cr_assert(!gpu_run(d, m, "lock", 4, 64, &a).faulted);
    gpu_read(d, zero, a.p, 8);
    cr_assert_eq(zero[1], 256);
    vg_device_close(d);
}

Test(divergence, a_lock_that_nobody_opens_is_reported)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m =
        gpu_load(d, PTX_HEAD KERNEL("stuck", "SPIN: ld.volatile.global.u32 %r6, [%q1];\n"
                                             "setp.eq.s32 %p1, %r6, 0;\n@%p1 bra SPIN;\n"));
    uint32_t zero = 0;
    struct args a = {gpu_alloc(d, &zero, 4), 0};
    struct vg_launch_report r = gpu_run(d, m, "stuck", 3, 64, &a);
    cr_assert(r.faulted);
    cr_assert_eq(r.fault, VG_FAULT_NO_PROGRESS);
    vg_device_close(d);
}

/* All lanes go back by a table of targets together, or to two targets. */
Test(divergence, a_loop_through_a_jump_table_that_does_not_end_is_reported, .timeout = 20)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m = gpu_load(
        d, PTX_HEAD KERNEL("together", "mov.u32 %r6, 0;\nBACK: mov.u32 %r7, 1;\n"
                                       "T: .branchtargets BACK, END;\nbrx.idx %r6, T;\nEND:\n")
               KERNEL("apart", "and.b32 %r6, %r2, 1;\nONE: mov.u32 %r7, 1;\n"
                               "TWO: mov.u32 %r7, 1;\nT: .branchtargets ONE, TWO, END;\n"
                               "brx.idx %r6, T;\nEND:\n"));
    struct args a = {0, 0};
    cr_expect_eq(gpu_run(d, m, "together", 3, 64, &a).fault, VG_FAULT_NO_PROGRESS);
    cr_expect_eq(gpu_run(d, m, "apart", 3, 64, &a).fault, VG_FAULT_NO_PROGRESS);
    vg_device_close(d);
}

Test(barrier, threads_that_ended_are_not_waited_for)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(
        d, PTX_HEAD ".shared .align 4 .b8 s[512];\n" KERNEL(
               "early",
               "setp.ge.u32 %p1, %r2, %r1;\n.loc 1 21 1\n@%p1 bra END;\nshl.b32 %r6, %r2, 2;\n"
               "mov.u32 %r7, s;\nadd.s32 %r7, %r7, %r6;\nst.shared.u32 [%r7], %r2;\n"
               ".loc 1 33 1\nbar.sync 0;\nsub.s32 %r8, %r1, %r2;\nshl.b32 %r8, %r8, 2;\n"
               "mov.u32 %r9, s;\nadd.s32 %r9, %r9, %r8;\nld.shared.u32 %r10, [%r9+-4];\n"
               "st.global.u32 [%q2], %r10;\nEND:\n") "\n.file 1 \"/x/lab.cu\"\n");
    for (uint32_t n = 2; n <= 128; n += 21) {
        uint32_t out[128] = {0};
        struct args a = {gpu_alloc(d, out, sizeof out), n};
        const struct vg_launch_report r = gpu_run(d, m, "early", 1, 128, &a);
        char left[128] = "";
        cr_assert(!r.faulted);
        gpu_read(d, out, a.p, sizeof out);
        for (uint32_t i = 0; i < n; i++)
            cr_assert_eq(out[i], n - 1 - i);
        if (n < 128)
            snprintf(
                left, sizeof left,
                "%u of the block's 128 threads returned at line 21 and never reached the barrier at line 33",
                128 - n);
        cr_expect_str_eq(r.left, left);
    }
    const struct vg_fault *f;
    cr_assert_eq(vg_faults(d, &f), 0);
    vg_device_close(d);
}

Test(barrier, one_that_not_all_threads_reach_is_reported)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(
        d, PTX_HEAD KERNEL("half", "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra SKIP;\nbar.sync 0;\n"
                                   "SKIP: st.global.u32 [%q2], %r2;\n"));
    struct args a = {gpu_alloc(d, NULL, 128), 0};
    struct vg_launch_report r = gpu_run(d, m, "half", 1, 32, &a);
    cr_assert(r.faulted);
    cr_assert_eq(r.fault, VG_FAULT_BARRIER_DIVERGENCE);
    cr_assert(strstr(gpu_fault(d, r.fault)->detail, "16 of 32"), "%s",
              gpu_fault(d, r.fault)->detail);
    vg_device_close(d);
}

#define STORE KERNEL("store", ".loc 1 7 1\nst.global.u32 [%q2], %r2;\n") "\n.file 1 \"/x/lab.cu\"\n"

Test(memcheck, an_access_past_the_end_names_thread_line_and_allocation)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m = gpu_load(d, PTX_HEAD STORE);
    struct args a = {gpu_alloc(d, NULL, 3600), 0};
    struct vg_launch_report r = gpu_run(d, m, "store", 50, 64, &a);
    cr_assert(r.faulted);
    cr_assert_eq(r.fault, VG_FAULT_OUT_OF_BOUNDS);
    const struct vg_fault *f = gpu_fault(d, VG_FAULT_OUT_OF_BOUNDS);
    cr_assert_eq(f->line, 7);
    cr_assert_str_eq(f->file, "/x/lab.cu");
    cr_assert_eq(f->block[0], 14);
    cr_assert_eq(f->thread[0], 4);
    cr_assert_eq(f->address, a.p + 3600);
    cr_assert(strstr(f->detail, "3600-byte allocation from cudaMalloc #1"), "%s", f->detail);
    vg_device_close(d);
}

Test(memcheck, freed_null_and_host_pointers_are_distinguished)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, PTX_HEAD STORE);
    struct args freed = {gpu_alloc(d, NULL, 128), 0}, null = {0, 0};
    struct args host = {(uint64_t)(uintptr_t)&freed & ~UINT64_C(3), 0},
                odd = {gpu_alloc(d, NULL, 999) + 2, 0};
    cr_assert_eq(vg_memory_free(d, freed.p, NULL), ST_OK);
    cr_assert_eq(gpu_run(d, m, "store", 1, 32, &freed).fault, VG_FAULT_USE_AFTER_FREE);
    cr_assert_eq(gpu_run(d, m, "store", 1, 32, &null).fault, VG_FAULT_INVALID_ADDRESS);
    cr_assert_eq(gpu_run(d, m, "store", 1, 32, &host).fault, VG_FAULT_INVALID_ADDRESS);
    cr_assert_eq(gpu_run(d, m, "store", 1, 32, &odd).fault, VG_FAULT_MISALIGNED);
    cr_assert_neq(vg_memory_free(d, freed.p, NULL), ST_OK);
    vg_device_close(d);
}

Test(initcheck, only_bytes_that_nobody_wrote_are_reported)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, PTX_HEAD STORE);
    vg_module_unload(d, m);
    m = gpu_load(d, PTX_HEAD KERNEL("sum", "ld.global.u32 %r6, [%q2];\nadd.s32 %r6, %r6, 1;\n"
                                           "st.global.u32 [%q2], %r6;\n"));
    uint32_t some[40] = {0};
    struct args a = {gpu_alloc(d, NULL, 256), 0};
    cr_assert_eq(vg_memory_write(d, a.p, some, sizeof some, NULL), ST_OK);
    cr_assert(!gpu_run(d, m, "sum", 1, 64, &a).faulted);
    const struct vg_fault *f = gpu_fault(d, VG_FAULT_UNINITIALISED);
    cr_assert(f != NULL);
    cr_assert_eq(f->thread[0], 40);
    cr_assert_eq(f->count, 24);
    /* now all elements are written */
    gpu_run(d, m, "sum", 1, 64, &a);
    cr_assert_eq(gpu_fault(d, VG_FAULT_UNINITIALISED)->count, 24);
    vg_device_close(d);
}

static const char racing[] = PTX_HEAD ".shared .align 4 .b8 s[512];\n" KERNEL(
    "racing",
    "shl.b32 %r6, %r2, 2;\nmov.u32 %r7, s;\nadd.s32 %r7, %r7, %r6;\n.loc 1 5 1\n"
    "st.shared.u32 [%r7], %r2;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra NO;\nbar.sync 0;\n"
    "NO: xor.b32 %r8, %r6, 128;\nmov.u32 %r9, s;\nadd.s32 %r9, %r9, %r8;\n.loc 1 9 1\n"
    "ld.shared.u32 %r10, [%r9];\nst.global.u32 [%q2], %r10;\n") "\n.file 1 \"/x/lab.cu\"\n";

Test(racecheck, a_missing_barrier_names_both_lines_and_a_present_one_nothing)
{
    struct vg_device *d = gpu_open(2);
    struct vg_module *m = gpu_load(d, racing);
    struct args a = {gpu_alloc(d, NULL, 4 * 64 * 8), 1};
    const struct vg_fault *f;
    cr_assert(!gpu_run(d, m, "racing", 8, 64, &a).faulted);
    cr_assert_eq(vg_faults(d, &f), 0);
    a.n = 0;
    cr_assert(!gpu_run(d, m, "racing", 8, 64, &a).faulted);
    cr_assert(gpu_fault(d, VG_FAULT_UNINITIALISED), "the first warp reads what is not yet written");
    f = gpu_fault(d, VG_FAULT_RACE_RAW);
    cr_assert(f != NULL);
    cr_assert_eq(f->line, 9);
    cr_assert_eq(f->other_line, 5);
    vg_device_close(d);
}

Test(shuffle, reading_a_lane_that_does_not_take_part_is_reported)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m =
        gpu_load(d, PTX_HEAD KERNEL("shuffle", "setp.ge.u32 %p1, %r2, 24;\n@%p1 bra END;\n"
                                               "shfl.sync.down.b32 %r6, %r2, 4, 31, 0x00ffffff;\n"
                                               "st.global.u32 [%q2], %r6;\nEND:\n"));
    struct args a = {gpu_alloc(d, NULL, 128), 0};
    cr_assert(!gpu_run(d, m, "shuffle", 1, 32, &a).faulted);
    const struct vg_fault *f = gpu_fault(d, VG_FAULT_UNDEFINED_SHUFFLE);
    cr_assert(f != NULL);
    cr_assert_eq(f->thread[0], 20);
    cr_assert_eq(f->count, 4);
    uint32_t out[20];
    gpu_read(d, out, a.p, sizeof out);
    cr_assert_eq(out[19], 23);
    vg_device_close(d);
}

/* ---- the same figures on any number of cores and any instruction set ------------------------ */

#define ATOMS                                                                                      \
    KERNEL("atoms", "and.b32 %r6, %r5, 31;\nmul.wide.u32 %q3, %r6, 4;\nadd.s64 %q3, %q1, %q3;\n"   \
                    "red.global.add.u32 [%q3], 1;\n")

static char *counters_of(int cores, const char *target, bool unload)
{
    setenv("CONVLAB_VGPU_TARGET", target, 1);
    struct vg_device *d = gpu_open(cores);
    struct vg_module *m = gpu_load(d, PTX_HEAD DIVERGING ATOMS);
    uint32_t zero[32] = {0};
    struct args a = {gpu_alloc(d, NULL, 4 * 96 * 50), 0}, b = {gpu_alloc(d, zero, sizeof zero), 0};
    gpu_run(d, m, "diverging", 50, 96, &a);
    gpu_run(d, m, "atoms", 50, 96, &b);
    gpu_read(d, zero, b.p, sizeof zero);
    for (int i = 0; i < 32; i++)
        cr_assert_eq(zero[i], 150);
    char *text;
    if (unload)
        vg_module_unload(d, m);
    PRINTED(text, vg_counters_write(d, out));
    vg_device_close(d);
    return text;
}

Test(counters, are_the_same_for_any_number_of_cores_and_any_instruction_set)
{
    char *one = counters_of(1, "base", false);
    cr_assert(strstr(one, "diverging\t") && strstr(one, "atoms\t"), "%s", one);
    static const char *const targets[] = {"avx2", "avx512", "base"};
    for (int cores = 1; cores <= 4; cores++) {
        char *other = counters_of(cores, targets[cores % 3], false);
        cr_assert_str_eq(one, other);
        free(other);
    }
    free(one);
}

/* A library that the program loaded at run time, like a lab, is unloaded before the program
 * ends. */
Test(counters, of_an_unloaded_module_are_kept)
{
    char *loaded = counters_of(1, "base", false), *unloaded = counters_of(1, "base", true);
    cr_assert_str_eq(loaded, unloaded);
    free(loaded);
    free(unloaded);
}

Test(counters, of_a_copy_are_those_of_a_textbook)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(
        d, PTX_HEAD KERNEL("copy", "ld.global.f32 %f1, [%q2];\nst.global.f32 [%q2+4096], %f1;\n")
               KERNEL("strided", "mul.wide.u32 %q3, %r5, 32;\nadd.s64 %q3, %q1, %q3;\n"
                                 "ld.global.f32 %f1, [%q3];\nst.global.f32 [%q2], %f1;\n"));
    static float zero[16384];
    struct args a = {gpu_alloc(d, zero, sizeof zero), 0};
    struct vg_counters c = gpu_run(d, m, "copy", 4, 256, &a).counters;
    cr_assert_eq(c.global_load_requests, 32);
    cr_assert_eq(c.global_load_sectors, 128);
    cr_assert_eq(c.global_store_requests, 32);
    cr_assert_eq(c.global_store_sectors, 128);
    cr_assert_eq(c.global_load_bytes, 4096);
    cr_assert_eq(c.global_store_bytes, 4096);
    cr_assert_eq(c.shared_load_bytes + c.shared_store_bytes, 0);
    cr_assert_eq(c.warp_instructions, 32 * 11);
    cr_assert_eq(c.thread_instructions, 1024 * 11);
    c = gpu_run(d, m, "strided", 4, 256, &a).counters;
    cr_assert_eq(c.global_load_sectors, 32 * 32);
    cr_assert_eq(c.global_load_bytes, 4096, "the requested bytes do not depend on the stride");
    cr_assert_eq(c.global_store_sectors, 128);
    vg_device_close(d);
}

Test(launch, sizes_that_no_gpu_takes_are_refused)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, PTX_HEAD STORE);
    struct vg_kernel *k = vg_module_kernel(m, "store");
    struct vg_launch_report r;
    struct args a = {gpu_alloc(d, NULL, 4096), 0};
    struct vg_dim one = {1, 1, 1}, none = {0, 1, 1}, wide = {1025, 1, 1}, deep = {1, 1, 65};
    cr_assert_eq(vg_launch(d, k, none, one, 0, &a, &r, NULL), ST_USAGE);
    cr_assert_eq(vg_launch(d, k, one, none, 0, &a, &r, NULL), ST_USAGE);
    cr_assert_eq(vg_launch(d, k, one, wide, 0, &a, &r, NULL), ST_USAGE);
    cr_assert_eq(vg_launch(d, k, one, deep, 0, &a, &r, NULL), ST_USAGE);
    cr_assert_eq(vg_launch(d, k, one, one, 200 << 10, &a, &r, NULL), ST_TOO_LARGE);
    cr_assert_eq(vg_launch(d, k, one, one, 16, &a, &r, NULL), ST_OK);
    cr_assert_eq(vg_memory_alloc(d, (size_t)1 << 40, &a.p, NULL), ST_NO_MEMORY);
    vg_device_close(d);
}

/* Each function calls the next one twice, so that 2^32 paths lead to the last one, after a branch
 * that no thread takes. */
Test(launch, functions_with_many_callers_are_examined_once, .timeout = 10)
{
    enum { FUNCTIONS = 33 };
    char ptx[8192];
    size_t used = (size_t)sprintf(ptx, PTX_HEAD ".func f0()\n{\nret;\n}\n");
    for (int i = 1; i < FUNCTIONS; i++)
        used += (size_t)sprintf(ptx + used, ".func f%d()\n{\ncall f%d;\ncall f%d;\nret;\n}\n", i,
                                i - 1, i - 1);
    sprintf(ptx + used, "%s",
            KERNEL("calls", "setp.lt.u32 %p1, %r2, 2000;\n@%p1 bra END;\ncall f32;\nEND:\n"));
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, ptx);
    struct args a = {gpu_alloc(d, NULL, 4), 0};
    cr_assert(!gpu_run(d, m, "calls", 1, 32, &a).faulted);
    vg_device_close(d);
}

static size_t resident_bytes(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    cr_assert(f && fscanf(f, "%*u %zu", &pages) == 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

Test(memory, is_given_back_and_reused_when_the_addresses_run_out)
{
    struct vg_device *d = gpu_open(1);
    const size_t before = resident_bytes();
    for (int i = 0; i < 3000; i++) {
        uint64_t at;
        cr_assert_eq(vg_memory_alloc(d, 1 << 20, &at, NULL), ST_OK, "allocation %d", i);
        cr_assert_eq(vg_memory_set(d, at, i, 1 << 20, NULL), ST_OK);
        cr_assert_eq(vg_memory_free(d, at, NULL), ST_OK);
    }
    const size_t kept = resident_bytes() - before;
    cr_expect_lt(kept, (size_t)32 << 20, "%zu MiB of freed memory are still resident", kept >> 20);
    vg_device_close(d);
}
