/* Computing instructions: rows of one expression per lane, comparisons, selections, moves.
 * Functions of the bitcode (lane_functions.c), generated from the rows, define the operation; this
 * file only chooses their operands: scalars for uniform values, vectors, or the two parts of affine
 * values. */
#include "vgpu/api/vgpu.h"
#include "vgpu/native/lane_functions.h"
#include "vgpu/native/unit.h"

#include <stdio.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

enum { FIELDS = 5 };

/* Sets the widths of a row's operands d, a, b, c, e; 0: missing. */
static void row_bits(const struct ir_row *row, int bits[FIELDS])
{
    static const char fields[] = "dabce";
    memset(bits, 0, FIELDS * sizeof *bits);
    for (const char *at = row->operands; at && *at;) {
        const char *field = strchr(fields, *at);
        const size_t n = strcspn(at, " ");
        if (field && at[1] == ':')
            bits[field - fields] = n >= 3 && strncmp(at + n - 2, "64", 2) == 0 ? 64 : 32;
        at += n + strspn(at + n, " ");
    }
}

static LLVMTypeRef kind_of(struct unit *u, int bits, bool is_vector)
{
    return is_vector ? lanes_of_bits(u, bits) : type_of_bits(u, bits);
}

/* Computes a row from values that are all scalars or all vectors. @param from  operands a, b, c,
 * e */
static LLVMValueRef compute(struct unit *u, enum ir_op op, uint32_t mode,
                            LLVMValueRef const from[4], bool is_vector)
{
    const struct ir_row *row = &u->native->services->rows[op];
    int bits[FIELDS];
    char name[64];
    row_bits(row, bits);
    LLVMTypeRef result = kind_of(u, bits[0], is_vector);
    LLVMValueRef to = variable(u, result), arguments[6] = {to};
    for (int i = 1; i < FIELDS; i++) {
        if (!bits[i]) {
            arguments[i] = to;
            continue;
        }
        LLVMTypeRef type = kind_of(u, bits[i], is_vector);
        arguments[i] = variable(u, type);
        store_to(u, from[i - 1], arguments[i], type);
    }
    arguments[5] = number(u, 32, mode);
    snprintf(name, sizeof name, "%s_%s", is_vector ? "vector" : "scalar", row->id);
    call_function(u, name, arguments, 6);
    return load_from(u, result, to);
}

static LLVMValueRef compute_scalar(struct unit *u, enum ir_op op, uint32_t mode, LLVMValueRef a,
                                   LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef from[4] = {a, b, c, NULL};
    return compute(u, op, mode, from, false);
}

