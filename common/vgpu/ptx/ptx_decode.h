/** @file
 * Translates a parsed module to IR: resolves names, finds each opcode's row in opcodes.def, lays
 * out frames, local and shared memory, and marks where lanes reconverge. This pass finds everything
 * that the virtual GPU does not support.
 */
#pragma once

#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_ir.h"

/** Address of a function, for indirect calls: PTX_FUNCTION_BASE + 16 * its index. */
#define PTX_FUNCTION_BASE UINT64_C(0x0000500000000000)
/** The address at which a kernel's parameters can be read. */
#define PTX_PARAM_BASE UINT64_C(0x0000620000000000)

/** @pre every sized global and constant variable of @p ast has its address.
 * @param ast  must outlive the module, which uses its names. Its shared variables get their
 * addresses.
 * @return ST_OK; ST_BAD_FORMAT with every unsupported or wrong instruction in the report. */
enum st_code ptx_decode(struct ir_module *module, struct ptx_ast *ast, struct st_error *err);
void ir_module_free(struct ir_module *module);
