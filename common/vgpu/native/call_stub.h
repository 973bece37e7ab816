/** @file
 * Calls of an instruction's handler from native code, which keep all vector registers, so that the
 * rare call costs nothing on other paths.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** @return the stub for an instruction set. It takes the instruction in %rdi and the warp in %rsi, returns
 * the next instruction in %rax, and changes no other register except the flags. */
void *native_stub(const char *target);
