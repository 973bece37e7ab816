/** @file
 * The GPU code of a library, as its PTX has it.
 */
#ifndef CONVLAB_GRADER_GPU_CODE_H
#define CONVLAB_GRADER_GPU_CODE_H

#include "base/sha256.h"
#include "grader/technique/kernel_code.h"
#include "grader/technique/work.h"
#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_ir.h"

struct gr_code {
    char *ptx;
    char ptx_hash[SHA256_HEX];
    struct ptx_ast ast;
    struct ir_module ir;
    struct kernel_code *kernels; /**< [function_count], read when first launched */
};

#endif
