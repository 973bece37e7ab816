/* Operands: registers, predicates, numbers and names become slots of the frame. */
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

uint32_t slot_new(struct decoder *d, uint32_t bytes)
{
    uint32_t at = d->to->frame_bytes;
    d->to->frame_bytes += bytes;
    return at;
}

uint32_t predicate_new(struct decoder *d)
{
    if (!d->predicate_room) {
        d->predicate_next = slot_new(d, 64);
        d->predicate_room = 16;
    }
    d->predicate_room--;
    d->predicate_next += 4;
    return d->predicate_next - 4;
}

/* "%r12" is number 12 of family "%r" with more than 12 registers; a single register has its own
 * name. */
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

bool slot_exists(struct decoder *d, const char *name, struct slot *to)
{
    const struct ptx_function *f = d->function;
    for (int scope = d->in->scope; scope >= 0; scope = f->scope_parent[scope]) {
        for (size_t i = 0; i < f->register_count; i++) {
            const struct ptx_register *r = &f->registers[i];
            size_t number;
            if (r->scope != scope || !family_has(r, name, &number))
                continue;
            if (!d->slots[i]) {
                d->slots[i] = calloc((size_t)r->count + 1, sizeof **d->slots);
                if (!d->slots[i])
                    abort();
            }
            if (!d->slots[i][number])
                d->slots[i][number] =
                    r->type == PTX_TYPE_pred ? predicate_new(d) : slot_new(d, slot_bytes(r->type));
            *to = (struct slot){d->slots[i][number], r->type};
            return true;
        }
    }
    return false;
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

uint32_t constant(struct decoder *d, uint64_t bits, bool wide)
{
    struct ir_function *f = d->to;
    if (!wide)
        bits &= 0xffffffffu;
    for (size_t i = f->constant_count; i-- > 0;)
        if (!f->constants[i].is_param && f->constants[i].bits == bits &&
            f->constants[i].wide == wide)
            return f->constants[i].offset;
    f->constants =
        ptx_grow(f->constants, f->constant_count, &f->constant_room, sizeof *f->constants);
    struct ir_constant *c = &f->constants[f->constant_count++];
    *c = (struct ir_constant){.offset = slot_new(d, wide ? 256 : 128), .wide = wide, .bits = bits};
    return c->offset;
}

static uint64_t literal_bits(const struct ptx_operand *o, enum ptx_type type)
{
    double value;
    float single;
    if (ptx_type_bytes(type) == 2)
        return o->bits & 0xffff;
    if (!ptx_type_is_float(type) || ptx_type_bytes(type) < 4 || type == PTX_TYPE_f16x2 ||
        type == PTX_TYPE_bf16x2)
        return o->bits;
    if (type == PTX_TYPE_f64) {
        if (!o->is_float)
            return o->bits; /* an integer here is a bit pattern, as ptxas takes it */
        if (!o->is_single)
            return o->bits;
        uint32_t low = (uint32_t)o->bits;
        memcpy(&single, &low, sizeof single);
        value = (double)single;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (!o->is_float || o->is_single)
        return o->bits;
    memcpy(&value, &o->bits, sizeof value);
    single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

struct ptx_variable *variable_find(struct decoder *d, const char *name)
{
    struct ptx_function *f = d->function;
    for (int scope = d->in ? d->in->scope : 0; scope >= 0; scope = f->scope_parent[scope])
        for (size_t i = 0; i < f->variable_count; i++)
            if (f->variables[i].scope == scope && strcmp(f->variables[i].name, name) == 0)
                return &f->variables[i];
    for (size_t i = 0; i < f->param_count; i++)
        if (strcmp(f->params[i].name, name) == 0)
            return &f->params[i];
    for (size_t i = 0; i < f->return_count; i++)
        if (strcmp(f->returns[i].name, name) == 0)
            return &f->returns[i];
    struct ptx_variable *defined = NULL, *declared = NULL;
    for (size_t i = 0; i < d->ast->variable_count; i++) {
        struct ptx_variable *v = &d->ast->variables[i];
        if (strcmp(v->name, name) != 0)
            continue;
        if (v->is_local && v->unit == f->unit)
            return v;
        if (v->is_extern && v->unit == f->unit)
            declared = v;
        else if (!v->is_local && !v->is_extern && !defined)
            defined = v;
    }
    return defined ? defined : declared;
}

int function_find(const struct decoder *d, const char *name)
{
    for (int tries = 0; tries < 4; tries++) {
        int declared = -1, defined = -1;
        for (size_t i = 0; i < d->ast->function_count; i++) {
            const struct ptx_function *f = &d->ast->functions[i];
            if (strcmp(f->name, name) != 0 || (f->is_local && f->unit != d->function->unit))
                continue;
            declared = (int)i;
            if (f->has_body && (defined < 0 || f->is_local))
                defined = declared;
        }
        if (defined >= 0)
            return defined;
        const char *target = NULL;
        for (size_t i = 0; i < d->ast->alias_count; i++)
            if (strcmp(d->ast->aliases[i].name, name) == 0)
                target = d->ast->aliases[i].target;
        if (!target)
            return declared;
        name = target;
    }
    return -1;
}

static bool is_dynamic(const struct ptx_variable *v)
{
    return v->space == PTX_SPACE_SHARED && v->is_extern && v->unsized;
}

/* Whether a variable lies in the local memory of a call: locals, and parameters outside kernels'
 * parameter blocks. */
static bool in_local_frame(const struct decoder *d, const struct ptx_variable *v)
{
    if (v->space == PTX_SPACE_LOCAL)
        return true;
    if (v->space != PTX_SPACE_PARAM)
        return false;
    const struct ptx_function *f = d->function; /* without parameters there is no array of them */
    return !(d->to->is_entry && f->param_count && v >= f->params && v < f->params + f->param_count);
}

static void check_defined(struct decoder *d, const struct ptx_variable *v)
{
    if (v->is_extern && !v->address &&
        (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST))
        decode_problem(d, "no module of the program defines variable '%.60s'", v->name);
}

/* The value of a name: its address. Addresses that depend on the call or launch are computed first.
 */
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
            decode_problem(d, "a predicate is no address");
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

enum ir_sreg sreg_find(const char *name, bool *wide)
{
    static const struct {
        const char *name;
        enum ir_sreg sreg;
    } table[] = {
        {"%tid.x", SREG_TID_X},
        {"%tid.y", SREG_TID_Y},
        {"%tid.z", SREG_TID_Z},
        {"%ntid.x", SREG_NTID_X},
        {"%ntid.y", SREG_NTID_Y},
        {"%ntid.z", SREG_NTID_Z},
        {"%ctaid.x", SREG_CTAID_X},
        {"%ctaid.y", SREG_CTAID_Y},
        {"%ctaid.z", SREG_CTAID_Z},
        {"%nctaid.x", SREG_NCTAID_X},
        {"%nctaid.y", SREG_NCTAID_Y},
        {"%nctaid.z", SREG_NCTAID_Z},
        {"%laneid", SREG_LANEID},
        {"%warpid", SREG_WARPID},
        {"%nwarpid", SREG_NWARPID},
        {"%smid", SREG_SMID},
        {"%nsmid", SREG_NSMID},
        {"%gridid", SREG_GRIDID},
        {"%lanemask_eq", SREG_LANEMASK_EQ},
        {"%lanemask_le", SREG_LANEMASK_LE},
        {"%lanemask_lt", SREG_LANEMASK_LT},
        {"%lanemask_ge", SREG_LANEMASK_GE},
        {"%lanemask_gt", SREG_LANEMASK_GT},
        {"%clock", SREG_CLOCK},
        {"%clock_hi", SREG_CLOCK_HI},
        {"%clock64", SREG_CLOCK64},
        {"%globaltimer", SREG_GLOBALTIMER},
        {"%globaltimer_lo", SREG_GLOBALTIMER_LO},
        {"%globaltimer_hi", SREG_GLOBALTIMER_HI},
        {"%dynamic_smem_size", SREG_DYNAMIC_SMEM},
        {"%total_smem_size", SREG_TOTAL_SMEM},
        {"%reserved_smem_offset_begin", SREG_RESERVED_SMEM},
        {"%reserved_smem_offset_0", SREG_RESERVED_SMEM},
        {"%reserved_smem_offset_1", SREG_RESERVED_SMEM},
        {"%reserved_smem_offset_end", SREG_RESERVED_SMEM_END},
        {"%reserved_smem_offset_cap", SREG_RESERVED_SMEM_END},
        {"%envreg1", SREG_ENVREG1},
        {"%envreg2", SREG_ENVREG2},
        {"%clusterid.x", SREG_CTAID_X},
        {"%clusterid.y", SREG_CTAID_Y},
        {"%clusterid.z", SREG_CTAID_Z},
        {"%nclusterid.x", SREG_NCTAID_X},
        {"%nclusterid.y", SREG_NCTAID_Y},
        {"%nclusterid.z", SREG_NCTAID_Z},
        {"%cluster_ctaid.x", SREG_ZERO},
        {"%cluster_ctaid.y", SREG_ZERO},
        {"%cluster_ctaid.z", SREG_ZERO},
        {"%cluster_ctarank", SREG_ZERO},
        {"%cluster_nctaid.x", SREG_ONE},
        {"%cluster_nctaid.y", SREG_ONE},
        {"%cluster_nctaid.z", SREG_ONE},
        {"%cluster_nctarank", SREG_ONE},
    };
    *wide = false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            *wide = table[i].sreg == SREG_CLOCK64 || table[i].sreg == SREG_GLOBALTIMER ||
                    table[i].sreg == SREG_GRIDID;
            return table[i].sreg;
        }
    return SREG_NONE;
}
