/* Finds the uniform and the affine registers. A register has the property only if every write to it
 * has. This loses little, since nvcc uses a separate register for nearly every value. */
#include "vgpu/native/unit.h"

#include "vgpu/exec/handlers.h"

#include <string.h>

enum form form_of(const struct ir_insn *in, bool *is_signed)
{
    *is_signed = in->op == IR_CVT_S64_S32 || in->op == IR_MUL_WIDE_S32 || in->op == IR_MAD_WIDE_S32;
    switch (in->op) {
    case IR_ADD_32:
    case IR_ADD_64:
    case IR_SUB_32:
    case IR_SUB_64:
        return FORM_SUM;
    case IR_MUL_LO_32:
    case IR_MUL_LO_64:
        return FORM_PRODUCT;
    case IR_MAD_LO_32:
    case IR_MAD_LO_64:
        return FORM_PRODUCT_SUM;
    case IR_SHL_32:
    case IR_SHL_64:
        return FORM_SHIFT;
    case IR_MOV_32:
    case IR_MOV_64:
        return FORM_MOVE;
    case IR_CVT_U32_U64:
        return FORM_NARROW;
    case IR_CVT_S64_S32:
    case IR_CVT_U64_U32:
        return FORM_WIDE;
    case IR_MUL_WIDE_S32:
    case IR_MUL_WIDE_U32:
        return FORM_WIDE_PRODUCT;
    case IR_MAD_WIDE_S32:
    case IR_MAD_WIDE_U32:
        return FORM_WIDE_PRODUCT_SUM;
    default:
        return FORM_NONE;
    }
}

/* Fast handlers are chosen when a module is loaded (exec/vg_module.c). Native code has inline code
 * for the same accesses that are fast in the interpreter. */
static bool handled_by(const struct unit *u, const struct ir_insn *in, enum ir_op op)
{
    return in->inner == u->native->handlers->once[op];
}

uint32_t access_words(const struct ir_insn *in)
{
    const uint32_t words = (uint32_t)in->bytes * in->vector / 4;
    return words == 1 || words == 2 || words == 4 ? words : 0;
}

bool is_quick_load(const struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_LD && access_words(in) && !in->guard &&
           (handled_by(u, in, IR_LD_GLOBAL) || handled_by(u, in, IR_LD_GLOBAL_4) ||
            handled_by(u, in, IR_LD_FIXED) || handled_by(u, in, IR_LD_GENERIC) ||
            handled_by(u, in, IR_LD_SHARED) || handled_by(u, in, IR_LD_SHARED_4));
}

bool is_quick_store(const struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_ST && access_words(in) && !in->guard &&
           (handled_by(u, in, IR_ST_GLOBAL) || handled_by(u, in, IR_ST_GENERIC) ||
            handled_by(u, in, IR_ST_SHARED));
}

bool is_narrow_load(const struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_LD && in->bytes <= 2 && in->vector == 1 && !in->guard &&
           !in->fixed_address && handled_by(u, in, IR_LD) &&
           (is_of_shared(in) || in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_CONST) &&
           !is_of_strong_read(in) && !(in->mode & MODE_ACQUIRE) &&
           ptx_type_bytes((enum ptx_type)in->type2) <= 4;
}

bool is_padded_load(const struct ir_insn *in)
{
    return in->op == IR_LD && in->unread && is_of_shared(in) && in->bytes == 4 && in->vector == 4 &&
           !is_of_strong_read(in);
}

bool is_of_shared(const struct ir_insn *in)
{
    return in->space == PTX_SPACE_SHARED;
}

bool is_of_strong_read(const struct ir_insn *in)
{
    return (in->mode & (MODE_STRONG | MODE_VOLATILE)) != 0;
}

bool is_of_lane(enum ir_sreg which)
{
    return which == SREG_TID_X || which == SREG_TID_Y || which == SREG_TID_Z;
}

bool is_steady(enum ir_sreg which)
{
    return which >= SREG_NTID_X && which <= SREG_CLUSTER_NCTARANK;
}

bool is_lane_arithmetic(const struct unit *u, const struct ir_insn *in)
{
    switch (in->op) {
    case IR_MOV_PRED:
    case IR_NOT_PRED:
    case IR_AND_PRED:
    case IR_OR_PRED:
    case IR_XOR_PRED:
    case IR_SELP_32:
    case IR_SELP_64:
    case IR_PACK:
    case IR_UNPACK:
        return true;
    default:
        return ptx_is_compare(in) || u->native->services->rows[in->op].is_lane;
    }
}

/* ---- uniform --------------------------------------------------------------------------------- */

