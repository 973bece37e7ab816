/** @file
 * How instructions that only compute move unwritten bytes between registers, and which of their
 * results depend on such bytes (see unset_copies.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct vg_warp;

/** Follows the bytes through an instruction.
 * @return false: the instruction does more than compute, and nothing changed. */
bool unset_move(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
/** Drops the registers that an instruction sets to other values. */
void unset_overwrite(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
