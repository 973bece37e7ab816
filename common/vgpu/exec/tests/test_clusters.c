/* Tests of clusters: blocks that run together, access each other's shared memory and meet at a
 * barrier. */
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCKS = 12, THREADS = 48 };

/* Each thread adds the values stored by its counterparts in all blocks of the cluster. */
#define SUM(head, last_barrier)                                                                    \
    PTX_HEAD ".visible .entry k(.param .u64 out) " head                                            \
             "\n{\n.shared .align 4 .b8 own[192];\n.reg .b32 %r<16>;\n.reg .b64 %q<4>;\n"          \
             ".reg .pred %p<2>;\n"                                                                 \
             "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %cluster_ctarank;\n"      \
             "mov.u32 %r4, %cluster_nctarank;\nmov.u32 %r5, own;\n"                                \
             "mad.lo.u32 %r5, %r1, 4, %r5;\nmad.lo.u32 %r6, %r2, 1000, %r1;\n"                     \
             "st.shared.u32 [%r5], %r6;\n"                                                         \
             "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"                                    \
             "mov.u32 %r7, 0;\nmov.u32 %r8, 0;\n"                                                  \
             "NEXT: mapa.shared::cluster.u32 %r9, %r5, %r8;\n"                                     \
             "getctarank.shared::cluster.u32 %r11, %r9;\n"                                         \
             "ld.shared::cluster.u32 %r10, [%r9];\nadd.u32 %r7, %r7, %r10;\n"                      \
             "mad.lo.u32 %r7, %r11, 1000000, %r7;\n"                                               \
             "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r4;\n@%p1 bra NEXT;\n" last_barrier     \
             "ld.param.u64 %q1, [out];\nmad.lo.u32 %r12, %r2, 48, %r1;\n"                          \
             "mad.wide.u32 %q1, %r12, 4, %q1;\nst.global.u32 [%q1], %r7;\nret;\n}\n"
#define LAST "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"

static uint32_t want(uint32_t block, uint32_t thread, uint32_t size)
{
    uint32_t sum = 0;
    for (uint32_t rank = 0; rank < size; rank++)
        sum += (block / size * size + rank) * 1000 + thread + rank * 1000000;
    return sum;
}

static void check(const char *ptx, int cores, uint32_t size, uint64_t seed)
{
    struct vg_device *d = gpu_open(cores);
    struct vg_module *m = gpu_load(d, ptx);
    uint32_t out[BLOCKS * THREADS];
    const uint64_t p = gpu_alloc(d, NULL, sizeof out);
    vg_device_seed(d, seed);
    const struct vg_launch_report r = gpu_run(d, m, "k", BLOCKS, THREADS, &p);
    cr_assert(!r.faulted);
    gpu_read(d, out, p, sizeof out);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        cr_assert_eq(out[i], want(i / THREADS, i % THREADS, size), "%u of clusters of %u: %u", i,
                     size, out[i]);
    vg_device_close(d);
}

Test(clusters, share_memory_on_any_number_of_cores)
{
    for (int cores = 1; cores <= 3; cores++) {
        check(SUM("", LAST), cores, 1, 0);
        check(SUM(".reqnctapercluster 2", LAST), cores, 2, 0);
        check(SUM(".reqnctapercluster 6, 1, 1", LAST), cores, 6, 0);
    }
}

Test(clusters, do_not_depend_on_the_order_of_blocks)
{
    for (uint64_t seed = 1; seed < 6; seed++)
        check(SUM(".reqnctapercluster 4", LAST), 1, 4, seed);
}

/* Checks the finding of a launch, which must be the same for any number of cores. */
static void check_finding(const char *ptx, enum vg_fault_kind kind)
{
    char first[sizeof((struct vg_fault *)0)->detail] = "";
    for (int cores = 1; cores <= 3; cores++) {
        struct vg_device *d = gpu_open(cores);
        struct vg_module *m = gpu_load(d, ptx);
        const uint64_t p = gpu_alloc(d, NULL, BLOCKS * THREADS * 4);
        gpu_run(d, m, "k", BLOCKS, THREADS, &p);
        const struct vg_fault *f = gpu_fault(d, kind);
        cr_assert(f, "no finding on %d cores", cores);
        if (cores == 1)
            strcpy(first, f->detail);
        cr_assert_str_eq(f->detail, first);
        vg_device_close(d);
    }
}

Test(clusters, report_a_block_that_ends_while_others_read)
{
    check_finding(SUM(".reqnctapercluster 3", ""), VG_FAULT_CLUSTER_EXIT);
}

Test(clusters, report_a_race_of_two_blocks)
{
    check_finding(SUM(".reqnctapercluster 2", "bar.sync 0;\nst.shared.u32 [%r5], 0;\n" LAST),
                  VG_FAULT_RACE_CLUSTER);
}

Test(clusters, report_a_barrier_that_not_all_reach)
{
    check_finding(
        SUM(".reqnctapercluster 2", "setp.eq.u32 %p1, %r1, 5;\n@%p1 bar.sync 1, 64;\n" LAST),
        VG_FAULT_BARRIER_DIVERGENCE);
}

Test(clusters, need_a_grid_that_is_a_multiple)
{
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, SUM(".reqnctapercluster 5", LAST));
    const uint64_t p = gpu_alloc(d, NULL, BLOCKS * THREADS * 4);
    struct vg_launch_report r;
    struct st_error err;
    struct vg_kernel *k = vg_module_kernel(m, "k");
    const struct vg_dim grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    cr_assert_eq(vg_launch(d, k, grid, block, 0, &p, &r, &err), ST_USAGE);
    vg_clusters(d, (struct vg_dim){17, 1, 1});
    cr_assert_eq(vg_launch(d, k, (struct vg_dim){17, 1, 1}, block, 0, &p, &r, &err), ST_USAGE);
    vg_clusters(d, (struct vg_dim){3, 1, 1});
    cr_assert_eq(vg_launch(d, k, grid, block, 0, &p, &r, &err), ST_OK);
    vg_device_close(d);
}
