/** @file
 * The patterns of a warp's addresses: each lane's address minus the first lane's. A pattern is kept
 * after its first use, with everything derived from it (exec/access_shape.inc). So equal patterns
 * are one object, which native code may look up before a loop and use in the loop.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** A pattern, and the address of the first lane. Returned in two registers. */
struct native_pattern {
    const struct vg_shape *shape;
    uint64_t lead;
};

/** Called before native code runs: patterns that the code finds are kept until it ends. */
void patterns_begin(struct vg_worker *worker);

/** @return the address of the function by which native code finds a pattern. The function takes the
 * worker, the mask, the size, and the lanes' addresses of 64 bits (wide) or 32 in vector
 * registers. */
uintptr_t patterns_entry(bool avx512, bool wide);
