/** @file
 * Functions that the bitcode (access_functions.c, lane_functions.c) calls but C cannot define:
 * certain vector instructions, and functions of this library, which are called through a table.
 */
#pragma once

#include "vgpu/native/address_table.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

/** Defines the vector instructions and the functions that find shapes. */
void bodies_define(LLVMModuleRef module, struct address_table *addresses, bool avx512);
/** @return flags from the lowest bits of an i32. Without mask registers the flags are a comparison,
 * which LLVM moves to its uses. A bit cast would be kept as bytes between blocks, and its bits
 * would be inserted one by one. */
LLVMValueRef flags_of_bits(LLVMBuilderRef b, LLVMValueRef bits, unsigned lanes, bool avx512);
/** Builds a call of a stub, which keeps all registers. @param arguments  three pointers, then the
 * stub's address @return what the stub returns */
LLVMValueRef stub_call(LLVMBuilderRef b, LLVMValueRef arguments[4]);
/** Defines the external functions that the bitcode calls. All functions except @p name become
 * private. */
void bodies_bind(LLVMModuleRef module, struct address_table *addresses, const char *name);
