/** @file
 * What the files of a proof that follow single instructions share: the kinds of instructions
 * (proof_step.c), which proof_numbers.c computes and proof_moves.c carries along.
 */
#ifndef CONVLAB_VG_PROOF_STEP_H
#define CONVLAB_VG_PROOF_STEP_H

#include "vgpu/exec/proof.h"

enum proof_kind {
    KIND_NONE,  /* writes no register that may have an origin */
    KIND_PLAIN, /* writes d, which has none then */
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
    KIND_INTEGER, /* arithmetic on integers: proof_integers.c says which */
    KIND_SHIFT,   /* of these only */
    /* arithmetic on numbers, from here on */
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
/** A word of a lane; none if the slot has none. */
static inline struct origin proof_word_of(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                          uint32_t word)
{
    const uint32_t stride = w->frame->holds[slot / 4];
    return stride ? proof_slot(w, slot)[lane * stride + word] : (struct origin){0};
}

static inline uint32_t proof_bits_of(const struct vg_warp *w, uint32_t slot, uint32_t lane)
{
    return ((const uint32_t *)(const void *)(w->regs + slot))[lane];
}

static inline struct proof_value proof_negative(struct proof_value a)
{
    return a.element ? proof_value_of(field_negative(a.element & FIELD_PRIME), a.way) : a;
}

/** An operand: its value, if it has one, and its bits. */
struct proof_operand {
    struct proof_value v;
    uint64_t bits;
};
static inline struct proof_operand proof_operand(const struct vg_warp *w, uint32_t slot,
                                                 uint32_t lane, enum ptx_type type, int half)
{
    struct proof_operand r;
    struct origin o = proof_word_of(w, slot, lane, 0);
    r.bits = type == PTX_TYPE_f64 ? ((const uint64_t *)(const void *)(w->regs + slot))[lane]
                                  : proof_bits_of(w, slot, lane);
    if (half)
        r.bits >>= 16;
    /* The bits of a bfloat16 in the upper half of a word are a float32. */
    r.v.element = half ? o.high : o.low || type != PTX_TYPE_f32 ? o.low : o.high;
    r.v.way = r.v.element ? o.way : 0;
    return r;
}

/** Arithmetic on numbers of a type. @pre kind >= KIND_ADD */
void proof_compute(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                   enum proof_kind kind, enum ptx_type type);
/** Arithmetic on integers. @param row  of its table, whose instructions are proof_integer_rows() */
void proof_integer(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, size_t row);
size_t proof_integer_rows(uint16_t *ops, size_t room);
/** An operand of one word or two. */
struct proof_value proof_integer_at(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                    uint32_t words);
/** A value times a power of two. */
struct proof_value proof_shifted(struct proof_value a, int left);
/** Instructions of the kinds from KIND_MOVE to KIND_BITS. */
void proof_move(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, enum proof_kind kind);

#endif
