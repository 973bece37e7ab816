/* LLVM values: of registers and numbers; calls of functions. */
#include "vgpu/native/unit.h"

#include "vgpu/exec/warp_size.h"
#include "vgpu/native/bodies.h"

#include <string.h>

struct held *held_at(struct unit *u, uint32_t offset)
{
    const uint32_t slot = offset ? u->flow->slot_of[offset / 4] : 0;
    return slot ? &u->held[slot - 1] : NULL;
}

bool is_uniform(struct unit *u, uint32_t offset)
{
    const struct held *h = held_at(u, offset);
    return !h || h->uniform;
}

bool is_affine(struct unit *u, uint32_t offset)
{
    const struct held *h = held_at(u, offset);
    return h && !h->uniform && h->affine;
}

LLVMTypeRef type_of_bits(struct unit *u, int bits)
{
    return bits == 64 ? u->i64 : u->i32;
}

LLVMTypeRef lanes_of_bits(struct unit *u, int bits)
{
    return bits == 64 ? u->v64 : u->v32;
}

LLVMValueRef number(struct unit *u, int bits, uint64_t value)
{
    return LLVMConstInt(type_of_bits(u, bits), value, false);
}

LLVMValueRef variable(struct unit *u, LLVMTypeRef type)
{
    LLVMValueRef v = LLVMBuildAlloca(u->at_entry, type, "");
    LLVMSetAlignment(v, 64);
    return v;
}

LLVMValueRef splat(struct unit *u, LLVMValueRef scalar, int bits)
{
    if (LLVMIsConstant(scalar)) {
        LLVMValueRef all[VG_LANES];
        for (int i = 0; i < VG_LANES; i++)
            all[i] = scalar;
        return LLVMConstVector(all, VG_LANES);
    }
    LLVMTypeRef type = lanes_of_bits(u, bits);
    LLVMValueRef one =
        LLVMBuildInsertElement(u->b, LLVMGetPoison(type), scalar, number(u, 32, 0), "");
    return LLVMBuildShuffleVector(u->b, one, LLVMGetPoison(type), LLVMConstNull(u->v32), "");
}

LLVMValueRef address_of(struct unit *u, const void *at)
{
    const struct ir_insn *first = u->f->insns, *in = at;
    if (in < first || in > first + u->f->insn_count)
        return address_table_load(u->addresses, u->b, at);
    LLVMValueRef begin = address_table_load(u->addresses, u->b, first);
    LLVMValueRef offset = number(u, 64, (uint64_t)((const char *)in - (const char *)first));
    return LLVMBuildGEP2(u->b, u->i8, begin, &offset, 1, "");
}

LLVMValueRef pointer_to(struct unit *u, LLVMTypeRef type, LLVMValueRef pointer)
{
    return LLVMBuildBitCast(u->b, pointer, LLVMPointerType(type, 0), "");
}

LLVMValueRef load_from(struct unit *u, LLVMTypeRef type, LLVMValueRef from)
{
    return LLVMBuildLoad2(u->b, type, pointer_to(u, type, from), "");
}

void store_to(struct unit *u, LLVMValueRef value, LLVMValueRef to, LLVMTypeRef type)
{
    LLVMBuildStore(u->b, value, pointer_to(u, type, to));
}

void add_attribute(LLVMValueRef function, const char *name, const char *value)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    const unsigned n = (unsigned)strlen(name),
                   kind = value ? 0 : LLVMGetEnumAttributeKindForName(name, n);
    if (value)
        LLVMAddAttributeAtIndex(
            function, LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(context, name, n, value, (unsigned)strlen(value)));
    else if (kind)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(context, kind, 0));
}

void add_call_attribute(LLVMValueRef call, LLVMAttributeIndex of, const char *name, uint64_t value)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddCallSiteAttribute(call, of, LLVMCreateEnumAttribute(context, kind, value));
}

/* ---- calls ----------------------------------------------------------------------------------- */

LLVMValueRef call_function(struct unit *u, const char *name, LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    LLVMTypeRef type = LLVMGlobalGetValueType(f), want[8];
    LLVMValueRef given[8];
    LLVMGetParamTypes(type, want);
    for (unsigned i = 0; i < n; i++) {
        given[i] = arguments[i];
        if (LLVMGetTypeKind(want[i]) == LLVMPointerTypeKind)
            given[i] = LLVMBuildBitCast(u->b, arguments[i], want[i], "");
    }
    return LLVMBuildCall2(u->b, type, f, given, n, "");
}

LLVMValueRef call_address(struct unit *u, const void *function, LLVMTypeRef type,
                          LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef f = pointer_to(u, type, address_table_load(u->addresses, u->b, function));
    return LLVMBuildCall2(u->b, type, f, arguments, n, "");
}

