/* Converts operands (registers, predicates, numbers and names) to slots of the frame. */
#include "vgpu/ptx/ptx_decoder.h"

#include <stdlib.h>
#include <string.h>

uint32_t slot_bytes(enum ptx_type type)
{
    return type == PTX_TYPE_pred      ? 0
           : ptx_type_bytes(type) > 8 ? 512
           : ptx_type_bytes(type) > 4 ? 256
                                      : 128;
}

uint32_t type_lanes(enum ptx_type type)
{
    return ptx_type_bytes(type) > 4 ? 8 : 4;
}

static uint32_t frame_extend(struct decoder *d, uint32_t bytes)
{
    uint32_t at = d->to->frame_bytes;
    d->to->frame_bytes += bytes;
    return at;
}

static uint32_t slot_note(struct decoder *d, uint32_t offset, uint32_t bytes)
{
    *PTX_ADD(d->to, slot) = (struct ir_slot){offset, bytes};
    return offset;
}

static uint32_t slot_new(struct decoder *d, uint32_t bytes)
{
    return slot_note(d, frame_extend(d, bytes), bytes);
}

uint32_t predicate_new(struct decoder *d)
{
    if (!d->predicate_room) {
        d->predicate_next = frame_extend(d, 64);
        d->predicate_room = 16;
    }
    d->predicate_room--;
    d->predicate_next += 4;
    return slot_note(d, d->predicate_next - 4, 4);
}

/* "%r12" is number 12 of family "%r" if this has more than 12 registers. A single register has its
 * full name. */
static bool family_has(const struct ptx_register *r, const char *name, size_t *number)
{
    *number = 0;
    if (!r->count)
        return strcmp(r->name, name) == 0;
    size_t n = strlen(r->name);
    if (strncmp(name, r->name, n) != 0 || name[n] < '0' || name[n] > '9' || strlen(name + n) > 7)
        return false;
    if (name[n] == '0' && name[n + 1])
        return false;
    for (const char *p = name + n; *p; p++) {
        if (*p < '0' || *p > '9')
            return false;
        *number = *number * 10 + (size_t)(*p - '0');
    }
    return *number < (size_t)r->count;
}

/* @return the family of a register that is visible from the instruction's scope, or -1. */
static long family_find(const struct decoder *d, const char *name, size_t *number)
{
    const struct ptx_function *f = d->function;
    for (int scope = d->in->scope; scope >= 0; scope = f->scope_parent[scope])
        for (size_t i = 0; i < f->register_count; i++)
            if (f->registers[i].scope == scope && family_has(&f->registers[i], name, number))
                return (long)i;
    return -1;
}

enum ptx_type register_type(const struct decoder *d, const struct ptx_operand *o)
{
    size_t number;
    long i = o->kind == PTX_NAME && o->name ? family_find(d, o->name, &number) : -1;
    return i < 0 ? PTX_TYPE_none : d->function->registers[i].type;
}

bool slot_exists(struct decoder *d, const char *name, struct slot *to)
{
    size_t number;
    long i = family_find(d, name, &number);
    if (i < 0)
        return false;
    const struct ptx_register *r = &d->function->registers[i];
    if (!d->slots[i]) {
        d->slots[i] = calloc((size_t)r->count + 1, sizeof **d->slots);
        if (!d->slots[i])
            abort();
    }
    uint32_t *slot = &d->slots[i][number];
    if (!*slot)
        *slot = r->type == PTX_TYPE_pred ? predicate_new(d) : slot_new(d, slot_bytes(r->type));
    *to = (struct slot){*slot, r->type};
    return true;
}

struct slot slot_find(struct decoder *d, const char *name)
{
    struct slot s = {0, PTX_TYPE_none};
    if (strcmp(name, "_") != 0 && !slot_exists(d, name, &s))
        decode_problem(d, "no register '%.40s'", name);
    return s;
}

const struct ptx_operand *operand(struct decoder *d, int i)
{
    static const struct ptx_operand none = {.kind = PTX_LITERAL};
    if (i < d->in->count)
        return &d->in->operands[i];
    decode_problem(d, "operand %d is missing", i + 1);
    return &none;
}

uint32_t constant_slot(struct decoder *d, const struct ir_constant *wanted)
{
    const struct ir_function *f = d->to;
    for (size_t i = f->constant_count; i-- > 0;) {
        const struct ir_constant *c = &f->constants[i];
        if (c->bits == wanted->bits && c->wide == wanted->wide && c->is_param == wanted->is_param &&
            c->param_bytes == wanted->param_bytes && c->param_signed == wanted->param_signed)
            return c->offset;
    }
    struct ir_constant *c = PTX_ADD(d->to, constant);
    *c = *wanted;
    return c->offset = slot_new(d, c->wide ? 256 : 128);
}

