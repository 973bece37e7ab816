/** @file
 * A case on which two engines must agree: PTX whose comments describe how to run it. So one file
 * contains everything, and a case from which lines are deleted is still a case.
 *
 *     //@ buffer BYTES SEED KIND      global memory; the kernels' 64-bit parameters, in order
 *     //@ scalar VALUE                the kernels' 32-bit parameters, in order
 *     //@ variable NAME               a variable of the module, whose bytes are also compared
 *     //@ launch KERNEL GRID_X GRID_Y GRID_Z BLOCK_X BLOCK_Y BLOCK_Z DYNAMIC_SHARED
 *     //@ order SEED                  see vg_device_seed()
 *
 * Without a launch, each kernel is launched once with some buffers.
 *
 * Two more comments help engine_shrink.h: a line that ends with KEEP_MARK is never deleted, and the
 * lines between the lines OPEN_MARK and CLOSE_MARK may be deleted together.
 */
#pragma once

#include "vgpu/api/vgpu.h"

#define KEEP_MARK  "//!"
#define OPEN_MARK  "//{"
#define CLOSE_MARK "//}"

enum { CASE_BUFFERS = 9, CASE_LAUNCHES = 6, CASE_SCALARS = 4, CASE_VARIABLES = 2 };

struct case_buffer {
    size_t bytes;
    uint64_t seed;
    char kind[12]; /**< see case_fill() */
};

struct case_launch {
    char kernel[32];
    struct vg_dim grid, block;
    size_t dynamic_bytes;
};

struct engine_case {
    const char *ptx; /**< not owned */
    struct case_buffer buffers[CASE_BUFFERS];
    struct case_launch launches[CASE_LAUNCHES];
    uint32_t scalars[CASE_SCALARS];
    char variables[CASE_VARIABLES][32];
    int buffer_count, launch_count, scalar_count, variable_count;
    uint64_t order;
};

/** Reads the comments of a case. @return false if a comment is invalid. */
bool case_read(struct engine_case *to, const char *ptx);

/** Initial contents of a buffer: "zero", "data" (values of all types, including edge cases) or
 * "index" (32-bit numbers below 4096). "holes" is "data" with its third quarter uninitialised;
 * "none" is uninitialised; "freed" is freed before the launches.
 * @return the number of initialised bytes from the start. */
size_t case_fill(const struct case_buffer *buffer, void *to);
