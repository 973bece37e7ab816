/** @file
 * Copies and uses of memory that nothing wrote.
 *
 * A structure is copied with its padding, which nothing writes, and a program may load a value before
 * it knows that it does not need it. So a load of unwritten bytes is not a mistake by itself. This
 * module follows such bytes, and what is computed from them, through the registers and the local
 * memory of a warp. A finding is an instruction that decides or does something by them: a branch, an
 * address, an atomic operation, a store of a computed number to global memory. Where other bytes are
 * stored, the destination counts as unwritten again, and a later load of it is judged like the first.
 * unset_held.c keeps the bytes, unset_moves.c follows them from register to register, unset_local.c
 * through local memory; unset_copies.c decides what is a use.
 *
 * While a warp holds such bytes (vg_warp.copies_unset), the handlers that check each instruction
 * execute it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_insn;
struct vg_unset;
struct vg_warp;

/** Records that a lane loads bytes that nothing wrote.
 * @param bytes  a bit for each byte of the access
 * @param whole  nothing wrote the 32 bytes around it either
 * @param may_be_used  the program does not only copy them, see unset_value_use() */
void unset_loaded(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  uint32_t bytes, bool whole, bool may_be_used);
/** @return whether the warp has used unwritten bytes that this instruction had loaded. */
bool unset_is_reported(const struct vg_warp *w, const struct ir_insn *in);
/** Called before an instruction that a warp with such bytes executes. */
void unset_before(struct vg_warp *w, const struct ir_insn *in);
/** Called after it. @param next  the next instruction, or NULL */
void unset_after(struct vg_warp *w, const struct ir_insn *in, const struct ir_insn *next);
/** Called by a shuffle whose lanes have all arrived. @param from  the lane that each lane reads */
void unset_shuffled(struct vg_warp *w, const struct ir_insn *in, const uint32_t from[]);
/** Called when cp.async has copied bytes to shared memory. @param bytes  a bit for each of at most 16
 * bytes, from @p at on, that nothing wrote */
void unset_delivered(struct vg_warp *w, const struct ir_insn *in, uint32_t at, uint32_t bytes);
/** Forgets all bytes, before a warp starts. */
void unset_forget(struct vg_warp *w);
void unset_free(struct vg_unset *u);