uint32_t constant(struct decoder *d, uint64_t bits, bool wide)
{
    return constant_slot(
        d, &(struct ir_constant){.wide = wide, .bits = wide ? bits : bits & 0xffffffffu});
}

/* @return the bits of a number in a type. An integer instead of a float is a bit pattern, as in
 * ptxas. */
static uint64_t literal_bits(const struct ptx_operand *o, enum ptx_type type)
{
    if (ptx_type_bytes(type) == 2)
        return o->bits & 0xffff;
    uint64_t bits = o->bits;
    double wide;
    float narrow;
    uint32_t low = (uint32_t)bits;
    if (o->is_float && o->is_single && type == PTX_TYPE_f64) {
        memcpy(&narrow, &low, sizeof narrow);
        wide = (double)narrow;
        memcpy(&bits, &wide, sizeof bits);
    } else if (o->is_float && !o->is_single && (type == PTX_TYPE_f32 || type == PTX_TYPE_tf32)) {
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        bits = low;
    }
    return bits;
}

static bool is_dynamic(const struct ptx_variable *v)
{
    return v->space == PTX_SPACE_SHARED && v->is_extern && v->unsized;
}

/* @return whether a variable is in the local memory of a call: a local, or a parameter that is not
 * in a kernel's parameter block. */
static bool in_local_frame(const struct decoder *d, const struct ptx_variable *v)
{
    if (v->space == PTX_SPACE_LOCAL)
        return true;
    if (v->space != PTX_SPACE_PARAM)
        return false;
    const struct ptx_function *f = d->function; /* without parameters, the array is NULL */
    return !(d->to->is_entry && f->param_count && v >= f->params && v < f->params + f->param_count);
}

static void check_defined(struct decoder *d, const struct ptx_variable *v)
{
    if (v->is_extern && !v->address &&
        (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST))
        decode_problem(d, "no module of the program defines variable '%.60s'", v->name);
}

/* @return the slot of a name's address. If it depends on the call or launch, emits code to compute
 * it. */
static uint32_t name_value(struct decoder *d, const struct ptx_operand *o, bool wide)
{
    struct ptx_variable *v = variable_find(d, o->name);
    if (!v) {
        int f = function_find(d, o->name);
        if (f < 0)
            decode_problem(d, "no register, variable or function '%.60s'", o->name);
        return constant(d, PTX_FUNCTION_BASE + 16 * (uint64_t)(f < 0 ? 0 : f), wide);
    }
    if (is_dynamic(v) || in_local_frame(d, v)) {
        uint32_t to = slot_new(d, wide ? 256 : 128);
        struct ir_insn *in = decode_emit(d, is_dynamic(v) ? IR_DYNAMIC_SHARED : IR_LOCAL_ADDRESS);
        in->d = to;
        in->imm = (int64_t)v->address + o->offset;
        in->bytes = wide ? 8 : 4;
        return to;
    }
    uint64_t base = v->space == PTX_SPACE_PARAM ? PTX_PARAM_BASE : 0;
    check_defined(d, v);
    return constant(d, base + v->address + (uint64_t)o->offset, wide);
}

struct slot source_any(struct decoder *d, const struct ptx_operand *o, enum ptx_type type)
{
    struct slot s = {0, type};
    if (o->kind == PTX_LITERAL) {
        s.offset = constant(d, literal_bits(o, type), slot_bytes(type) == 256);
    } else if (o->kind != PTX_NAME || !o->name) {
        decode_problem(d, "an operand of this kind is not expected here");
    } else if (strcmp(o->name, "_") == 0) {
        s.offset = 0;
    } else if (strcmp(o->name, "WARP_SZ") == 0) {
        s.offset = constant(d, 32, slot_bytes(type) == 256);
    } else if (!slot_exists(d, o->name, &s)) {
        bool wide;
        enum ir_sreg sreg = sreg_find(o->name, &wide);
        if (sreg != SREG_NONE) {
            s.offset = slot_new(d, wide ? 256 : 128);
            s.type = wide ? PTX_TYPE_u64 : PTX_TYPE_u32;
            struct ir_insn *in = decode_emit(d, IR_SREG);
            in->d = s.offset;
            in->sub = (uint8_t)sreg;
            in->bytes = wide ? 8 : 4;
        } else {
            s.offset = name_value(d, o, slot_bytes(type) == 256);
        }
    }
    return s;
}