LLVMValueRef call_intrinsic(struct unit *u, const char *name, LLVMTypeRef *types, size_t type_count,
                            LLVMValueRef *arguments, unsigned n)
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(u->module, id, types, type_count);
    return LLVMBuildCall2(u->b, LLVMIntrinsicGetType(u->context, id, types, type_count), f,
                          arguments, n, "");
}

void mark_likely(LLVMValueRef branch, bool is_first)
{
    LLVMContextRef context = LLVMGetModuleContext(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(branch))));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef parts[] = {
        LLVMMDStringInContext2(context, "branch_weights", strlen("branch_weights")),
        LLVMValueAsMetadata(LLVMConstInt(i32, is_first ? 2000 : 1, false)),
        LLVMValueAsMetadata(LLVMConstInt(i32, is_first ? 1 : 2000, false))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
}

/* ---- homes ----------------------------------------------------------------------------------- */

static LLVMValueRef place_in(struct unit *u, LLVMValueRef room, uint32_t offset)
{
    LLVMValueRef at = number(u, 64, offset);
    return LLVMBuildGEP2(u->b, u->i8, room, &at, 1, "");
}

static LLVMValueRef home(struct unit *u, uint32_t offset, bool is_own)
{
    return place_in(u, is_own ? u->own_room : u->room, offset);
}

unsigned homes_kind(LLVMContextRef context)
{
    return LLVMGetMDKindIDInContext(context, "alias.scope", 11);
}

unsigned others_kind(LLVMContextRef context)
{
    return LLVMGetMDKindIDInContext(context, "noalias", 7);
}

static LLVMValueRef load_home(struct unit *u, LLVMTypeRef type, uint32_t offset, bool is_own)
{
    LLVMValueRef v = load_from(u, type, home(u, offset, is_own));
    LLVMSetMetadata(v, homes_kind(u->context), u->homes);
    return v;
}

static void store_home(struct unit *u, LLVMTypeRef type, uint32_t offset, LLVMValueRef value,
                       unsigned alignment, bool is_own)
{
    LLVMValueRef v = LLVMBuildStore(u->b, value, pointer_to(u, type, home(u, offset, is_own)));
    LLVMSetMetadata(v, homes_kind(u->context), u->homes);
    LLVMSetAlignment(v, alignment);
}

static LLVMValueRef base_of(struct unit *u, struct held *h)
{
    if (!h->base)
        h->base = load_home(u, type_of_bits(u, h->bits), h->base_home, false);
    return h->base;
}

static LLVMValueRef lanes_of(struct unit *u, struct held *h)
{
    if (!h->lanes) {
        h->lanes = load_home(u, lanes_of_bits(u, h->bits), h->offset, h->any_nan);
        LLVMSetAlignment(h->lanes, 64);
    }
    return h->lanes;
}

/* Sets a register's base. (In blocks where lanes wait, only predicates and uniform registers have
 * one.) */
static void set_base(struct unit *u, struct held *h, LLVMValueRef value)
{
    if (u->inside != NO_REGION && h->blends) {
        LLVMValueRef mask = mask_of(u), old = base_of(u, h);
        value = LLVMBuildOr(u->b, LLVMBuildAnd(u->b, value, mask, ""),
                            LLVMBuildAnd(u->b, old, LLVMBuildNot(u->b, mask, ""), ""), "");
    }
    h->base = value;
    if (h->has_home)
        store_home(u, type_of_bits(u, h->bits), h->base_home, value, 4, false);
}

static void set_lanes(struct unit *u, struct held *h, LLVMValueRef value)
{
    if (u->inside != NO_REGION && h->blends)
        value = LLVMBuildSelect(u->b, mask_flags(u), value, lanes_of(u, h), "");
    h->lanes = value;
    if (h->has_home)
        store_home(u, lanes_of_bits(u, h->bits), h->offset, value, 64, h->any_nan);
}

/* ---- the mask -------------------------------------------------------------------------------- */

LLVMValueRef mask_of(struct unit *u)
{
    return load_from(u, u->i32, u->mask);
}

LLVMValueRef mask_flags(struct unit *u)
{
    return bits_to_flags(u, mask_of(u));
}

static LLVMValueRef mask_lead(struct unit *u)
{
    LLVMValueRef arguments[] = {mask_of(u), LLVMConstInt(u->i1, 1, false)};
    return call_intrinsic(u, "llvm.cttz", &u->i32, 1, arguments, 2);
}

