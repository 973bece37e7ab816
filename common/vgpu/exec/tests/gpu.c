#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct vg_profile profile = {
    .name = "test",
    .product = "test GPU",
    .compute_major = 8,
    .multiprocessors = 8,
    .max_threads_per_multiprocessor = 2048,
    .max_blocks_per_multiprocessor = 32,
    .max_threads_per_block = 1024,
    .registers_per_multiprocessor = 65536,
    .registers_per_block = 65536,
    .shared_per_multiprocessor_bytes = 164 << 10,
    .shared_per_block_bytes = 48 << 10,
    .shared_per_block_optin_bytes = 163 << 10,
    .shared_reserved_bytes = 1024,
    .global_bytes = 256 << 20,
    .clock_hz = 1e9,
    .issue_slots = 4,
    .fp16_lanes = 256,
    .fp32_lanes = 64,
    .fp64_lanes = 32,
    .special_lanes = 16,
    .int_lanes = 64,
    .l2_bytes_per_s = 4e12,
    .dram_bytes_per_s = 1e12,
    .l2_latency_clocks = 250,
    .dram_latency_clocks = 400,
    .shared_latency_clocks = 30,
    .alu_latency_clocks = 4,
};

struct vg_device *gpu_open(int cores)
{
    struct vg_device *d;
    struct st_error err = {0};
    cr_assert_eq(vg_device_open(&d, &profile, cores, &err), ST_OK, "%s", err.what);
    return d;
}

struct vg_module *gpu_load(struct vg_device *d, const char *ptx)
{
    struct vg_module *m;
    struct st_error err = {0};
    enum st_code code = vg_module_load(d, &m, ptx, strlen(ptx), NULL, 0, &err);
    cr_assert_eq(code, ST_OK, "%s: %s expected %s got %s", err.what, err.where, err.expected,
                 err.got);
    return m;
}

uint64_t gpu_alloc(struct vg_device *d, const void *from, size_t bytes)
{
    uint64_t at = 0;
    cr_assert_eq(vg_memory_alloc(d, bytes, &at, NULL), ST_OK);
    if (from)
        cr_assert_eq(vg_memory_write(d, at, from, bytes, NULL), ST_OK);
    return at;
}

void gpu_read(struct vg_device *d, void *to, uint64_t from, size_t bytes)
{
    cr_assert_eq(vg_memory_read(d, to, from, bytes, NULL), ST_OK);
}

struct vg_launch_report gpu_run(struct vg_device *d, struct vg_module *m, const char *kernel,
                                uint32_t grid, uint32_t block, const void *parameters)
{
    struct vg_launch_report report;
    struct st_error err = {0};
    struct vg_kernel *k = vg_module_kernel(m, kernel);
    cr_assert(k != NULL, "no kernel %s", kernel);
    cr_assert_eq(vg_launch(d, k, (struct vg_dim){grid, 1, 1}, (struct vg_dim){block, 1, 1}, 0,
                           parameters, &report, &err),
                 ST_OK, "%s", err.what);
    return report;
}

const struct vg_fault *gpu_fault(const struct vg_device *d, enum vg_fault_kind kind)
{
    const struct vg_fault *f;
    size_t n = vg_faults(d, &f);
    for (size_t i = 0; i < n; i++)
        if (f[i].kind == kind)
            return &f[i];
    return NULL;
}
