/** @file
 * The operations of atom, red and the reductions of bulk copies, on one element of memory.
 */
#pragma once

#include "vgpu/exec/lanes.h"
#include "vgpu/ptx/ptx_ir.h"

#include <string.h>

/* Inlined where the operation is a constant, so that the loop does not branch on the operation. */
#define ATOM_INLINE static inline __attribute__((always_inline))

/* The operations on memory. */
struct atom {
    u32 sub;
    enum ptx_type type;
    u32 bytes;
    bool is_float, is_signed;
};

static inline struct atom atom_of(const struct ir_insn *in)
{
    const enum ptx_type type = (enum ptx_type)in->type;
    return (struct atom){in->sub, type, in->bytes, ptx_type_is_float(type),
                         ptx_type_is_signed(type)};
}

ATOM_INLINE u64 atom_float(struct atom op, u64 old, u64 b)
{
    const bool add = op.sub == ATOM_ADD, max = op.sub == ATOM_MAX;
    switch (op.type) {
    case PTX_TYPE_f32:
        return bits_of_f32(
            add ? lane_nan_f32(f32_of_bits((u32)old) + f32_of_bits((u32)b))
                : lane_minmax_f32(f32_of_bits((u32)old), f32_of_bits((u32)b), max, 0));
    case PTX_TYPE_f64:
        return bits_of_f64(
            lane_nan_f64(f64_of_bits(old) + f64_of_bits(b), f64_of_bits(b), f64_of_bits(old), 0));
    case PTX_TYPE_f16:
        return lane_half(add ? LANE_ADD : max ? LANE_MAX : LANE_MIN, (u32)old, (u32)b, 0, 0);
    case PTX_TYPE_f16x2:
        return lane_half2(add ? LANE_ADD : max ? LANE_MAX : LANE_MIN, (u32)old, (u32)b, 0, 0);
    case PTX_TYPE_bf16:
        return lane_bhalf(add ? LANE_ADD : max ? LANE_MAX : LANE_MIN, (u32)old, (u32)b, 0, 0);
    default:
        return lane_bhalf2(add ? LANE_ADD : max ? LANE_MAX : LANE_MIN, (u32)old, (u32)b, 0, 0);
    }
}

static inline s64 atom_signed(u64 v, u32 bytes)
{
    return bytes == 8 ? (s64)v : (s32)(u32)v;
}

/* @return the new value of memory; bits above those of the type may be set. */
ATOM_INLINE u64 atom_value(struct atom op, u64 old, u64 b, u64 c)
{
    if (op.is_float && op.sub <= ATOM_MAX)
        return atom_float(op, old, b);
    switch (op.sub) {
    case ATOM_ADD:
        return old + b;
    case ATOM_AND:
        return old & b;
    case ATOM_OR:
        return old | b;
    case ATOM_XOR:
        return old ^ b;
    case ATOM_EXCH:
        return b;
    case ATOM_CAS:
        return old == b ? c : old;
    case ATOM_INC:
        return old >= b ? 0 : old + 1;
    case ATOM_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOM_MIN:
        return op.is_signed ? (atom_signed(old, op.bytes) < atom_signed(b, op.bytes) ? old : b)
                            : (old < b ? old : b);
    default:
        return op.is_signed ? (atom_signed(old, op.bytes) > atom_signed(b, op.bytes) ? old : b)
                            : (old > b ? old : b);
    }
}

static inline u64 atom_keep(u32 bytes)
{
    return bytes == 8 ? ~(u64)0 : ((u64)1 << 8 * bytes) - 1;
}

static inline u64 atom_load(const char *p, u32 bytes)
{
    return bytes == 8   ? __atomic_load_n((const u64 *)(const void *)p, __ATOMIC_SEQ_CST)
           : bytes == 4 ? __atomic_load_n((const u32 *)(const void *)p, __ATOMIC_SEQ_CST)
                        : __atomic_load_n((const uint16_t *)(const void *)p, __ATOMIC_SEQ_CST);
}

/* Replaces the loaded value. @return whether memory was unchanged; otherwise *old becomes its
 * present value */
ATOM_INLINE bool atom_put(char *p, u32 bytes, bool shared, u64 *old, u64 value)
{
    if (!shared) {
        memcpy(p, &value, bytes);
        return true;
    }
#define PUT_SHARED(TYPE)                                                                           \
    {                                                                                              \
        TYPE was = (TYPE)*old;                                                                     \
        const bool done = __atomic_compare_exchange_n((TYPE *)(void *)p, &was, (TYPE)value, false, \
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        *old = was;                                                                                \
        return done;                                                                               \
    }
    switch (bytes) {
    case 2:
        PUT_SHARED(uint16_t)
    case 4:
        PUT_SHARED(uint32_t)
    default:
        PUT_SHARED(uint64_t)
    }
#undef PUT_SHARED
}

/* Executes one operation. @param shared  other cores may access the memory @return the old value */
ATOM_INLINE u64 atom_once(struct atom op, char *p, bool shared, u64 b, u64 c, bool *changed)
{
    u64 old = atom_load(p, op.bytes), value;
    do
        value = atom_value(op, old, b, c) & atom_keep(op.bytes);
    while (!atom_put(p, op.bytes, shared, &old, value));
    *changed |= old != value;
    return old;
}
