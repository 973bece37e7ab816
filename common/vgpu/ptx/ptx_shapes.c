/* How the operands of each shape of instruction are read. One function a shape; the executor's
 * handlers (exec/ops_*.inc) rely on what is said here about d, a, b, c, e, f. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

static uint32_t lane_bytes(const char *type)
{
    return strcmp(type, "u64") == 0 || strcmp(type, "s64") == 0 || strcmp(type, "f64") == 0 ? 8 : 4;
}

static enum ptx_type lane_literal_type(const struct decoder *d, const char *type)
{
    if (type[0] == 'f')
        return lane_bytes(type) == 8 ? PTX_TYPE_f64 : PTX_TYPE_f32;
    if (d->suffixes.type_count && ptx_type_bytes(d->suffixes.types[0]) == 2 &&
        d->suffixes.type_count == 1 && lane_bytes(type) == 4)
        return PTX_TYPE_b16;
    /* Moves of floats are moves of bits, but their literals are floats. */
    if (d->suffixes.type_count && ptx_type_is_float(d->suffixes.types[0]) &&
        ptx_type_bytes(d->suffixes.types[0]) == lane_bytes(type))
        return d->suffixes.types[0];
    return lane_bytes(type) == 8 ? PTX_TYPE_b64 : PTX_TYPE_b32;
}

static int lane_operands(const struct ir_row *row)
{
    int n = 0;
    while (n < 5 && row->types[n])
        n++;
    return n;
}

static bool is_wide(struct decoder *d, const struct ptx_operand *o, bool otherwise)
{
    struct slot s;
    if (o->kind != PTX_NAME || !o->name || !slot_exists(d, o->name, &s))
        return otherwise;
    return slot_bytes(s.type) == 256;
}

bool shape_accepts(struct decoder *d, const struct ir_row *row)
{
    const struct ptx_instruction *in = d->in;
    bool wide;
    switch (row->shape) {
    case SHAPE_SREG:
        return in->count == 2 && in->operands[1].kind == PTX_NAME && in->operands[1].name &&
               sreg_find(in->operands[1].name, &wide) != SREG_NONE;
    case SHAPE_UNPACK:
    case SHAPE_UNPACK_128:
        return in->count == 2 && in->operands[0].kind == PTX_VECTOR;
    case SHAPE_PACK:
    case SHAPE_PACK_128:
        return in->count == 2 && in->operands[1].kind == PTX_VECTOR;
    case SHAPE_LANE:
        if (strcmp(row->base, "cvt") != 0 || in->count != 2)
            return true;
        return is_wide(d, &in->operands[0], lane_bytes(row->types[0]) == 8) ==
                   (lane_bytes(row->types[0]) == 8) &&
               is_wide(d, &in->operands[1], lane_bytes(row->types[1]) == 8) ==
                   (lane_bytes(row->types[1]) == 8);
    default:
        return true;
    }
}

static void shape_lane(struct decoder *d, struct ir_insn *in)
{
    uint32_t *fields[] = {&in->a, &in->b, &in->c, &in->e};
    int n = lane_operands(d->row);
    for (int i = 1; i < n; i++)
        *fields[i - 1] = source(d, operand(d, i), lane_bytes(d->row->types[i]),
                                lane_literal_type(d, d->row->types[i]));
    in->d = destination(d, operand(d, 0)->name, lane_bytes(d->row->types[0]));
}

static uint32_t type_lanes(enum ptx_type type)
{
    return ptx_type_bytes(type) > 4 ? 8 : 4;
}

/* boolean: there is a carry in; sub: 0 add, 1 subtract, 2 multiply-add; e: the carry predicate */
static void shape_carry(struct decoder *d, struct ir_insn *in)
{
    const char *op = d->in->opcode;
    enum ptx_type type = d->suffixes.types[0];
    bool multiply = strncmp(op, "mad", 3) == 0;
    if (!d->to->carry)
        d->to->carry = predicate_new(d);
    in->type = (uint8_t)type;
    in->bytes = (uint8_t)ptx_type_bytes(type);
    in->sub = multiply ? 2 : strncmp(op, "sub", 3) == 0;
    in->boolean = op[3] == 'c';
    in->e = d->to->carry;
    uint32_t n = type_lanes(type);
    in->a = source(d, operand(d, 1), n, type);
    in->b = source(d, operand(d, 2), n, type);
    if (multiply)
        in->c = source(d, operand(d, 3), n, type);
    in->d = destination(d, operand(d, 0)->name, n);
}