static bool all_uniform(struct unit *u, const struct ptx_operands *o)
{
    for (int i = 0; i < o->read_count; i++)
        if (!u->held[o->reads[i]].uniform)
            return false;
    return true;
}

static bool makes_uniform(struct unit *u, const struct ir_insn *in, const struct ptx_operands *o)
{
    if (!all_uniform(u, o))
        return false;
    switch (in->op) {
    case IR_SREG:
        return is_steady((enum ir_sreg)in->sub) && !in->guard;
    case IR_LD: /* a generic address may be in local memory, where each lane has its own value */
        return is_quick_load(u, in) && in->space != PTX_SPACE_GENERIC;
    case IR_CVTA:
    case IR_LOCAL_ADDRESS:
    case IR_DYNAMIC_SHARED:
        return !in->guard;
    default:
        return is_lane_arithmetic(u, in);
    }
}

static bool find_uniform(struct unit *u)
{
    bool changed = false;
    for (size_t i = 0; i < u->f->insn_count; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        struct ptx_operands o;
        u->native->services->flow_operands(u->flow, in, &o);
        if (!o.write_count || makes_uniform(u, in, &o))
            continue;
        for (int k = 0; k < o.write_count; k++) {
            changed |= u->held[o.writes[k]].uniform;
            u->held[o.writes[k]].uniform = false;
        }
    }
    return changed;
}

/* ---- affine ---------------------------------------------------------------------------------- */

static bool has_base(struct unit *u, uint32_t offset)
{
    const struct held *h = held_at(u, offset);
    return h && (h->uniform || h->affine);
}

/* @return whether a form gives its result a separate base. A copy of a uniform value, such as the
 * start of a sum, has none unless a later addend gives it one. */
static bool makes_affine(struct unit *u, const struct ir_insn *in)
{
    bool is_signed;
    const bool a = has_base(u, in->a), b = has_base(u, in->b), c = has_base(u, in->c);
    switch (form_of(in, &is_signed)) {
    case FORM_SUM:
        return a || b;
    case FORM_PRODUCT:
        return (a && is_uniform(u, in->b)) || (b && is_uniform(u, in->a));
    case FORM_PRODUCT_SUM:
        return (is_uniform(u, in->b) || is_uniform(u, in->a)) && (c || (a && b));
    case FORM_SHIFT:
        return a && is_uniform(u, in->b);
    case FORM_MOVE:
        return is_affine(u, in->a);
    case FORM_NARROW:
        return a;
    case FORM_WIDE:
        return is_affine(u, in->a);
    case FORM_WIDE_PRODUCT:
    case FORM_WIDE_PRODUCT_SUM:
        return (is_affine(u, in->a) && is_uniform(u, in->b)) ||
               (is_affine(u, in->b) && is_uniform(u, in->a));
    default:
        return false;
    }
}

static bool find_affine(struct unit *u)
{
    bool changed = false;
    for (size_t i = 0; i < u->f->insn_count; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (!u->native->services->rows[in->op].is_lane)
            continue;
        struct held *to = held_at(u, in->d);
        if (!to || to->uniform || to->affine || to->is_whole || !makes_affine(u, in))
            continue;
        to->affine = true;
        changed = true;
    }
    return changed;
}

void classes_find(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        u->held[i].uniform = u->held[i].bits != 0 && !u->held[i].blends;
        u->held[i].affine = false;
    }
    while (find_uniform(u)) {
    }
    while (find_affine(u)) {
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool is_number_row(const struct ir_insn *in)
{
    return in->op == IR_ADD_F32 || in->op == IR_SUB_F32 || in->op == IR_MUL_F32 ||
           in->op == IR_FMA_F32;
}

static bool is_nan(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

static bool makes_number(struct unit *u, const struct ir_insn *in)
{
    const struct held *from = in->op == IR_MOV_32 ? held_at(u, in->a) : NULL;
    if (from && from->constant)
        return !from->constant->is_param && !is_nan(from->constant->bits);
    return from ? from->any_nan : is_number_row(in);
}

void classes_find_numbers(struct unit *u)
{
    bool changed = true;
    for (uint32_t i = 0; i < u->f->slot_count; i++)
        u->held[i].any_nan = u->held[i].bits == 32 && !u->held[i].constant && !u->held[i].affine;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < u->f->insn_count; i++) {
            struct ptx_operands o;
            u->native->services->flow_operands(u->flow, &u->f->insns[i], &o);
            for (int k = 0; k < o.write_count; k++) {
                struct held *to = &u->held[o.writes[k]];
                if (!to->any_nan || makes_number(u, &u->f->insns[i]))
                    continue;
                to->any_nan = false;
                changed = true;
            }
        }
    }
}
