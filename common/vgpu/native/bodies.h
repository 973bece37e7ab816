/** @file
 * Functions called by the bitcode (access_functions.c, lane_functions.c) that C cannot define:
 * vector instructions by name, and functions of this library, which are called through a table.
 */
#pragma once

#include "vgpu/native/address_table.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

/** Defines the vector instructions and the functions that find patterns. */
void bodies_define(LLVMModuleRef module, struct address_table *addresses, bool avx512);
/** Builds a call of a stub, which keeps all registers. @param arguments  three pointers, and the
 * stub's address @return what the stub returns */
LLVMValueRef stub_call(LLVMBuilderRef b, LLVMValueRef arguments[4]);
/** Defines the external functions called by the bitcode; all others except @p name become
 * private. */
void bodies_bind(LLVMModuleRef module, struct address_table *addresses, const char *name);
