/** @file
 * Functions of device code that are not PTX: printf(), malloc(), and CUDA's runtime.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

/** Executes a call of such a function, for the lanes of w->mask. */
void vg_builtin(struct vg_warp *w, const struct ir_insn *in, enum ir_builtin which);
