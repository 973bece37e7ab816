/** @file
 * Marks of allocations that are initialised in part, for native code.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Called by native code, which keeps its vector registers: these stubs change no register except
 * %rax and the flags. They take the site of an access inside its allocation in %rdi. */
void native_stub_runs_marked(void);  /**< %rsi: the shape, %rdx: the first lane's address */
void native_stub_range_marked(void); /**< %rsi: the first address, %rdx: the end */
void native_stub_mark_runs(void);    /**< %rsi: the shape, %rdx: the first lane's address */
