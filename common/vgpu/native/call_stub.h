/** @file
 * Stubs by which native code calls an instruction's handler and memory_marks.c. They keep all
 * vector registers, so that such a rare call costs nothing on other paths.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** Executes instructions by their handlers. @return the next instruction, which is @p end unless a
 * fault has ended the block */
__attribute__((visibility("hidden"))) const struct ir_insn *
native_steps_to(const struct ir_insn *in, struct vg_warp *w, const struct ir_insn *end);

/** @return the stub for an instruction set. It takes the instruction in %rdi and the warp in %rsi,
 * returns the next instruction in %rax, and changes no other register except the flags. */
void *native_stub(const char *target);

/** Stubs of memory_marks.c, which change no register except %rax and the flags. In %rdi they take
 * the site of an access, whose allocation is known. */
void native_stub_runs_marked(void);  /**< %rsi: the shape, %rdx: the first lane's address */
void native_stub_range_marked(void); /**< %rsi: the first address, %rdx: the end */
void native_stub_mark_runs(void);    /**< %rsi: the shape, %rdx: the first lane's address */