static LLVMValueRef compute_vector(struct unit *u, enum ir_op op, uint32_t mode, LLVMValueRef a,
                                   LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef from[4] = {a, b, c, NULL};
    return compute(u, op, mode, from, true);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* @return the smallest or the largest lane ("llvm.smin" or "llvm.smax"), from halves of the lanes.
 * LLVM's own reductions do the same, but LLVM does not move them out of loops. */
static LLVMValueRef extreme_lane(struct unit *u, const char *of, LLVMValueRef lanes)
{
    for (unsigned n = VG_LANES / 2; n >= 1; n /= 2) {
        LLVMValueRef which[2][VG_LANES / 2], half[2];
        for (unsigned h = 0; h < 2; h++) {
            for (unsigned i = 0; i < n; i++)
                which[h][i] = number(u, 32, h * n + i);
            half[h] = LLVMBuildShuffleVector(u->b, lanes, LLVMGetPoison(LLVMTypeOf(lanes)),
                                             LLVMConstVector(which[h], n), "");
        }
        LLVMTypeRef type = LLVMTypeOf(half[0]);
        lanes = call_intrinsic(u, of, &type, 1, half, 2);
    }
    return LLVMBuildExtractElement(u->b, lanes, number(u, 32, 0), "");
}

/* Computes the smallest lane of a value, as a signed number, and the distance from it to the
 * largest. */
static void span_of(struct unit *u, LLVMValueRef lanes, LLVMValueRef *smallest, LLVMValueRef *span)
{
    LLVMValueRef low =
        LLVMBuildSelect(u->b, mask_flags(u), lanes, splat(u, number(u, 32, 0x7fffffff), 32), "");
    LLVMValueRef high =
        LLVMBuildSelect(u->b, mask_flags(u), lanes, splat(u, number(u, 32, 0x80000000), 32), "");
    *smallest = extreme_lane(u, "llvm.smin", low);
    *span = LLVMBuildSub(u->b, extreme_lane(u, "llvm.smax", high), *smallest, "");
}

/* Widens a 32-bit value to 64 bits, base and lanes separately. This is correct unless the sum wraps
 * in a lane; then the code returns to the interpreter. */
static void widen(struct unit *u, const struct ir_insn *in, uint32_t offset, bool is_signed,
                  LLVMValueRef *base, LLVMValueRef *lanes)
{
    LLVMValueRef from = get_lanes(u, offset, 32), smallest, span;
    span_of(u, from, &smallest, &span);
    LLVMValueRef low = LLVMBuildAdd(u->b, get_base(u, offset, 32), smallest, "");
    *base = is_signed ? LLVMBuildSExt(u->b, low, u->i64, "") : LLVMBuildZExt(u->b, low, u->i64, "");
    LLVMValueRef high = LLVMBuildAdd(u->b, *base, LLVMBuildZExt(u->b, span, u->i64, ""), "");
    LLVMValueRef fits = is_signed
                            ? LLVMBuildICmp(u->b, LLVMIntSLE, high, number(u, 64, 0x7fffffff), "")
                            : LLVMBuildICmp(u->b, LLVMIntULE, high, number(u, 64, 0xffffffff), "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    mark_likely(LLVMBuildCondBr(u->b, fits, on, unit_leave(u, in->index, LEAVE_RETURN)), true);
    LLVMPositionBuilderAtEnd(u->b, on);
    LLVMValueRef more = LLVMBuildSub(u->b, from, splat(u, smallest, 32), "");
    *lanes = LLVMBuildZExt(u->b, more, u->v64, "");
}

static LLVMValueRef extend(struct unit *u, LLVMValueRef v, bool is_signed)
{
    return is_signed ? LLVMBuildSExt(u->b, v, u->i64, "") : LLVMBuildZExt(u->b, v, u->i64, "");
}

static bool widen_parts(struct unit *u, const struct ir_insn *in, enum form form, bool is_signed)
{
    LLVMValueRef base, lanes;
    const uint32_t a = is_affine(u, in->a) ? in->a : in->b, k = a == in->a ? in->b : in->a;
    if (!is_affine(u, a) || (form != FORM_WIDE && !is_uniform(u, k)))
        return false;
    widen(u, in, a, is_signed, &base, &lanes);
    if (form != FORM_WIDE) {
        LLVMValueRef by = extend(u, get_base(u, k, 32), is_signed);
        base = compute_scalar(u, IR_MUL_LO_64, 0, base, by, NULL);
        lanes = compute_vector(u, IR_MUL_LO_64, 0, lanes, splat(u, by, 64), NULL);
    }
    if (form == FORM_WIDE_PRODUCT_SUM) {
        base = compute_scalar(u, IR_ADD_64, 0, base, get_base(u, in->c, 64), NULL);
        lanes = compute_vector(u, IR_ADD_64, 0, lanes, get_lanes(u, in->c, 64), NULL);
    }
    set_parts(u, in, in->d, base, lanes);
    return true;
}

bool may_widen(struct unit *u, const struct ir_insn *in)
{
    bool is_signed;
    return form_of(in, &is_signed) >= FORM_WIDE && is_affine(u, in->d);
}

/* Computes an affine result from affine operands. @return false if the result is not affine */
static bool lane_parts(struct unit *u, const struct ir_insn *in, const int bits[FIELDS])
{
    bool is_signed;
    const enum form form = form_of(in, &is_signed);
    const enum ir_op op = (enum ir_op)in->op;
    uint32_t a = in->a, b = in->b;
    if (form == FORM_NONE || !is_affine(u, in->d))
        return false;
    if (form >= FORM_WIDE)
        return widen_parts(u, in, form, is_signed);
    if ((form == FORM_PRODUCT || form == FORM_PRODUCT_SUM) && is_uniform(u, a)) {
        a = in->b;
        b = in->a;
    }
    if ((form == FORM_PRODUCT || form == FORM_PRODUCT_SUM || form == FORM_SHIFT) &&
        !is_uniform(u, b))
        return false;
    LLVMValueRef bases[4] = {get_base(u, a, bits[1])}, lanes[4] = {get_lanes(u, a, bits[1])};
    if (bits[2]) {
        bases[1] = get_base(u, b, bits[2]);
        lanes[1] = form == FORM_SUM ? get_lanes(u, b, bits[2]) : splat(u, bases[1], bits[2]);
    }
    if (bits[3]) {
        bases[2] = get_base(u, in->c, bits[3]);
        lanes[2] = get_lanes(u, in->c, bits[3]);
    }
    set_parts(u, in, in->d, compute(u, op, in->mode, bases, false),
              compute(u, op, in->mode, lanes, true));
    return true;
}

static LLVMValueRef get_operand(struct unit *u, uint32_t offset, int bits, bool uniform,
                                bool any_nan)
{
    const bool raw = any_nan && bits == 32;
    return raw       ? get_number(u, offset, uniform)
           : uniform ? get_base(u, offset, bits)
                     : get_vector(u, offset, bits);
}

/* Divides 32-bit integers by a number that all lanes share. @return false: it is another instruction */
static bool divide_by_one(struct unit *u, const struct ir_insn *in)
{
    const char *name = in->op == IR_DIV_U32   ? "by_DIV_U32"
                       : in->op == IR_REM_U32 ? "by_REM_U32"
                       : in->op == IR_DIV_S32 ? "by_DIV_S32"
                       : in->op == IR_REM_S32 ? "by_REM_S32"
                                              : NULL;
    if (!name || is_uniform(u, in->a) || !is_uniform(u, in->b))
        return false;
    LLVMValueRef arguments[] = {variable(u, u->v32), variable(u, u->v32), get_base(u, in->b, 32)};
    store_to(u, get_vector(u, in->a, 32), arguments[1], u->v32);
    call_function(u, name, arguments, 3);
    set_parts(u, in, in->d, number(u, 32, 0), load_from(u, u->v32, arguments[0]));
    return true;
}

static void lane_row(struct unit *u, const struct ir_insn *in)
{
    int bits[FIELDS];
    row_bits(&u->native->services->rows[in->op], bits);
    const struct held *to = held_at(u, in->d);
    if (!to || lane_parts(u, in, bits) || (!to->uniform && divide_by_one(u, in)))
        return;
    const uint32_t offsets[4] = {in->a, in->b, in->c, in->e};
    const bool any_nan = is_number_row(in) || (to->any_nan && in->op == IR_MOV_32);
    LLVMValueRef from[4] = {NULL};
    for (int i = 0; i < 4; i++)
        if (bits[i + 1])
            from[i] = get_operand(u, offsets[i], bits[i + 1], to->uniform, any_nan);
    LLVMValueRef r = compute(u, (enum ir_op)in->op, in->mode | (to->any_nan ? NATIVE_ANY_NAN : 0),
                             from, !to->uniform);
    if (to->uniform)
        set_parts(u, in, in->d, r, NULL);
    else
        set_parts(u, in, in->d, number(u, to->bits, 0), r);
}

/* ---- predicates ------------------------------------------------------------------------------ */

static const struct compared {
    const char *name;
    int bits;
} compared[] = {
    [IR_SETP_S32 - IR_SETP_S32] = {"s32", 32},   [IR_SETP_U32 - IR_SETP_S32] = {"u32", 32},
    [IR_SETP_S16 - IR_SETP_S32] = {"s16", 32},   [IR_SETP_S64 - IR_SETP_S32] = {"s64", 64},
    [IR_SETP_U64 - IR_SETP_S32] = {"u64", 64},   [IR_SETP_F32 - IR_SETP_S32] = {"f32", 32},
    [IR_SETP_F64 - IR_SETP_S32] = {"f64", 64},   [IR_SETP_F16 - IR_SETP_S32] = {"f16", 32},
    [IR_SETP_BF16 - IR_SETP_S32] = {"bf16", 32},
};

/* @return a word with a bit for each lane in which a comparison holds. */
static LLVMValueRef compare(struct unit *u, const struct ir_insn *in)
{
    const struct compared *type = &compared[in->op - IR_SETP_S32];
    const bool ftz = in->op == IR_SETP_F32 && in->mode & MODE_FTZ;
    const bool same = is_uniform(u, in->a) && is_uniform(u, in->b);
    char name[64];
    snprintf(name, sizeof name, "compare_%s_%s", same ? "scalar" : "vector",
             ftz ? "ftz" : type->name);
    LLVMTypeRef from = kind_of(u, type->bits, !same), flags = kind_of(u, 32, !same);
    LLVMValueRef arguments[] = {variable(u, flags), variable(u, from), variable(u, from),
                                number(u, 32, in->compare)};
    const bool any_nan = in->op == IR_SETP_F32;
    store_to(u, get_operand(u, in->a, type->bits, same, any_nan), arguments[1], from);
    store_to(u, get_operand(u, in->b, type->bits, same, any_nan), arguments[2], from);
    call_function(u, name, arguments, 4);
    LLVMValueRef r = load_from(u, flags, arguments[0]);
    if (same)
        return r;
    return LLVMBuildBitCast(u->b, LLVMBuildICmp(u->b, LLVMIntNE, r, LLVMConstNull(u->v32), ""),
                            u->i32, "");
}

static LLVMValueRef combine(struct unit *u, const struct ir_insn *in, LLVMValueRef r)
{
    if (!in->boolean)
        return r;
    LLVMValueRef c = get_predicate(u, in->c);
    return in->boolean == BOOL_AND  ? LLVMBuildAnd(u->b, r, c, "")
           : in->boolean == BOOL_OR ? LLVMBuildOr(u->b, r, c, "")
                                    : LLVMBuildXor(u->b, r, c, "");
}

static void setp(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef r = compare(u, in), p = combine(u, in, r);
    struct held *second = held_at(u, in->e);
    LLVMValueRef q = NULL;
    if (second)
        q = guarded_predicate(u, in, in->e, combine(u, in, LLVMBuildNot(u->b, r, "")));
    set_predicate(u, in, in->d, p);
    if (second)
        set_read(u, second, q);
}

static LLVMValueRef logic(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef a = get_predicate(u, in->a);
    switch (in->op) {
    case IR_NOT_PRED:
        return LLVMBuildNot(u->b, a, "");
    case IR_AND_PRED:
        return LLVMBuildAnd(u->b, a, get_predicate(u, in->b), "");
    case IR_OR_PRED:
        return LLVMBuildOr(u->b, a, get_predicate(u, in->b), "");
    case IR_XOR_PRED:
        return LLVMBuildXor(u->b, a, get_predicate(u, in->b), "");
    default:
        return a;
    }
}

static void selp(struct unit *u, const struct ir_insn *in, int bits)
{
    LLVMValueRef c = get_predicate(u, in->c);
    if (!is_uniform(u, in->c)) {
        LLVMValueRef r = LLVMBuildSelect(u->b, bits_to_flags(u, c), get_vector(u, in->a, bits),
                                         get_vector(u, in->b, bits), "");
        set_parts(u, in, in->d, number(u, bits, 0), r);
        return;
    }
    LLVMValueRef when = LLVMBuildICmp(u->b, LLVMIntNE, c, number(u, 32, 0), "");
    set_parts(
        u, in, in->d,
        LLVMBuildSelect(u->b, when, get_base(u, in->a, bits), get_base(u, in->b, bits), ""),
        LLVMBuildSelect(u->b, when, get_lanes(u, in->a, bits), get_lanes(u, in->b, bits), ""));
}

/* ---- other instructions ---------------------------------------------------------------------- */

static bool translate_special(struct unit *u, const struct ir_insn *in)
{
    const enum ir_sreg which = (enum ir_sreg)in->sub;
    if (in->guard || in->bytes != 4)
        return false;
    if (is_of_lane(which)) {
        LLVMValueRef arguments[] = {u->warp, number(u, 32, which - SREG_TID_X)};
        LLVMValueRef v = load_from(u, u->v32, call_function(u, "native_tid", arguments, 2));
        LLVMSetAlignment(v, 4);
        set_parts(u, in, in->d, number(u, 32, 0), v);
        return true;
    }
    if (!is_steady(which) || !is_uniform(u, in->d))
        return false;
    LLVMValueRef arguments[] = {u->warp, number(u, 32, which)};
    set_parts(u, in, in->d, call_function(u, "native_special_register", arguments, 2), NULL);
    return true;
}

/* @return the part of a value that begins at a bit. */
static LLVMValueRef part_at(struct unit *u, LLVMValueRef v, int whole, unsigned first,
                            unsigned bits, bool same)
{
    LLVMTypeRef type = same ? u->i32 : u->v32;
    LLVMValueRef by = number(u, whole, first), keep = number(u, 32, (UINT64_C(1) << bits) - 1);
    v = LLVMBuildLShr(u->b, v, same ? by : splat(u, by, whole), "");
    if (whole == 64)
        v = LLVMBuildTrunc(u->b, v, type, "");
    return LLVMBuildAnd(u->b, v, same ? keep : splat(u, keep, 32), "");
}

static void set_value(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef v,
                      bool same)
{
    if (same)
        set_parts(u, in, offset, v, NULL);
    else if (held_at(u, offset))
        set_parts(u, in, offset, number(u, held_at(u, offset)->bits, 0), v);
}

static LLVMValueRef get_value(struct unit *u, uint32_t offset, int bits, bool same)
{
    return same ? get_base(u, offset, bits) : get_vector(u, offset, bits);
}

/* Cuts a value into parts of up to 32 bits. */
static void unpack(struct unit *u, const struct ir_insn *in)
{
    const uint32_t *const parts = u->f->extra + in->extra;
    const int whole = in->bytes * in->vector == 8 ? 64 : 32;
    const unsigned bits = 8u * in->bytes;
    LLVMValueRef from[2] = {get_value(u, in->a, whole, false), NULL};
    if (is_uniform(u, in->a))
        from[1] = get_value(u, in->a, whole, true);
    for (unsigned k = 0; k < in->vector; k++) {
        const bool same = is_uniform(u, parts[k]);
        if (held_at(u, parts[k]))
            set_value(u, in, parts[k], part_at(u, from[same], whole, bits * k, bits, same), same);
    }
}

/* Puts parts of up to 32 bits together. */
static void pack(struct unit *u, const struct ir_insn *in)
{
    const uint32_t *const parts = u->f->extra + in->extra;
    const int whole = in->bytes * in->vector == 8 ? 64 : 32;
    const unsigned bits = 8u * in->bytes;
    const bool same = is_uniform(u, in->d);
    LLVMTypeRef type = same ? type_of_bits(u, whole) : lanes_of_bits(u, whole);
    LLVMValueRef all = LLVMConstNull(type);
    for (unsigned k = 0; k < in->vector; k++) {
        LLVMValueRef v = part_at(u, get_value(u, parts[k], 32, same), 32, 0, bits, same);
        LLVMValueRef by = number(u, whole, bits * k);
        v = LLVMBuildShl(u->b, LLVMBuildZExtOrBitCast(u->b, v, type, ""),
                         same ? by : splat(u, by, whole), "");
        all = LLVMBuildOr(u->b, all, v, "");
    }
    set_value(u, in, in->d, all, same);
}

static LLVMValueRef start_of_window(struct unit *u, const struct ir_insn *in)
{
    const uint64_t window = in->space == PTX_SPACE_SHARED  ? VG_SHARED_BASE
                            : in->space == PTX_SPACE_LOCAL ? VG_LOCAL_BASE
                                                           : 0;
    return number(u, 64, in->mode & MODE_TO ? 0 - window : window);
}

/* Computes an address that is the same for all lanes. */
static void same_address(struct unit *u, const struct ir_insn *in, const char *start)
{
    LLVMValueRef at = call_function(u, start, &u->warp, 1);
    at = LLVMBuildAdd(u->b, at, number(u, 64, (uint64_t)in->imm), "");
    set_parts(u, in, in->d, in->bytes == 8 ? at : LLVMBuildTrunc(u->b, at, u->i32, ""), NULL);
}

bool lanes_translate(struct unit *u, const struct ir_insn *in)
{
    switch (in->op) {
    case IR_MOV_PRED:
    case IR_NOT_PRED:
    case IR_AND_PRED:
    case IR_OR_PRED:
    case IR_XOR_PRED:
        set_predicate(u, in, in->d, logic(u, in));
        return true;
    case IR_SELP_32:
        selp(u, in, 32);
        return true;
    case IR_SELP_64:
        selp(u, in, 64);
        return true;
    case IR_PACK:
        pack(u, in);
        return true;
    case IR_UNPACK:
        unpack(u, in);
        return true;
    case IR_SREG:
        return translate_special(u, in);
    case IR_CVTA:
        set_parts(u, in, in->d,
                  LLVMBuildAdd(u->b, get_base(u, in->a, 64), start_of_window(u, in), ""),
                  get_lanes(u, in->a, 64));
        return true;
    case IR_LOCAL_ADDRESS:
        same_address(u, in, "native_local_base");
        return true;
    case IR_DYNAMIC_SHARED:
        same_address(u, in, "native_dynamic_start");
        return true;
    default:
        break;
    }
    if (ptx_is_compare(in))
        setp(u, in);
    else if (u->native->services->rows[in->op].is_lane)
        lane_row(u, in);
    else
        return false;
    return true;
}
