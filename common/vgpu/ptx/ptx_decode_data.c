/* Decoders of moves, conversions and additions with carry: they set fields that are not columns. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

/* boolean: there is a carry in; sub: 0 add, 1 subtract, 2 multiply-add; e: the carry predicate */
void decode_CARRY(struct decoder *d, struct ir_insn *in)
{
    const char *op = d->in->opcode;
    if (!d->to->carry)
        d->to->carry = predicate_new(d);
    in->sub = in->op == IR_MADC ? 2 : strncmp(op, "sub", 3) == 0;
    in->boolean = op[3] == 'c';
    in->e = d->to->carry;
    decode_PLAIN(d, in);
}

/* c: the predicate that .and, .or or .xor combines with the result */
void decode_COMPARE(struct decoder *d, struct ir_insn *in)
{
    decode_PLAIN(d, in);
    if (in->boolean)
        operand(d, 3);
}

/* sub: enum ir_sreg */
void decode_SREG(struct decoder *d, struct ir_insn *in)
{
    bool wide;
    in->sub = (uint8_t)sreg_find(operand(d, 1)->name, &wide);
    in->bytes = (uint8_t)type_lanes(d->suffixes.types[0]);
    in->d = destination(d, operand(d, 0)->name, in->bytes);
}

/* sub: enum ir_sreg */
void decode_SREG_PRED(struct decoder *d, struct ir_insn *in)
{
    bool wide;
    in->sub = (uint8_t)sreg_find(operand(d, 1)->name, &wide);
    in->d = predicate(d, operand(d, 0)->name);
}

/* bytes: size of a part; vector: number of parts. @return whether the parts cover the whole
 * value */
static bool cut_parts(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list)
{
    const size_t whole = ptx_type_bytes(d->suffixes.types[0]);
    in->vector = (uint8_t)list->elements;
    if (list->elements < 1 || whole % (size_t)list->elements) {
        decode_problem(d, "a vector of this length does not fit");
        return false;
    }
    in->bytes = (uint8_t)(whole / (size_t)list->elements);
    return true;
}

void decode_UNPACK(struct decoder *d, struct ir_insn *in)
{
    const enum ptx_type type = d->suffixes.types[0];
    in->a = source(d, operand(d, 1), type_lanes(type), type);
    if (cut_parts(d, in, operand(d, 0)))
        list_destinations(d, in, operand(d, 0), in->bytes);
}

void decode_PACK(struct decoder *d, struct ir_insn *in)
{
    if (cut_parts(d, in, operand(d, 1)))
        list_sources(d, in, operand(d, 1), in->bytes, PTX_TYPE_b32);
    in->d = destination(d, operand(d, 0)->name, type_lanes(d->suffixes.types[0]));
}

/* a: the slot of a 128-bit value: 32 lanes of 16 bytes */
void decode_UNPACK_128(struct decoder *d, struct ir_insn *in)
{
    in->a = register_128(d, operand(d, 1));
    if (list_check(d, operand(d, 0), 2))
        list_destinations(d, in, operand(d, 0), 8);
}

void decode_PACK_128(struct decoder *d, struct ir_insn *in)
{
    in->d = register_128(d, operand(d, 0));
    if (list_check(d, operand(d, 1), 2))
        list_sources(d, in, operand(d, 1), 8, PTX_TYPE_b64);
}

static bool is_pair(enum ptx_type type)
{
    return type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2 || type == PTX_TYPE_e4m3x2 ||
           type == PTX_TYPE_e5m2x2;
}

/* type, type2: of result and source; bytes, vector: widths of their slots */
void decode_CVT(struct decoder *d, struct ir_insn *in)
{
    struct slot from = source_any(d, operand(d, 1), d->suffixes.types[1]);
    const char *name = operand(d, 0)->name;
    struct slot to = name ? slot_find(d, name) : (struct slot){0, PTX_TYPE_none};
    in->a = from.offset;
    in->d = to.offset;
    in->vector = slot_bytes(from.type) == 256 ? 8 : 4;
    in->bytes = slot_bytes(to.type) == 256 ? 8 : 4;
    if (ptx_type_bytes(to.type) == 2 && !ptx_type_is_float(to.type))
        in->bytes = 2;
    if (to.type == PTX_TYPE_pred || from.type == PTX_TYPE_pred)
        decode_problem(d, "a predicate cannot be converted");
    for (int i = 0; i < 2; i++)
        if (is_pair(d->suffixes.types[i]))
            decode_problem(d, "this conversion of pairs is not supported");
    if (ptx_type_bytes(d->suffixes.types[0]) > in->bytes ||
        ptx_type_bytes(d->suffixes.types[1]) > in->vector)
        decode_problem(d, "a register is narrower than the type");
}
