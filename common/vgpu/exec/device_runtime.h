/** @file
 * CUDA's runtime for device code, which replaces libcudadevrt: errors, attributes of the device and
 * of kernels, memory, and launches from kernels (child_work.h).
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

/** Executes a lane's call of a function of ptx/device_runtime.def. */
void device_runtime_call(struct vg_warp *w, const struct ir_insn *in, int lane,
                         enum ir_builtin which);
