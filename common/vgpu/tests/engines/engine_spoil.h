/** @file
 * Mistakes planted in the translator: the instructions that it reads are changed while it translates,
 * and only then, so that native code does something else than the interpreter.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct engine_spoil {
    const char *name;
    /** Changes an instruction, if it is one of these. */
    void (*change)(struct ir_insn *in);
};
extern const struct engine_spoil engine_spoils[];
extern const size_t engine_spoil_count;

/** Changes all instructions of a function. @return what they were, malloc'd, for engine_unspoil(); NULL if
 * none was changed. */
struct ir_insn *engine_spoil(const struct engine_spoil *spoil, const struct ir_function *f);
void engine_unspoil(const struct ir_function *f, struct ir_insn *were);
