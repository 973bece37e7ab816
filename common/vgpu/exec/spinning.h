/** @file
 * Recognises fragments that loop without changing their state.
 */
#pragma once

#include <stdint.h>

struct ir_insn;
struct vg_frame;
struct vg_module;

/** @return a hash of a fragment's state in frame @p frame at @p pc: the instruction, and the
 * registers that may still be read. (The contents of other registers depend on the engine.) Any
 * thread may call it. */
uint64_t spinning_hash(struct vg_module *m, const struct vg_frame *frame, const struct ir_insn *pc);
/** Frees the module's sets of live registers. */
void spinning_free(struct vg_module *m);
