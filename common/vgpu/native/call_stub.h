/** @file
 * Calls of an instruction's handler and of memory_marks.c from native code, which keep all vector
 * registers, so that the rare call costs nothing on other paths.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** @return the stub for an instruction set. It takes the instruction in %rdi and the warp in %rsi, returns
 * the next instruction in %rax, and changes no other register except the flags. */
void *native_stub(const char *target);

/** Stubs of memory_marks.c, which change no register except %rax and the flags. They take the site
 * of an access inside its allocation in %rdi. */
void native_stub_runs_marked(void);  /**< %rsi: the shape, %rdx: the first lane's address */
void native_stub_range_marked(void); /**< %rsi: the first address, %rdx: the end */
void native_stub_mark_runs(void);    /**< %rsi: the shape, %rdx: the first lane's address */
