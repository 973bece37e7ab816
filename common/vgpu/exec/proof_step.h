/** @file
 * Shared by the files of a proof that handle single instructions: the kinds of instructions
 * (proof_step.c), arithmetic (proof_numbers.c) and moves (proof_moves.c).
 */
#pragma once

#include "vgpu/exec/proof.h"

enum proof_kind {
    KIND_NONE,  /* writes no register that can have an origin */
    KIND_PLAIN, /* writes d, which then has no origin */
    KIND_MOVE,
    KIND_SELECT,
    KIND_SELECT_SIGN,
    KIND_PACK,
    KIND_UNPACK,
    KIND_PACK_128,
    KIND_UNPACK_128,
    KIND_CONVERT,
    KIND_PAIR,
    KIND_SHUFFLE,
    KIND_WIDE_BITS,
    KIND_BITS,
    KIND_LOAD,
    KIND_STORE,
    KIND_ATOMIC,
    KIND_COPY_ASYNC,
    KIND_TEXTURE,
    KIND_SURFACE,
    KIND_MATRIX,
    KIND_BARRIER,
    KIND_BRANCH,
    KIND_INTEGER, /* arithmetic on integers, see proof_integers.c */
    KIND_SHIFT,   /* shifts of integers */
    /* from here on, arithmetic on floating-point numbers */
    KIND_ADD,
    KIND_SUBTRACT,
    KIND_MULTIPLY,
    KIND_FMA,
    KIND_DIVIDE,
    KIND_NEGATE,
    KIND_ABSOLUTE,
    KIND_SMALLER,
    KIND_LARGER,
};
/** @return the origin of a lane's word; no origin if the slot has none. */
PROOF_INLINE struct origin proof_word_of(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                         uint32_t word)
{
    const uint32_t stride = w->frame->holds[slot / 4];
    return stride ? proof_slot(w, slot)[lane * stride + word] : (struct origin){0};
}

static inline uint32_t proof_bits_of(const struct vg_warp *w, uint32_t slot, uint32_t lane)
{
    return ((const uint32_t *)(const void *)(w->regs + slot))[lane];
}

PROOF_INLINE struct proof_value proof_negative(struct proof_value a)
{
    if (!a.element)
        return (struct proof_value){.number = -a.number};
    a.element = PROOF_ELEMENT | field_negative(a.element & FIELD_MASK);
    a.number = -a.number;
    return a;
}

PROOF_INLINE struct proof_value proof_operand(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                              enum ptx_type type, int half)
{
    const uint64_t bits = ptx_type_bytes(type) == 8
                              ? ((const uint64_t *)(const void *)(w->regs + slot))[lane]
                              : proof_bits_of(w, slot, lane);
    return proof_operand_of(proof_word_of(w, slot, lane, 0),
                            proof_double(half ? bits >> 16 : bits, type), type, half);
}

/** Executes arithmetic on numbers of a type. @pre kind >= KIND_ADD */
void proof_compute(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                   enum proof_kind kind, enum ptx_type type);
/** Executes arithmetic on integers. @param row  index in the table behind proof_integer_rows() */
void proof_integer(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, size_t row);
size_t proof_integer_rows(uint16_t *ops, size_t room);
/** Programs round a number to its upper binary digits by adding to the lower ones and cutting these
 * off. In between, only the upper half of the word has the number's element, and the lower half of
 * the loss is the number of digits. @return this number, or 0 */
static inline uint32_t proof_other_digits(struct origin a)
{
    return a.low || !a.high || a.lost & PROOF_IS_F16 ? 0 : a.lost & 0xffff;
}
/** @return the origin of a word to whose lower digits numbers were added, after so many binary digits
 * were cut off; other origins are unchanged. */
struct origin proof_rounded(struct origin a, uint32_t digits);
/** @return a value times a power of two. */
struct proof_value proof_shifted(struct proof_value a, int left);
/** Executes instructions of the kinds from KIND_MOVE to KIND_BITS. */
void proof_move(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, enum proof_kind kind);