LLVMValueRef mask_threads(struct unit *u)
{
    LLVMValueRef mask = mask_of(u);
    return call_intrinsic(u, "llvm.ctpop", &u->i32, 1, &mask, 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Does what lane_nan_f32() does in the rows: replaces any NaN by the GPU's. */
static LLVMValueRef with_one_nan(struct unit *u, LLVMValueRef v, bool is_vector)
{
    LLVMTypeRef one = LLVMFloatTypeInContext(u->context),
                type = is_vector ? LLVMVectorType(one, VG_LANES) : one;
    LLVMValueRef nan = number(u, 32, 0x7fffffff), x = LLVMBuildBitCast(u->b, v, type, "");
    LLVMValueRef is_number = LLVMBuildFCmp(u->b, LLVMRealORD, x, LLVMConstNull(type), "");
    return LLVMBuildSelect(u->b, is_number, v, is_vector ? splat(u, nan, 32) : nan, "");
}

LLVMValueRef get_base(struct unit *u, uint32_t offset, int bits)
{
    struct held *h = held_at(u, offset);
    if (!h || (!h->uniform && !h->affine))
        return number(u, bits, 0);
    return h->any_nan ? with_one_nan(u, base_of(u, h), false) : base_of(u, h);
}

LLVMValueRef get_lanes(struct unit *u, uint32_t offset, int bits)
{
    struct held *h = held_at(u, offset);
    if (!h || h->uniform)
        return LLVMConstNull(lanes_of_bits(u, bits));
    return h->any_nan ? with_one_nan(u, lanes_of(u, h), true) : lanes_of(u, h);
}

LLVMValueRef get_number(struct unit *u, uint32_t offset, bool uniform)
{
    struct held *h = held_at(u, offset);
    if (!h || !h->any_nan)
        return uniform ? get_base(u, offset, 32) : get_vector(u, offset, 32);
    if (!h->uniform)
        return lanes_of(u, h);
    return uniform ? base_of(u, h) : splat(u, base_of(u, h), 32);
}

LLVMValueRef get_vector(struct unit *u, uint32_t offset, int bits)
{
    const struct held *h = held_at(u, offset);
    if (!h || h->uniform)
        return splat(u, get_base(u, offset, bits), bits);
    LLVMValueRef lanes = get_lanes(u, offset, bits);
    return h->affine ? LLVMBuildAdd(u->b, splat(u, get_base(u, offset, bits), bits), lanes, "")
                     : lanes;
}

LLVMValueRef get_predicate(struct unit *u, uint32_t offset)
{
    struct held *h = held_at(u, offset);
    return h ? base_of(u, h) : number(u, 32, 0);
}

LLVMValueRef bits_to_flags(struct unit *u, LLVMValueRef bits)
{
    return flags_of_bits(u->b, bits, VG_LANES, native_has_masks(u->native));
}

LLVMValueRef guard_bits(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef p = get_predicate(u, in->guard);
    return in->guard_not ? LLVMBuildNot(u->b, p, "") : p;
}

/* ---- writing --------------------------------------------------------------------------------- */

static LLVMValueRef is_not_zero(struct unit *u, LLVMValueRef bits)
{
    return LLVMBuildICmp(u->b, LLVMIntNE, bits, number(u, 32, 0), "");
}

void set_parts(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef base,
               LLVMValueRef lanes)
{
    struct held *h = held_at(u, offset);
    if (!h)
        return;
    const bool guarded = in->guard != 0, same = guarded && is_uniform(u, in->guard);
    if (!lanes)
        lanes = LLVMConstNull(lanes_of_bits(u, h->bits));
    LLVMValueRef when = same ? is_not_zero(u, guard_bits(u, in)) : NULL;
    if (h->uniform) {
        if (guarded)
            base = LLVMBuildSelect(u->b, when, base, get_base(u, offset, h->bits), "");
        set_base(u, h, base);
        return;
    }
    if (!h->affine || (guarded && !same)) { /* (the lanes hold the whole value) */
        lanes = LLVMBuildAdd(u->b, splat(u, base, h->bits), lanes, "");
        base = number(u, h->bits, 0);
    }
    if (guarded && !same)
        lanes = LLVMBuildSelect(u->b, bits_to_flags(u, guard_bits(u, in)), lanes,
                                get_vector(u, offset, h->bits), "");
    if (same) {
        lanes = LLVMBuildSelect(u->b, when, lanes, get_lanes(u, offset, h->bits), "");
        base = LLVMBuildSelect(u->b, when, base, get_base(u, offset, h->bits), "");
    }
    if (h->affine)
        set_base(u, h, base);
    set_lanes(u, h, lanes);
}

LLVMValueRef guarded_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset,
                               LLVMValueRef bits)
{
    if (!in->guard)
        return bits;
    LLVMValueRef g = guard_bits(u, in), old = get_predicate(u, offset);
    return LLVMBuildOr(u->b, LLVMBuildAnd(u->b, bits, g, ""),
                       LLVMBuildAnd(u->b, old, LLVMBuildNot(u->b, g, ""), ""), "");
}

void set_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef bits)
{
    struct held *h = held_at(u, offset);
    if (h)
        set_base(u, h, guarded_predicate(u, in, offset, bits));
}

