/** @file
 * A way around a fault of LLVM, in all versions before August 2026: where AVX-512 selects bits by a
 * constant, (x & C) | (y & ~C), and the instruction is masked or has an operand in memory, the code
 * generator may choose the wrong truth table (llvm-project issue 157929).
 */
#pragma once

#include <llvm-c/Core.h>

/** Puts a fence, through which the code generator does not look, behind one half of each such selection
 * in @p module's vectors. To be called after the passes, which would move it. */
void bit_selects_fence(LLVMModuleRef module);
