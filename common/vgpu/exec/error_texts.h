/** @file
 * Names and descriptions of CUDA's errors in global memory, for kernels that request them.
 */
#pragma once

#include "vgpu/api/vgpu.h"

/** Stores the texts in global memory if the module's kernels may request them. */
enum st_code error_texts_place(struct vg_module *m, struct st_error *err);
/** @return the address of an error's name, or of its description. */
uint64_t error_text(const struct vg_module *m, int number, bool is_name);
