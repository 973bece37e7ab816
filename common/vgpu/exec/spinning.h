/** @file
 * Whether a fragment goes round in a loop with nothing changing.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** A hash of a fragment's state in frame @p frame at @p pc: the place, and the registers that may
 * still be read. (Other registers depend on the engine.) By any thread. */
uint64_t spinning_hash(struct vg_module *m, const struct vg_frame *frame, const struct ir_insn *pc);
/** Frees what the module keeps for this. */
void spinning_free(struct vg_module *m);
