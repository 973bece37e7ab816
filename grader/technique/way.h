/** @file
 * The products that one convolution adds up to y, and the paths by which x and k reach these
 * products. The virtual GPU proves both while it executes the kernels (common/vgpu/exec/proof.h).
 *
 *     x, k ──load──▶ register ─────────────────────────▶ product ──▶ ... ──store, atomics──▶ y
 *        └─▶ shared memory, constant variable, workspace ─┘
 */
#pragma once

#include "base/status.h"
#include "base/tsv.h"
#include "conv.h"
#include "grader/session/device_record.h"
#include "vgpu/device/session_proof.h"

#include <stddef.h>

enum { GR_MAX_KERNELS = 64 };

/** The work of a kernel, summed over all its launches. */
struct gr_kernel_way {
    char name[128];
#define GR_WAY_FIELD(name) double name;
    VG_PROOF_COUNTS(GR_WAY_FIELD)
};

/** Adds the counts of a kernel. */
void gr_kernel_way_add(struct gr_kernel_way *to, const struct gr_kernel_way *from);

/** The record of one convolution. The structure is large: allocate it on the heap. */
struct gr_way {
    struct conv_shape shape;
    PROOF_TOTALS(GR_WAY_FIELD) /**< totals over y */
    size_t kernels;
    struct gr_kernel_way kernel[GR_MAX_KERNELS];
    struct gr_kernel_way total;
    struct gr_kernel_way multiplying; /**< sum over the kernels that multiply x by k */
    double copied_on_device;          /**< words that copies moved from device memory to it */
    struct conv_shape copied;         /**< tensors in host memory: the layer whose copies were
                                           recorded */
    struct gr_copies copies;
};
#undef GR_WAY_FIELD

/** Reads the table of a proof. */
enum st_code gr_way_read(struct gr_way *to, const struct tsv *table, const struct conv_shape *shape,
                         struct st_error *err);
