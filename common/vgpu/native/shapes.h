/** @file
 * The shapes of a warp's accesses. A *shape* is each lane's address minus the first lane's, with
 * everything derived from these distances (struct vg_shape, exec/access_shape.inc). A shape is kept
 * after its first use. So accesses with equal distances have one object, which native code may look
 * up before a loop and use in the loop.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** A shape, and the address of the first lane. Returned in two registers. */
struct native_shape {
    const struct vg_shape *shape;
    uint64_t lead;
};

/** Called before native code runs: shapes that the code finds are kept until it ends. */
void shapes_begin(struct vg_worker *worker);

/** @return the address of the function by which native code finds a shape. The function takes the
 * worker, the mask, the size, and the lanes' addresses of 64 bits (wide) or 32 in vector
 * registers. */
uintptr_t shapes_entry(bool avx512, bool wide);
