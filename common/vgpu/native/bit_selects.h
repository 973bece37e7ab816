/** @file
 * A workaround for a bug of LLVM, in all versions before August 2026: if AVX-512 selects bits by a
 * constant, (x & C) | (y & ~C), and the instruction is masked or has an operand in memory, the code
 * generator may choose the wrong truth table (llvm-project issue 157929).
 */
#pragma once

#include <llvm-c/Core.h>

/** Inserts an arithmetic fence after one half of each selection of this kind in the vectors of
 * @p module, so that the code generator does not recognise the selection. Call it after the
 * optimisation passes, which would move the fence. */
void bit_selects_fence(LLVMModuleRef module);
