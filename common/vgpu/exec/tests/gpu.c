#include "vgpu/exec/tests/gpu.h"

#include "vgpu/exec/tests/test_gpu.h"

#include <criterion/criterion.h>
#include <string.h>

struct vg_device *gpu_open(int cores)
{
    struct vg_device *d;
    struct st_error err = {0};
    cr_assert_eq(vg_device_open(&d, &test_gpu, cores, &err), ST_OK, "%s", err.what);
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