uint32_t source(struct decoder *d, const struct ptx_operand *o, uint32_t bytes, enum ptx_type type)
{
    if (slot_bytes(type) != bytes * 32)
        type = bytes == 8 ? PTX_TYPE_b64 : PTX_TYPE_b32;
    struct slot s = source_any(d, o, type);
    if (s.type == PTX_TYPE_pred || slot_bytes(s.type) != bytes * 32)
        decode_problem(d, "'%.40s' has the wrong width", o->name ? o->name : "operand");
    return s.offset;
}

uint32_t destination(struct decoder *d, const char *name, uint32_t bytes)
{
    if (!name) {
        decode_problem(d, "the destination is not a register");
        return 0;
    }
    struct slot s = slot_find(d, name);
    if (s.offset && (s.type == PTX_TYPE_pred || slot_bytes(s.type) != bytes * 32))
        decode_problem(d, "'%.40s' has the wrong width", name);
    return s.offset;
}

uint32_t predicate(struct decoder *d, const char *name)
{
    if (!name) {
        decode_problem(d, "a predicate is missing");
        return 0;
    }
    struct slot s = slot_find(d, name);
    if (s.offset && s.type != PTX_TYPE_pred)
        decode_problem(d, "'%.40s' is not a predicate", name);
    return s.offset;
}

uint32_t predicate_source(struct decoder *d, const struct ptx_operand *o)
{
    if (o->kind == PTX_LITERAL)
        return constant(d, o->bits & 1 ? 0xffffffffu : 0, false);
    if (o->kind != PTX_NAME || !o->name) {
        decode_problem(d, "a predicate is missing");
        return 0;
    }
    uint32_t p = predicate(d, o->name);
    if (!o->negated)
        return p;
    struct ir_insn *in = decode_emit(d, IR_NOT_PRED);
    in->a = p;
    in->d = p = predicate_new(d);
    return p;
}

void address(struct decoder *d, const struct ptx_operand *o, struct ir_insn *in)
{
    if (o->kind != PTX_ADDRESS) {
        decode_problem(d, "an address in brackets is expected");
        return;
    }
    if (o->elements)
        decode_problem(d, "an address with texture coordinates is not expected here");
    in->imm = o->offset;
    struct slot s;
    if (!o->name) {
        in->fixed_address = true;
    } else if (slot_exists(d, o->name, &s)) {
        in->a = s.offset;
        in->wide_address = slot_bytes(s.type) == 256;
        if (s.type == PTX_TYPE_pred)
            decode_problem(d, "a predicate is not an address");
    } else {
        const struct ptx_variable *v = variable_find(d, o->name);
        if (!v) {
            decode_problem(d, "no register or variable '%.60s'", o->name);
            return;
        }
        check_defined(d, v);
        in->fixed_address = true;
        in->imm += (int64_t)v->address;
        in->shared_dynamic = is_dynamic(v);
        in->local_frame = in_local_frame(d, v);
        if (in->local_frame)
            in->space = PTX_SPACE_LOCAL;
        else if (v->space == PTX_SPACE_PARAM)
            in->imm += (int64_t)PTX_PARAM_BASE;
        else if (in->space == PTX_SPACE_GENERIC)
            in->space = (uint8_t)v->space;
    }
}

uint32_t address_slot(struct decoder *d, const struct ptx_operand *o, bool *wide)
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

/* ---- wide registers and lists ---------------------------------------------------------------- */

uint32_t register_128(struct decoder *d, const struct ptx_operand *o)
{
    struct slot s;
    if (o->kind == PTX_NAME && o->name && slot_exists(d, o->name, &s) && slot_bytes(s.type) == 512)
        return s.offset;
    decode_problem(d, "a register of 128 bits is expected");
    return 0;
}

const struct ptx_operand *element(struct decoder *d, const struct ptx_operand *o, int i)
{
    return o->kind == PTX_VECTOR ? &d->in->operands[o->first + i] : o;
}

bool list_check(struct decoder *d, const struct ptx_operand *list, int n)
{
    if (list->kind == PTX_VECTOR && list->elements == n)
        return true;
    decode_problem(d, "the vector's length differs from the suffix");
    return false;
}

void list_sources(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list,
                  uint32_t bytes, enum ptx_type type)
{
    for (int i = 0; i < list->elements; i++)
        decode_extra(d, in, source(d, element(d, list, i), bytes > 4 ? 8 : 4, type));
}

void list_destinations(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list,
                       uint32_t bytes)
{
    for (int i = 0; i < list->elements; i++)
        decode_extra(d, in, destination(d, element(d, list, i)->name, bytes > 4 ? 8 : 4));
}
