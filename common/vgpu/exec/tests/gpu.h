/** @file
 * A small virtual GPU for tests: one device per test, kernels from PTX text.
 */
#pragma once

#include "vgpu/api/vgpu.h"

#define PTX_HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

/** Opens a device with @p cores workers, or fails the test. */
struct vg_device *gpu_open(int cores);
/** Loads PTX. */
struct vg_module *gpu_load(struct vg_device *d, const char *ptx);
/** Allocates memory and writes @p from to it; if this is NULL, the memory stays uninitialised. */
uint64_t gpu_alloc(struct vg_device *d, const void *from, size_t bytes);
void gpu_read(struct vg_device *d, void *to, uint64_t from, size_t bytes);
/** Launches @p grid blocks of @p block threads. */
struct vg_launch_report gpu_run(struct vg_device *d, struct vg_module *m, const char *kernel,
                                uint32_t grid, uint32_t block, const void *parameters);
/** @return the first finding of a kind, or NULL. */
const struct vg_fault *gpu_fault(const struct vg_device *d, enum vg_fault_kind kind);