/* ---- the frame ------------------------------------------------------------------------------- */

LLVMValueRef frame_place(struct unit *u, uint32_t offset)
{
    return place_in(u, u->registers, offset);
}

/* Writes only the fragment's lanes: the other lanes may be elsewhere, with other values. */
void write_back(struct unit *u, struct held *h)
{
    if (!h->bits || h->constant)
        return;
    LLVMValueRef at = frame_place(u, h->offset);
    if (h->bits == 1) {
        LLVMValueRef old = load_from(u, u->i32, at), mask = mask_of(u);
        LLVMValueRef bits =
            LLVMBuildOr(u->b, LLVMBuildAnd(u->b, old, LLVMBuildNot(u->b, mask, ""), ""),
                        LLVMBuildAnd(u->b, get_predicate(u, h->offset), mask, ""), "");
        store_to(u, bits, at, u->i32);
        return;
    }
    LLVMTypeRef type = lanes_of_bits(u, h->bits);
    LLVMTypeRef types[] = {type, LLVMPointerType(type, 0)};
    LLVMValueRef lanes = get_vector(u, h->offset, h->bits);
    if (!native_has_masks(u->native)) { /* masked stores are slow on some processors */
        LLVMValueRef old = load_from(u, type, at);
        LLVMSetAlignment(old, 64);
        lanes = LLVMBuildSelect(u->b, mask_flags(u), lanes, old, "");
        LLVMSetAlignment(LLVMBuildStore(u->b, lanes, pointer_to(u, type, at)), 64);
        return;
    }
    LLVMValueRef arguments[] = {lanes, pointer_to(u, type, at), number(u, 32, 64), mask_flags(u)};
    call_intrinsic(u, "llvm.masked.store", types, 2, arguments, 4);
}

LLVMValueRef read_frame(struct unit *u, const struct held *h)
{
    LLVMValueRef at = frame_place(u, h->offset);
    if (h->bits == 1)
        return load_from(u, u->i32, at);
    if (h->uniform) {
        LLVMTypeRef type = type_of_bits(u, h->bits);
        LLVMValueRef lane = LLVMBuildZExt(u->b, mask_lead(u), u->i64, "");
        at = LLVMBuildGEP2(u->b, type, pointer_to(u, type, at), &lane, 1, "");
        return load_from(u, type, at);
    }
    LLVMValueRef v = load_from(u, lanes_of_bits(u, h->bits), at);
    LLVMSetAlignment(v, 64);
    return v;
}

void set_read(struct unit *u, struct held *h, LLVMValueRef value)
{
    if (h->bits == 1 || h->uniform) {
        set_base(u, h, value);
        return;
    }
    if (h->affine)
        set_base(u, h, number(u, h->bits, 0));
    set_lanes(u, h, value);
}

void store_at_home(struct unit *u, const struct held *h)
{
    if (h->has_home || !h->bits || h->constant)
        return;
    if (h->base)
        store_home(u, type_of_bits(u, h->bits), h->base_home, h->base, 4, false);
    if (h->lanes)
        store_home(u, lanes_of_bits(u, h->bits), h->offset, h->lanes, 64, h->any_nan);
}

void store_parts(struct unit *u, const struct saved_register *r, LLVMValueRef room)
{
    struct held *h = held_at(u, r->offset);
    if (r->has_base)
        store_to(u, base_of(u, h), place_in(u, room, r->base), type_of_bits(u, h->bits));
    if (r->has_lanes) {
        LLVMTypeRef type = lanes_of_bits(u, h->bits);
        LLVMValueRef lanes = lanes_of(u, h), at = place_in(u, room, r->lanes);
        LLVMSetAlignment(LLVMBuildStore(u->b, lanes, pointer_to(u, type, at)), 64);
    }
}

void set_stored(struct unit *u, const struct saved_register *r, LLVMValueRef room)
{
    struct held *h = held_at(u, r->offset);
    if (r->has_base)
        set_base(u, h, load_from(u, type_of_bits(u, h->bits), place_in(u, room, r->base)));
    if (r->has_lanes) {
        LLVMValueRef lanes = load_from(u, lanes_of_bits(u, h->bits), place_in(u, room, r->lanes));
        LLVMSetAlignment(lanes, 64);
        set_lanes(u, h, lanes);
    }
}