static void shape_testp(struct decoder *d, struct ir_insn *in)
{
    static const char *const names[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    for (int i = 0; i < 6; i++)
        if (strcmp(d->suffixes.text[0], names[i]) == 0)
            in->sub = (uint8_t)(SUB_FINITE + i);
    in->a = source(d, operand(d, 1), type_lanes(d->suffixes.types[0]), d->suffixes.types[0]);
    in->d = predicate(d, operand(d, 0)->name);
}

static void shape_sreg(struct decoder *d, struct ir_insn *in)
{
    bool wide;
    in->sub = (uint8_t)sreg_find(operand(d, 1)->name, &wide);
    in->bytes = (uint8_t)type_lanes(d->suffixes.types[0]);
    in->d = destination(d, operand(d, 0)->name, in->bytes);
}

/* extra: the parts' slots; bytes: of a part; vector: number of parts */
static void read_parts(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list,
                       bool are_sources)
{
    size_t whole = ptx_type_bytes(d->suffixes.types[0]);
    in->vector = (uint8_t)list->elements;
    if (list->elements < 1 || whole % (size_t)list->elements) {
        decode_problem(d, "a vector of this length does not fit");
        return;
    }
    in->bytes = (uint8_t)(whole / (size_t)list->elements);
    in->type = (uint8_t)d->suffixes.types[0];
    for (int i = 0; i < list->elements; i++) {
        const struct ptx_operand *o = &d->in->operands[list->first + i];
        uint32_t n = in->bytes > 4 ? 8 : 4;
        decode_extra(d, in,
                     are_sources ? source(d, o, n, PTX_TYPE_b32) : destination(d, o->name, n));
    }
}

static void shape_unpack(struct decoder *d, struct ir_insn *in)
{
    in->a = source(d, operand(d, 1), type_lanes(d->suffixes.types[0]), d->suffixes.types[0]);
    read_parts(d, in, operand(d, 0), false);
}

static void shape_pack(struct decoder *d, struct ir_insn *in)
{
    read_parts(d, in, operand(d, 1), true);
    in->d = destination(d, operand(d, 0)->name, type_lanes(d->suffixes.types[0]));
}

/* A register of 128 bits: the sink and numbers have no room for it. */
static uint32_t register_128(struct decoder *d, const struct ptx_operand *o)
{
    struct slot s;
    if (o->kind == PTX_NAME && o->name && slot_exists(d, o->name, &s) && slot_bytes(s.type) == 512)
        return s.offset;
    decode_problem(d, "a register of 128 bits is expected");
    return 0;
}

/* d or a: the slot of 32 times 16 bytes; extra: the halves' slots */
static void shape_halves(struct decoder *d, struct ir_insn *in, bool is_pack)
{
    const struct ptx_operand *list = operand(d, is_pack ? 1 : 0);
    const struct ptx_operand *whole = operand(d, is_pack ? 0 : 1);
    *(is_pack ? &in->d : &in->a) = register_128(d, whole);
    if (list->elements != 2) {
        decode_problem(d, "a vector of this length does not fit");
        return;
    }
    for (int i = 0; i < 2; i++) {
        const struct ptx_operand *o = &d->in->operands[list->first + i];
        decode_extra(d, in, is_pack ? source(d, o, 8, PTX_TYPE_b64) : destination(d, o->name, 8));
    }
}

static void shape_pred(struct decoder *d, struct ir_insn *in)
{
    in->a = predicate_source(d, operand(d, 1));
    if (in->op == IR_AND_PRED || in->op == IR_OR_PRED || in->op == IR_XOR_PRED)
        in->b = predicate_source(d, operand(d, 2));
    in->d = predicate(d, operand(d, 0)->name);
}

static void shape_cvta(struct decoder *d, struct ir_insn *in)
{
    in->space = (uint8_t)d->suffixes.space;
    in->a = source(d, operand(d, 1), 8, PTX_TYPE_u64);
    in->d = destination(d, operand(d, 0)->name, 8);
}

static void shape_isspacep(struct decoder *d, struct ir_insn *in)
{
    in->space = (uint8_t)d->suffixes.space;
    in->a = source(d, operand(d, 1), 8, PTX_TYPE_u64);
    in->d = predicate(d, operand(d, 0)->name);
}

static void shape_selp(struct decoder *d, struct ir_insn *in)
{
    enum ptx_type type = d->suffixes.types[0];
    in->a = source(d, operand(d, 1), type_lanes(type), type);
    in->b = source(d, operand(d, 2), type_lanes(type), type);
    in->c = predicate_source(d, operand(d, 3));
    in->d = destination(d, operand(d, 0)->name, type_lanes(type));
}

static void shape_slct(struct decoder *d, struct ir_insn *in)
{
    enum ptx_type type = d->suffixes.types[0];
    in->type2 = (uint8_t)d->suffixes.types[1];
    in->a = source(d, operand(d, 1), type_lanes(type), type);
    in->b = source(d, operand(d, 2), type_lanes(type), type);
    in->c = source(d, operand(d, 3), 4, d->suffixes.types[1]);
    in->d = destination(d, operand(d, 0)->name, type_lanes(type));
}

/* d, e: results; c: predicate to combine with */
static void shape_setp(struct decoder *d, struct ir_insn *in)
{
    enum ptx_type type = d->suffixes.types[0];
    const struct ptx_operand *to = operand(d, 0);
    in->type = (uint8_t)type;
    in->compare = (uint8_t)d->suffixes.compare;
    in->boolean = (uint8_t)d->suffixes.boolean;
    in->a = source(d, operand(d, 1), type_lanes(type), type);
    in->b = source(d, operand(d, 2), type_lanes(type), type);
    if (in->boolean)
        in->c = predicate_source(d, operand(d, 3));
    in->d = predicate(d, to->name);
    if (to->name2)
        in->e = predicate(d, to->name2);
}

static void shape_set(struct decoder *d, struct ir_insn *in)
{
    enum ptx_type type = d->suffixes.types[1];
    in->type = (uint8_t)d->suffixes.types[0];
    in->type2 = (uint8_t)type;
    in->compare = (uint8_t)d->suffixes.compare;
    in->boolean = (uint8_t)d->suffixes.boolean;
    in->a = source(d, operand(d, 1), type_lanes(type), type);
    in->b = source(d, operand(d, 2), type_lanes(type), type);
    if (in->boolean)
        in->c = predicate_source(d, operand(d, 3));
    in->d = destination(d, operand(d, 0)->name, 4);
}

/* type, type2: to and from; bytes, vector: widths of the two slots */
static void shape_cvt(struct decoder *d, struct ir_insn *in)
{
    in->type = (uint8_t)d->suffixes.types[0];
    in->type2 = (uint8_t)d->suffixes.types[1];
    struct slot from = source_any(d, operand(d, 1), d->suffixes.types[1]);
    in->a = from.offset;
    in->vector = slot_bytes(from.type) == 256 ? 8 : 4;
    const char *name = operand(d, 0)->name;
    struct slot to = name ? slot_find(d, name) : (struct slot){0, PTX_TYPE_none};
    in->d = to.offset;
    in->bytes = slot_bytes(to.type) == 256 ? 8 : 4;
    if (to.type == PTX_TYPE_b16 || to.type == PTX_TYPE_u16 || to.type == PTX_TYPE_s16)
        in->bytes = 2;
    if (to.type == PTX_TYPE_pred || from.type == PTX_TYPE_pred)
        decode_problem(d, "a predicate cannot be converted");
    for (int i = 0; i < 2; i++)
        if (d->suffixes.types[i] == PTX_TYPE_f16x2 || d->suffixes.types[i] == PTX_TYPE_bf16x2 ||
            d->suffixes.types[i] == PTX_TYPE_e4m3x2 || d->suffixes.types[i] == PTX_TYPE_e5m2x2)
            decode_problem(d, "this conversion of pairs is not supported");
    if (ptx_type_bytes(d->suffixes.types[0]) > in->bytes ||
        ptx_type_bytes(d->suffixes.types[1]) > in->vector)
        decode_problem(d, "a register is narrower than the type");
}

static void shape_cvt_pair(struct decoder *d, struct ir_insn *in)
{
    in->type = (uint8_t)d->suffixes.types[0];
    in->a = source(d, operand(d, 1), 4, PTX_TYPE_f32);
    in->b = source(d, operand(d, 2), 4, PTX_TYPE_f32);
    in->d = destination(d, operand(d, 0)->name, 4);
}

/* type, type2: to and from */
static void shape_cvt_fp8(struct decoder *d, struct ir_insn *in)
{
    in->type = (uint8_t)d->suffixes.types[0];
    in->type2 = (uint8_t)d->suffixes.types[1];
    in->a = source(d, operand(d, 1), 4, PTX_TYPE_b32);
    in->d = destination(d, operand(d, 0)->name, 4);
}

static void shape_cvt_pack(struct decoder *d, struct ir_insn *in)
{
    in->type = (uint8_t)d->suffixes.types[0];
    in->a = source(d, operand(d, 1), 4, PTX_TYPE_s32);
    in->b = source(d, operand(d, 2), 4, PTX_TYPE_s32);
    if (d->in->count > 3)
        in->c = source(d, operand(d, 3), 4, PTX_TYPE_b32);
    in->d = destination(d, operand(d, 0)->name, 4);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t parameter_constant(struct decoder *d, uint64_t offset, enum ptx_type type,
                                   bool wide)
{
    struct ir_function *f = d->to;
    uint8_t bytes = (uint8_t)ptx_type_bytes(type);
    bool is_signed = ptx_type_is_signed(type);
    for (size_t i = 0; i < f->constant_count; i++) {
        const struct ir_constant *c = &f->constants[i];
        if (c->is_param && c->bits == offset && c->param_bytes == bytes && c->wide == wide &&
            c->param_signed == is_signed)
            return c->offset;
    }
    f->constants =
        ptx_grow(f->constants, f->constant_count, &f->constant_room, sizeof *f->constants);
    struct ir_constant *c = &f->constants[f->constant_count++];
    *c = (struct ir_constant){.offset = slot_new(d, wide ? 256 : 128),
                              .wide = wide,
                              .is_param = true,
                              .param_bytes = bytes,
                              .param_signed = is_signed,
                              .bits = offset};
    return c->offset;
}

static const struct ptx_operand *element(struct decoder *d, const struct ptx_operand *o, int i)
{
    return o->kind == PTX_VECTOR ? &d->in->operands[o->first + i] : o;
}

static void memory_start(struct decoder *d, struct ir_insn *in)
{
    enum ptx_type type = d->suffixes.types[0];
    in->type = (uint8_t)type;
    in->bytes = (uint8_t)ptx_type_bytes(type);
    in->vector = (uint8_t)d->suffixes.vector;
    in->space = (uint8_t)d->suffixes.space;
    in->site = ++d->module->site_count;
    if (in->bytes * in->vector > 32)
        decode_problem(d, "a vector of this length does not fit");
}

/* type2 of a memory instruction: the register's type, which may be wider than the memory's. */
static struct slot memory_register(struct decoder *d, const struct ptx_operand *o, bool is_source,
                                   const struct ir_insn *in)
{
    struct slot s = {0, PTX_TYPE_none};
    if (is_source)
        s = source_any(d, o, (enum ptx_type)in->type);
    else if (o->name)
        s = slot_find(d, o->name);
    if (s.type == PTX_TYPE_pred ||
        (s.type != PTX_TYPE_none && slot_bytes(s.type) < in->bytes * 32u && in->bytes > 4))
        decode_problem(d, "'%.40s' has the wrong width", o->name ? o->name : "operand");
    return s;
}

/* Whether a load must not be answered by the L1 cache. */
static bool goes_past_l1(const struct ir_suffixes *s)
{
    static const char *const suffixes[] = {"volatile", "relaxed", "acquire", "cg", "cv"};
    for (int i = 0; i < s->count; i++)
        for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
            if (strcmp(s->text[i], suffixes[k]) == 0)
                return true;
    return false;
}

/* A parameter of a kernel is a constant slot: no memory is read. */
static bool load_parameter(struct decoder *d, const struct ir_insn *in)
{
    if (in->space != PTX_SPACE_PARAM || !in->fixed_address || in->local_frame || d->in->guard)
        return false;
    uint64_t offset = (uint64_t)in->imm - PTX_PARAM_BASE;
    const struct ptx_operand *to = operand(d, 0);
    for (int i = 0; i < in->vector; i++) {
        struct slot s = memory_register(d, element(d, to, i), false, in);
        bool wide = slot_bytes(s.type) == 256;
        if (offset + in->bytes > d->to->param_bytes) {
            decode_problem(d, "this reads past the end of the parameters");
            return true;
        }
        struct ir_insn *move = decode_emit(d, wide ? IR_MOV_64 : IR_MOV_32);
        uint32_t from = parameter_constant(d, offset, (enum ptx_type)in->type, wide);
        move = &d->to->insns[d->to->insn_count - 1];
        move->a = from;
        move->d = s.offset;
        offset += in->bytes;
    }
    return true;
}

/* d, or extra with vector > 1: slots; type2: type of the register */
static bool shape_ld(struct decoder *d, struct ir_insn *in)
{
    memory_start(d, in);
    in->past_l1 = goes_past_l1(&d->suffixes);
    address(d, operand(d, 1), in);
    if (load_parameter(d, in))
        return false;
    const struct ptx_operand *to = operand(d, 0);
    if ((to->kind == PTX_VECTOR ? to->elements : 1) != in->vector)
        decode_problem(d, "the vector's length differs from the suffix");
    else
        for (int i = 0; i < in->vector; i++) {
            struct slot s = memory_register(d, element(d, to, i), false, in);
            if (i == 0 || s.type != PTX_TYPE_none)
                in->type2 = (uint8_t)s.type;
            in->d = s.offset;
            if (in->vector > 1)
                decode_extra(d, in, s.offset);
        }
    return true;
}

/* b, or extra with vector > 1: slots */
static void shape_st(struct decoder *d, struct ir_insn *in)
{
    memory_start(d, in);
    address(d, operand(d, 0), in);
    const struct ptx_operand *from = operand(d, 1);
    if ((from->kind == PTX_VECTOR ? from->elements : 1) != in->vector) {
        decode_problem(d, "the vector's length differs from the suffix");
        return;
    }
    for (int i = 0; i < in->vector; i++) {
        struct slot s = memory_register(d, element(d, from, i), true, in);
        in->type2 = (uint8_t)s.type;
        in->b = s.offset;
        if (in->vector > 1)
            decode_extra(d, in, s.offset);
    }
}

/* sub: enum ir_atom; b, c: operands; d: old value (the sink for red) */
static void shape_atom(struct decoder *d, struct ir_insn *in)
{
    bool is_red = strncmp(d->in->opcode, "red", 3) == 0;
    memory_start(d, in);
    in->sub = (uint8_t)d->suffixes.atom;
    int i = is_red ? 0 : 1;
    uint32_t n = type_lanes((enum ptx_type)in->type);
    enum ptx_type type = (enum ptx_type)in->type;
    address(d, operand(d, i), in);
    in->b = source(d, operand(d, i + 1), n, type);
    if (in->sub == ATOM_CAS)
        in->c = source(d, operand(d, i + 2), n, type);
    if (!is_red)
        in->d = destination(d, operand(d, 0)->name, n);
}

/* extra: slots of the operands, then (atom only) of the old values; sub: enum ir_atom */
static void shape_atom_vector(struct decoder *d, struct ir_insn *in)
{
    bool is_red = strncmp(d->in->opcode, "red", 3) == 0;
    memory_start(d, in);
    in->sub = (uint8_t)d->suffixes.atom;
    int i = is_red ? 0 : 1;
    address(d, operand(d, i), in);
    for (int list = i + 1; list >= (is_red ? 1 : 0); list -= i + 1) {
        const struct ptx_operand *o = operand(d, list);
        if (o->kind != PTX_VECTOR || o->elements != in->vector) {
            decode_problem(d, "the vector's length differs from the suffix");
            return;
        }
        for (int k = 0; k < in->vector; k++)
            decode_extra(d, in,
                         list ? source(d, element(d, o, k), 4, (enum ptx_type)in->type)
                              : destination(d, element(d, o, k)->name, 4));
    }
}

/* d, b, c: slots of 32 times 16 bytes */
static void shape_atom_128(struct decoder *d, struct ir_insn *in)
{
    memory_start(d, in);
    in->sub = (uint8_t)d->suffixes.atom;
    address(d, operand(d, 1), in);
    in->b = register_128(d, operand(d, 2));
    if (in->sub == ATOM_CAS)
        in->c = register_128(d, operand(d, 3));
    const struct ptx_operand *to = operand(d, 0);
    if (!to->name || strcmp(to->name, "_") != 0)
        in->d = register_128(d, to);
}

/* The whole address in a register slot; wide says of which width. */
static uint32_t address_slot(struct decoder *d, const struct ptx_operand *o, bool *wide)
{
    struct ir_insn at = {0};
    address(d, o, &at);
    if (at.fixed_address) {
        *wide = true;
        if (!at.shared_dynamic && !at.local_frame)
            return constant(d, (uint64_t)at.imm, true);
        struct ptx_operand name = *o;
        name.kind = PTX_NAME;
        return source(d, &name, 8, PTX_TYPE_u64);
    }
    *wide = at.wide_address;
    if (!at.imm)
        return at.a;
    struct ir_insn sum = decode_start(d, *wide ? IR_ADD_64 : IR_ADD_32);
    sum.a = at.a;
    sum.b = constant(d, (uint64_t)at.imm, *wide);
    sum.d = slot_new(d, *wide ? 256 : 128);
    decode_append(d, &sum);
    return sum.d;
}

/* a: shared address, b: global address (wide_address, boolean: their widths), bytes: copied,
 * c: bytes really read (0: all) */
static void shape_cp_async(struct decoder *d, struct ir_insn *in)
{
    bool wide;
    in->a = address_slot(d, operand(d, 0), &wide);
    in->wide_address = wide;
    in->b = address_slot(d, operand(d, 1), &wide);
    in->boolean = wide;
    const struct ptx_operand *size = operand(d, 2);
    if (size->kind != PTX_LITERAL || (size->bits != 4 && size->bits != 8 && size->bits != 16))
        decode_problem(d, "cp.async copies 4, 8 or 16 bytes");
    in->bytes = (uint8_t)size->bits;
    if (d->in->count > 3)
        in->c = source(d, operand(d, 3), 4, PTX_TYPE_u32);
    in->site = d->module->site_count += 2; /* the load is site - 1 */
}

static bool has_suffix(const struct decoder *d, const char *text)
{
    for (int i = 0; i < d->suffixes.count; i++)
        if (strcmp(d->suffixes.text[i], text) == 0)
            return true;
    return false;
}

/* imm: groups that may still be on their way (SUB_WAIT_GROUP) */
static void shape_cp_async_wait(struct decoder *d, struct ir_insn *in)
{
    in->sub = has_suffix(d, "commit_group") ? SUB_COMMIT_GROUP
              : has_suffix(d, "wait_group") ? SUB_WAIT_GROUP
                                            : SUB_WAIT_ALL;
    if (in->sub != SUB_WAIT_GROUP)
        return;
    const struct ptx_operand *groups = operand(d, 0);
    if (groups->kind != PTX_LITERAL)
        decode_problem(d, "cp.async.wait_group needs a number");
    in->imm = (int64_t)(groups->bits & 0xffffffff);
}

/* The fields of memory instructions say where the barrier is; b: count, state, parity or bytes (0:
 * none given), wide when boolean; d: state, predicate or count; sub: variant */
static void shape_mbarrier(struct decoder *d, struct ir_insn *in)
{
    static const struct {
        const char *text;
        enum ir_sub sub;
    } variants[] = {{"init", SUB_INIT},
                    {"inval", SUB_INVAL},
                    {"arrive_drop", SUB_DROP},
                    {"parity", SUB_PARITY},
                    {"noinc", SUB_NOINC},
                    {"expect_tx", SUB_EXPECT_TX},
                    {"complete_tx", SUB_COMPLETE_TX}};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (has_suffix(d, variants[i].text))
            in->sub = (uint8_t)variants[i].sub;
    in->type = PTX_TYPE_b64;
    in->bytes = 8;
    in->vector = 1;
    in->space = (uint8_t)d->suffixes.space;
    in->site = ++d->module->site_count;
    if (in->op == IR_MBARRIER_PENDING) {
        in->b = source(d, operand(d, 1), 8, PTX_TYPE_b64);
        in->d = destination(d, operand(d, 0)->name, 4);
        return;
    }
    bool has_result = operand(d, 0)->kind != PTX_ADDRESS;
    int at = has_result ? 1 : 0;
    address(d, operand(d, at), in);
    if (in->op == IR_MBARRIER_TEST) {
        in->boolean = in->sub != SUB_PARITY;
        in->b = source(d, operand(d, 2), in->boolean ? 8 : 4,
                       in->boolean ? PTX_TYPE_b64 : PTX_TYPE_b32);
        in->d = predicate(d, operand(d, 0)->name);
        return;
    }
    if (at + 1 < d->in->count)
        in->b = source(d, operand(d, at + 1), 4, PTX_TYPE_b32);
    if (has_result)
        in->d = destination(d, operand(d, 0)->name, 8);
}

/* Number of coordinates that an instruction names, and its kind of texture. */
static int texture_geometry(const struct decoder *d, struct ir_insn *in)
{
    static const struct {
        const char *text;
        uint8_t dimensions, layered, coordinates;
    } kinds[] = {
        {"1d", 1, 0, 1}, {"2d", 2, 0, 2}, {"3d", 3, 0, 4}, {"a1d", 1, 1, 2}, {"a2d", 2, 1, 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_suffix(d, kinds[i].text)) {
            in->compare = kinds[i].dimensions;
            in->boolean = kinds[i].layered;
            return kinds[i].coordinates;
        }
    return 0;
}

/* a: the texture or surface object; extra: the coordinates' slots, layer first */
static void texture_place(struct decoder *d, struct ir_insn *in, const struct ptx_operand *o,
                          enum ptx_type type)
{
    int n = texture_geometry(d, in);
    struct slot s;
    in->site = ++d->module->site_count;
    if (o->kind != PTX_ADDRESS || !o->name || !slot_exists(d, o->name, &s) ||
        slot_bytes(s.type) != 256) {
        decode_problem(d, "a texture object in a 64-bit register is expected");
        return;
    }
    in->a = s.offset;
    if (o->elements < n || o->elements > 4) {
        decode_problem(d, "%d coordinates are expected", n);
        return;
    }
    for (int i = 0; i < 4; i++) {
        /* the first of a layered texture is the layer, an integer */
        enum ptx_type one = i == 0 && in->boolean ? PTX_TYPE_s32 : type;
        decode_extra(d, in,
                     i < o->elements ? source(d, &d->in->operands[o->first + i], 4, one) : 0);
    }
}

/* compare: dimensions; boolean: layered; type, type2: of texels and coordinates; sub: 0, or 1 and
 * up for a gather of that component; extra: 4 coordinates, then vector destinations */
static void shape_tex(struct decoder *d, struct ir_insn *in)
{
    static const char *const components[] = {"r", "g", "b", "a"};
    const struct ptx_operand *to = operand(d, 0);
    in->type = (uint8_t)d->suffixes.types[0];
    in->type2 = (uint8_t)d->suffixes.types[1];
    in->vector = (uint8_t)d->suffixes.vector;
    for (int i = 0; in->op == IR_TLD4 && i < 4; i++)
        if (has_suffix(d, components[i]))
            in->sub = (uint8_t)(i + 1);
    texture_place(d, in, operand(d, 1), (enum ptx_type)in->type2);
    if (to->kind != PTX_VECTOR || to->elements != in->vector) {
        decode_problem(d, "the vector's length differs from the suffix");
        return;
    }
    for (int i = 0; i < in->vector; i++)
        decode_extra(d, in, destination(d, element(d, to, i)->name, 4));
}

/* bytes, vector: of an access; sub: 0 trap, 1 clamp, 2 zero; extra: 4 coordinates, then the values
 */
static void shape_surface(struct decoder *d, struct ir_insn *in)
{
    bool is_store = in->op == IR_SUST;
    const struct ptx_operand *list = operand(d, is_store ? 1 : 0);
    in->type = (uint8_t)d->suffixes.types[0];
    in->bytes = (uint8_t)ptx_type_bytes(d->suffixes.types[0]);
    in->vector = (uint8_t)d->suffixes.vector;
    in->sub = has_suffix(d, "clamp") ? 1 : has_suffix(d, "zero") ? 2 : 0;
    texture_place(d, in, operand(d, is_store ? 0 : 1), PTX_TYPE_s32);
    if (list->kind != PTX_VECTOR || list->elements != in->vector || in->bytes * in->vector > 16) {
        decode_problem(d, "the vector's length differs from the suffix");
        return;
    }
    uint32_t n = in->bytes == 8 ? 8 : 4;
    for (int i = 0; i < in->vector; i++)
        decode_extra(d, in,
                     is_store ? source(d, element(d, list, i), n, (enum ptx_type)in->type)
                              : destination(d, element(d, list, i)->name, n));
}

/* bytes: of both */
static void shape_mapa(struct decoder *d, struct ir_insn *in)
{
    uint32_t n = ptx_type_bytes(d->suffixes.types[0]) == 8 ? 8 : 4;
    bool is_rank = in->op == IR_GETCTARANK;
    in->a = source(d, operand(d, 1), n, d->suffixes.types[0]);
    if (!is_rank)
        in->b = source(d, operand(d, 2), 4, PTX_TYPE_u32);
    in->bytes = (uint8_t)n;
    in->d = destination(d, operand(d, 0)->name, is_rank ? 4 : n);
}

/* vector: matrices; extra: slots; a: address */
static void shape_matrix_rows(struct decoder *d, struct ir_insn *in, int list, int at)
{
    const struct ptx_operand *o = operand(d, list);
    bool wide;
    in->a = address_slot(d, operand(d, at), &wide);
    in->wide_address = wide;
    in->vector = (uint8_t)(o->kind == PTX_VECTOR ? o->elements : 1);
    in->space = PTX_SPACE_SHARED;
    in->site = ++d->module->site_count;
    for (int i = 0; i < in->vector; i++)
        decode_extra(d, in, destination(d, element(d, o, i)->name, 4));
}

static void shape_alloca(struct decoder *d, struct ir_insn *in)
{
    if (in->op == IR_STACKRESTORE) {
        in->a = source(d, operand(d, 0), 8, PTX_TYPE_u64);
        return;
    }
    if (in->op == IR_ALLOCA) {
        in->a = source(d, operand(d, 1), 8, PTX_TYPE_u64);
        in->imm = d->in->count > 2 ? (int64_t)operand(d, 2)->bits : 8;
    }
    in->d = destination(d, operand(d, 0)->name, 8);
}

/* ---- between lanes --------------------------------------------------------------------------- */

static enum ir_sub find_sub(const struct decoder *d)
{
    static const struct {
        const char *text;
        enum ir_sub sub;
    } subs[] = {{"up", SUB_UP},    {"down", SUB_DOWN}, {"bfly", SUB_BFLY}, {"idx", SUB_IDX},
                {"all", SUB_ALL},  {"any", SUB_ANY},   {"uni", SUB_UNI},   {"ballot", SUB_BALLOT},
                {"and", SUB_AND},  {"or", SUB_OR},     {"popc", SUB_POPC}, {"a", SUB_LOAD_A},
                {"b", SUB_LOAD_B}, {"c", SUB_LOAD_C}};
    for (int i = 0; i < d->suffixes.count; i++)
        for (size_t k = 0; k < sizeof subs / sizeof *subs; k++)
            if (strcmp(subs[k].text, d->suffixes.text[i]) == 0)
                return subs[k].sub;
    return SUB_NONE;
}

/* d, e: value and predicate; a: value, b: lane or distance, c: clamp and segments, f: member mask
 */
static void shape_shfl(struct decoder *d, struct ir_insn *in)
{
    const struct ptx_operand *to = operand(d, 0);
    in->sub = (uint8_t)find_sub(d);
    in->a = source(d, operand(d, 1), 4, PTX_TYPE_b32);
    in->b = source(d, operand(d, 2), 4, PTX_TYPE_b32);
    in->c = source(d, operand(d, 3), 4, PTX_TYPE_b32);
    in->f = d->in->count > 4 ? source(d, operand(d, 4), 4, PTX_TYPE_b32)
                             : constant(d, 0xffffffffu, false);
    in->d = destination(d, to->name, 4);
    if (to->name2)
        in->e = predicate(d, to->name2);
}

static uint32_t member_mask(struct decoder *d, int i)
{
    return i < d->in->count ? source(d, operand(d, i), 4, PTX_TYPE_b32)
                            : constant(d, 0xffffffffu, false);
}

static void shape_vote(struct decoder *d, struct ir_insn *in)
{
    in->sub = (uint8_t)find_sub(d);
    in->a = predicate_source(d, operand(d, 1));
    in->f = member_mask(d, 2);
    in->d = in->sub == SUB_BALLOT ? destination(d, operand(d, 0)->name, 4)
                                  : predicate(d, operand(d, 0)->name);
}

static void shape_match(struct decoder *d, struct ir_insn *in)
{
    const struct ptx_operand *to = operand(d, 0);
    in->sub = (uint8_t)find_sub(d);
    in->bytes = (uint8_t)ptx_type_bytes(d->suffixes.types[0]);
    in->a = source(d, operand(d, 1), in->bytes, d->suffixes.types[0]);
    in->f = member_mask(d, 2);
    in->d = destination(d, to->name, 4);
    if (to->name2)
        in->e = predicate(d, to->name2);
}

static void shape_redux(struct decoder *d, struct ir_insn *in)
{
    in->sub = (uint8_t)d->suffixes.atom;
    in->type = (uint8_t)d->suffixes.types[0];
    in->a = source(d, operand(d, 1), 4, d->suffixes.types[0]);
    in->f = member_mask(d, 2);
    in->d = destination(d, operand(d, 0)->name, 4);
}

static void shape_elect(struct decoder *d, struct ir_insn *in)
{
    const struct ptx_operand *to = operand(d, 0);
    in->f = member_mask(d, 1);
    in->d = destination(d, to->name, 4);
    if (to->name2)
        in->e = predicate(d, to->name2);
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* compare, boolean, target, imm: M, N, K and layouts (1 row-major a, 2 row-major b or c/d) */
static void read_matrix_suffixes(struct decoder *d, struct ir_insn *in)
{
    int layouts = 0;
    for (int i = 0; i < d->suffixes.count; i++) {
        const char *s = d->suffixes.text[i];
        int m = 0, n = 0, k = 0, at = 0;
        if (s[0] == 'm' && s[1] >= '0' && s[1] <= '9') {
            for (at = 1; s[at] >= '0' && s[at] <= '9'; at++)
                m = m * 10 + s[at] - '0';
            for (at++; s[at] >= '0' && s[at] <= '9'; at++)
                n = n * 10 + s[at] - '0';
            for (at++; s[at] >= '0' && s[at] <= '9'; at++)
                k = k * 10 + s[at] - '0';
            in->compare = (uint8_t)m;
            in->boolean = (uint8_t)n;
            in->target = (uint32_t)k;
        } else if (strcmp(s, "row") == 0 || strcmp(s, "col") == 0) {
            in->imm |= (int64_t)(s[0] == 'r') << layouts++;
        }
    }
}

/* extra: number of slots, then the slots, for each list in order */
static void read_fragment(struct decoder *d, struct ir_insn *in, int i, bool is_f64, int least)
{
    const struct ptx_operand *o = operand(d, i);
    int n = o->kind == PTX_VECTOR ? o->elements : 1;
    if (n < least)
        decode_problem(d, "a fragment of %d registers, %d are expected", n, least);
    decode_extra(d, in, (uint32_t)n);
    for (int k = 0; k < n; k++) {
        struct slot s = source_any(d, element(d, o, k), PTX_TYPE_b32);
        if (slot_bytes(s.type) != (is_f64 ? 256u : 128u))
            decode_problem(d, "a register of a fragment has the wrong width");
        decode_extra(d, in, s.offset);
    }
}

static void shape_wmma_memory(struct decoder *d, struct ir_insn *in, bool is_store)
{
    enum ptx_type type = d->suffixes.types[0];
    if (ptx_type_is_element(type))
        decode_problem(d, "wmma with elements of this type is not supported");
    in->sub = (uint8_t)find_sub(d);
    in->type = (uint8_t)type;
    in->space = (uint8_t)d->suffixes.space;
    in->site = ++d->module->site_count;
    read_matrix_suffixes(d, in);
    bool wide;
    in->a = address_slot(d, operand(d, is_store ? 0 : 1), &wide);
    in->wide_address = wide;
    if (d->in->count > 2)
        in->b = source(d, operand(d, 2), 4, PTX_TYPE_u32);
    read_fragment(d, in, is_store ? 1 : 0, type == PTX_TYPE_f64, 1);
}

static void shape_mma(struct decoder *d, struct ir_insn *in, bool is_wmma)
{
    const struct ir_suffixes *s = &d->suffixes;
    read_matrix_suffixes(d, in);
    /* wmma with half inputs names only the types of d and c */
    in->type = (uint8_t)s->types[0];
    in->type2 = (uint8_t)(is_wmma && s->type_count == 2 ? PTX_TYPE_f16 : s->types[1]);
    in->vector = (uint8_t)(is_wmma && s->type_count == 2 ? s->types[1] : s->types[3]);
    if (is_wmma && ptx_type_is_element((enum ptx_type)in->type2))
        decode_problem(d, "wmma with elements of this type is not supported");
    /* The fragments of this shape are laid out in another way than all the others. */
    if (!is_wmma && in->compare == 8 && in->target == 4 && in->type2 != PTX_TYPE_f64)
        decode_problem(d, "m8n8k4 is supported for f64 only");
    in->sub = (uint8_t)(s->type_count > 2 ? s->types[2] : in->type2);
    const int m = in->compare, n = in->boolean, k = (int)in->target;
    if (is_wmma ? m * k > 512 || n * k > 512 : n != 8 || m > 16)
        decode_problem(d, "not a shape of this instruction");
    const int elements[4] = {m * n, m * k, k * n, m * n};
    const uint8_t types[4] = {in->type, in->type2, in->sub, in->vector};
    for (int i = 0; i < 4; i++) {
        if ((types[i] == PTX_TYPE_f64) != (in->type2 == PTX_TYPE_f64))
            decode_problem(d, "f64 fragments go with f64 only");
        int per = 32 * ptx_type_per_register((enum ptx_type)types[i]);
        read_fragment(d, in, i, in->type2 == PTX_TYPE_f64, (elements[i] + per - 1) / per);
    }
}

/* ---- control --------------------------------------------------------------------------------- */

static uint32_t label_block(struct decoder *d, const char *name)
{
    long at = name ? ptx_label_find(d->function, name, d->in->scope) : -1;
    if (at < 0) {
        decode_problem(d, "no label '%.60s'", name ? name : "");
        return 0;
    }
    if ((size_t)at >= d->function->instruction_count)
        return (uint32_t)d->cfg.block_count; /* the end of the function */
    return (uint32_t)d->cfg.block_of[at];
}

/* target: a block for now; ptx_decode.c turns it into an instruction */
static void shape_bra(struct decoder *d, struct ir_insn *in)
{
    in->target = label_block(d, operand(d, 0)->name);
}

static void shape_brx(struct decoder *d, struct ir_insn *in)
{
    const struct ptx_operand *list = operand(d, 1);
    in->a = source(d, operand(d, 0), 4, PTX_TYPE_u32);
    for (size_t i = 0; list->name && i < d->function->target_count; i++) {
        const struct ptx_targets *t = &d->function->targets[i];
        if (strcmp(t->name, list->name) != 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            decode_extra(d, in, label_block(d, t->labels[k]));
        return;
    }
    decode_problem(d, "no list of branch targets");
}

static void call_list(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list)
{
    decode_extra(d, in, list ? (uint32_t)list->elements : 0);
    for (int i = 0; list && i < list->elements; i++) {
        const struct ptx_operand *o = &d->in->operands[list->first + i];
        struct ptx_variable *v = o->kind == PTX_NAME && o->name ? variable_find(d, o->name) : NULL;
        if (!v || v->space != PTX_SPACE_PARAM)
            decode_problem(d, "arguments of a call must be .param variables");
        else
            decode_extra(d, in, (uint32_t)v->address);
    }
}

static void missing_function(struct decoder *d, const char *name)
{
    if (strncmp(name, "__cudaCDP", 9) == 0)
        decode_problem(d, "kernels cannot launch kernels here (no dynamic parallelism)");
    else if (strncmp(name, "cuda", 4) == 0)
        decode_problem(d, "'%.60s' cannot be called from a kernel here", name);
    else
        decode_problem(d, "no module of the program defines function '%.80s'", name);
}

/* extra: results (count, local offsets), arguments (count, local offsets);
 * target: function, or a: its address when wide_address */
static void shape_call(struct decoder *d, struct ir_insn *in)
{
    int i = 0;
    const struct ptx_operand *results = NULL, *arguments = NULL;
    if (operand(d, i)->kind == PTX_LIST)
        results = operand(d, i++);
    const struct ptx_operand *callee = operand(d, i++);
    if (i < d->in->count && operand(d, i)->kind == PTX_LIST)
        arguments = operand(d, i);
    struct slot s;
    if (callee->name && slot_exists(d, callee->name, &s)) {
        in->wide_address = true;
        in->a = s.offset;
        d->to->recursive_or_indirect = true;
    } else {
        int f = callee->name ? function_find(d, callee->name) : -1;
        if (f < 0 || (!d->module->functions[f].has_body && !d->module->functions[f].builtin))
            missing_function(d, callee->name ? callee->name : "");
        else
            in->target = (uint32_t)f;
    }
    call_list(d, in, results);
    call_list(d, in, arguments);
}

/* a: barrier number, b: threads (0: all), c: predicate, sub: popc, and, or; d: result */
static void shape_bar(struct decoder *d, struct ir_insn *in)
{
    int i = 0;
    if (in->op == IR_BAR_RED) {
        in->sub = (uint8_t)find_sub(d);
        i = 1;
    }
    in->a = i < d->in->count ? source(d, operand(d, i), 4, PTX_TYPE_u32) : constant(d, 0, false);
    int last = d->in->count - (in->op == IR_BAR_RED);
    if (i + 1 < last)
        in->b = source(d, operand(d, i + 1), 4, PTX_TYPE_u32);
    if (in->op != IR_BAR_RED)
        return;
    in->c = predicate_source(d, operand(d, d->in->count - 1));
    in->d = in->sub == SUB_POPC ? destination(d, operand(d, 0)->name, 4)
                                : predicate(d, operand(d, 0)->name);
}

void shape_decode(struct decoder *d, enum ir_op op)
{
    struct ir_insn in = decode_start(d, op);
    in.mode = d->suffixes.mode;
    switch ((enum ir_shape)d->row->shape) {
    case SHAPE_LANE:
        shape_lane(d, &in);
        break;
    case SHAPE_CARRY:
        shape_carry(d, &in);
        break;
    case SHAPE_TESTP:
        shape_testp(d, &in);
        break;
    case SHAPE_SREG:
        shape_sreg(d, &in);
        break;
    case SHAPE_UNPACK:
        shape_unpack(d, &in);
        break;
    case SHAPE_PACK:
        shape_pack(d, &in);
        break;
    case SHAPE_UNPACK_128:
        shape_halves(d, &in, false);
        break;
    case SHAPE_PACK_128:
        shape_halves(d, &in, true);
        break;
    case SHAPE_PRED:
        shape_pred(d, &in);
        break;
    case SHAPE_CVTA:
        shape_cvta(d, &in);
        break;
    case SHAPE_ISSPACEP:
        shape_isspacep(d, &in);
        break;
    case SHAPE_SELP:
        shape_selp(d, &in);
        break;
    case SHAPE_SLCT:
        shape_slct(d, &in);
        break;
    case SHAPE_SETP:
        shape_setp(d, &in);
        break;
    case SHAPE_SET:
        shape_set(d, &in);
        break;
    case SHAPE_CVT:
        shape_cvt(d, &in);
        break;
    case SHAPE_CVT_PAIR:
        shape_cvt_pair(d, &in);
        break;
    case SHAPE_CVT_FP8:
        shape_cvt_fp8(d, &in);
        break;
    case SHAPE_CVT_PACK:
        shape_cvt_pack(d, &in);
        break;
    case SHAPE_LD:
        if (!shape_ld(d, &in))
            return;
        break;
    case SHAPE_ST:
        shape_st(d, &in);
        break;
    case SHAPE_ATOM:
        shape_atom(d, &in);
        break;
    case SHAPE_ATOM_VECTOR:
        shape_atom_vector(d, &in);
        break;
    case SHAPE_ATOM_128:
        shape_atom_128(d, &in);
        break;
    case SHAPE_CP_ASYNC:
        shape_cp_async(d, &in);
        break;
    case SHAPE_CP_ASYNC_WAIT:
        shape_cp_async_wait(d, &in);
        break;
    case SHAPE_MBARRIER:
        shape_mbarrier(d, &in);
        break;
    case SHAPE_TEX:
        shape_tex(d, &in);
        break;
    case SHAPE_SURFACE:
        shape_surface(d, &in);
        break;
    case SHAPE_CLUSTER_WAIT:
        in.a = constant(d, 15, false);
        break;
    case SHAPE_MAPA:
        shape_mapa(d, &in);
        break;
    case SHAPE_LDMATRIX:
        shape_matrix_rows(d, &in, 0, 1);
        break;
    case SHAPE_STMATRIX:
        shape_matrix_rows(d, &in, 1, 0);
        break;
    case SHAPE_ALLOCA:
        shape_alloca(d, &in);
        break;
    case SHAPE_SHFL:
        shape_shfl(d, &in);
        break;
    case SHAPE_VOTE:
        shape_vote(d, &in);
        break;
    case SHAPE_MATCH:
        shape_match(d, &in);
        break;
    case SHAPE_REDUX:
        shape_redux(d, &in);
        break;
    case SHAPE_ACTIVEMASK:
        in.d = destination(d, operand(d, 0)->name, 4);
        break;
    case SHAPE_ELECT:
        shape_elect(d, &in);
        break;
    case SHAPE_BAR_WARP:
        in.f = member_mask(d, 0);
        break;
    case SHAPE_WMMA_LOAD:
        shape_wmma_memory(d, &in, false);
        break;
    case SHAPE_WMMA_STORE:
        shape_wmma_memory(d, &in, true);
        break;
    case SHAPE_WMMA_MMA:
        shape_mma(d, &in, true);
        break;
    case SHAPE_MMA:
        shape_mma(d, &in, false);
        break;
    case SHAPE_MOVMATRIX:
        in.a = source(d, operand(d, 1), 4, PTX_TYPE_b32);
        in.d = destination(d, operand(d, 0)->name, 4);
        break;
    case SHAPE_BRA:
        shape_bra(d, &in);
        break;
    case SHAPE_BRX:
        shape_brx(d, &in);
        break;
    case SHAPE_CALL:
        shape_call(d, &in);
        break;
    case SHAPE_BAR:
    case SHAPE_BAR_RED:
        shape_bar(d, &in);
        break;
    case SHAPE_IGNORED:
        return;
    case SHAPE_NANOSLEEP:
    case SHAPE_RET:
    case SHAPE_EXIT:
    case SHAPE_INTERNAL:
        break;
    }
    if (d->in->guard) {
        in.guard = predicate(d, d->in->guard);
        in.guard_not = d->in->guard_negated;
    }
    decode_append(d, &in);
}
