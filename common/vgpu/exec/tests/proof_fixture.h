/** @file
 * Kernels for tests of proofs: a kernel gets x, k and y, and every lane of two warps computes y
 * from x and k by a few lines of PTX.
 */
#pragma once

#include "vgpu/exec/proof.h"
#include "vgpu/exec/tests/gpu.h"

/** The number of lanes. x, k, y and the scratch memory have 2 N words, since a lane may store to
 * two words. */
enum { N = 64 };

struct proved {
    struct vg_device *device;
    uint64_t address[VG_PROOF_TENSORS], scratch;
    const uint32_t *x, *k; /**< elements */
};

/** Runs a kernel with these declarations and this body, in which %q6, %q7, %q8 and %q9 are the
 * addresses of the lane's words of x, k, y and the scratch memory, and %f1 and %f2 its values of x
 * and k. Close p.device. */
struct proved prove(const char *declared, const char *body);
