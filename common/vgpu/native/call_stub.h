/** @file
 * How native code calls an instruction's handler: with all vector registers kept, so that the rare call
 * costs nothing where it is not made.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** @return the stub for an instruction set. It takes the instruction in %rdi and the warp in %rsi, returns
 * the next instruction in %rax, and changes no other register but the flags. */
void *native_stub(const char *target);
