/** @file
 * Mistakes planted in the translator: instructions are changed only during translation, so that
 * native code differs from the interpreter.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct engine_spoil {
    const char *name;
    /** Changes an instruction, if the mistake applies to it. */
    void (*change)(struct ir_insn *in);
};
extern const struct engine_spoil engine_spoils[];
extern const size_t engine_spoil_count;

/** Changes all instructions of a function to which the mistake applies. @return the original
 * instructions, malloc'd, for engine_unspoil(); NULL: none was changed. */
struct ir_insn *engine_spoil(const struct engine_spoil *spoil, const struct ir_function *f);
void engine_unspoil(const struct ir_function *f, struct ir_insn *were);
