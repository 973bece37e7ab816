/* Intervals between barriers in which a block only reads shared memory: a race must never be overlooked
 * because an interval looks read-only. */
#include "vgpu/exec/tests/gpu.h"

#include "vgpu/exec/vg_module.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* A kernel of 64 threads. Thread t writes word t, waits, and executes `body`. There %r5 is the
 * address of its own word, and %r6 that of thread t xor 32, which is in the other warp; %p1 holds in
 * the second warp; %q1 is the address of its output, and %q3 the generic address of its word. */
#define HEAD                                                                                       \
    PTX_HEAD ".shared .align 4 .b8 s[264];\n.func set(.param .b32 a)\n{\n"                         \
             ".reg .b32 %a;\nld.param.u32 %a, [a];\nst.shared.u32 [%a], 7;\nret;\n}\n"             \
             ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"         \
             ".reg .b64 %q<9>;\nld.param.u64 %q1, [p];\nmov.u32 %r1, %tid.x;\n"                    \
             "mul.wide.u32 %q2, %r1, 4;\nadd.s64 %q1, %q1, %q2;\nshl.b32 %r2, %r1, 2;\n"           \
             "mov.u32 %r3, s;\nadd.u32 %r5, %r3, %r2;\nxor.b32 %r2, %r2, 128;\n"                   \
             "add.u32 %r6, %r3, %r2;\nsetp.ge.u32 %p1, %r1, 32;\ncvt.u64.u32 %q3, %r5;\n"          \
             "cvta.shared.u64 %q3, %q3;\nst.shared.u32 [%r5], %r1;\n"
#define READ "ld.shared.u32 %r7, [%r6];\nst.global.u32 [%q1], %r7;\n"
#define TAIL "\nret;\n}\n"

static const struct body {
    const char *text;
    bool read_only; /* the first barrier */
    enum vg_fault_kind finding;
} bodies[] = {
    /* nothing but reads */
    {"bar.sync 0;\n" READ "bar.sync 0;\nst.shared.u32 [%r5], 1;\n", true, VG_FAULT_KINDS},
    {"bar.sync 0;\nmov.u32 %r8, 0;\nL: " READ "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 5;\n"
     "@%p2 bra L;\n@%p1 bra E;\nbar.warp.sync 0xffffffff;\nE: atom.global.add.u32 %r9, [%q1], 1;\n",
     true, VG_FAULT_KINDS},
    {"bar.sync 0;\nld.shared.u32 %r7, [s+256];\nst.global.u32 [%q1], %r7;\n", true,
     VG_FAULT_UNINITIALISED},
    /* the write follows before the next barrier: */
    {"bar.sync 0;\n" READ "st.shared.u32 [%r5], 1;\n", false, VG_FAULT_RACE_WAR},
    {"bar.sync 0;\n" READ "@%p1 bra E;\nst.shared.u8 [%r5], 1;\nE: bar.sync 0;\n", false,
     VG_FAULT_RACE_WAR},
    {"bar.sync 0;\n" READ "atom.shared.add.u32 %r8, [%r5], 1;\n", false, VG_FAULT_RACE_WAR},
    {"bar.sync 0;\n" READ "st.u32 [%q3], %r1;\n", false, VG_FAULT_RACE_WAR},
    {"bar.sync 0;\n" READ "{\n.param .b32 a;\nst.param.b32 [a], %r5;\ncall set, (a);\n}\n", false,
     VG_FAULT_RACE_WAR},
    /* ... on the way back to the loop's start */
    {"mov.u32 %r8, 0;\nL: bar.sync 0;\n" READ "st.shared.u32 [%r5], %r8;\nadd.u32 %r8, %r8, 1;\n"
     "setp.lt.u32 %p2, %r8, 3;\n@%p2 bra L;\n",
     false, VG_FAULT_RACE_WAR},
    /* ... in the warp that waits at another instruction */
    {"@%p1 bra B;\nbar.sync 0;\n" READ "bra E;\nB: bar.sync 0;\nst.shared.u32 [%r5], 9;\nE:\n",
     true, VG_FAULT_RACE_WAR},
    /* ... in the warp that does not wait */
    {"@%p1 bra B;\nbar.sync 1, 64;\n" READ
     "bra E;\nB: bar.arrive 1, 64;\nst.shared.u32 [%r5], 9;\nE:\n",
     true, VG_FAULT_RACE_RAW},
};

static bool is_first_barrier_read_only(const struct vg_module *m)
{
    for (size_t k = 0; k < m->ir.function_count; k++)
        for (size_t i = 0; m->ir.functions[k].is_entry && i < m->ir.functions[k].insn_count; i++)
            if (m->ir.functions[k].insns[i].op == IR_BAR)
                return m->ir.functions[k].insns[i].read_only;
    cr_assert_fail("the kernel has no barrier");
    return false;
}

Test(read_only_intervals, no_race_is_overlooked)
{
    static char text[4096];
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct vg_device *d = gpu_open(1);
        snprintf(text, sizeof text, "%s%s%s", HEAD, bodies[i].text, TAIL);
        struct vg_module *m = gpu_load(d, text);
        uint32_t zeros[64] = {0};
        const uint64_t out = gpu_alloc(d, zeros, sizeof zeros);
        cr_assert_eq(is_first_barrier_read_only(m), bodies[i].read_only, "body %zu", i);
        cr_assert(!gpu_run(d, m, "k", 1, 64, &out).faulted, "body %zu", i);
        const struct vg_fault *f;
        const bool found = vg_faults(d, &f) != 0;
        if (bodies[i].finding == VG_FAULT_KINDS)
            cr_assert(!found, "body %zu", i);
        else
            cr_assert(found && (gpu_fault(d, bodies[i].finding) ||
                                (bodies[i].finding == VG_FAULT_RACE_WAR &&
                                 gpu_fault(d, VG_FAULT_RACE_RAW))),
                      "body %zu: no %d", i, bodies[i].finding);
        vg_device_close(d);
    }
}
