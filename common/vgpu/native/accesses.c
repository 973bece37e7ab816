/* Loads and stores. Functions of the bitcode (access_functions.c) check, count and move; this file
 * chooses the functions and their arguments. The interpreter executes all invalid accesses. */
#include "vgpu/native/unit.h"

#include "vgpu/exec/access_sites.h"
#include "vgpu/native/shapes.h"
#include "vgpu/native/spans.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdio.h>

/* @return the part of an address that all lanes share: a base, and the offset in the
 * instruction. */
static LLVMValueRef common_address(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef at = number(u, 64, (uint64_t)in->imm);
    if (in->fixed_address) {
        if (in->local_frame)
            at = LLVMBuildAdd(u->b, at, call_function(u, "native_local_base", &u->warp, 1), "");
        if (in->shared_dynamic)
            at = LLVMBuildAdd(u->b, at, call_function(u, "native_dynamic_start", &u->warp, 1), "");
        return at;
    }
    if (in->wide_address)
        return LLVMBuildAdd(u->b, get_base(u, in->a, 64), at, "");
    LLVMValueRef low =
        LLVMBuildAdd(u->b, get_base(u, in->a, 32), number(u, 32, (uint32_t)in->imm), "");
    return LLVMBuildZExt(u->b, low, u->i64, "");
}

/* Looks up a shape. LLVM sees a function that depends only on its operands, so it may call the
 * function before a loop, or once for several accesses. */
static LLVMValueRef find_shape(struct unit *u, LLVMValueRef lanes, int bits, uint32_t size)
{
    LLVMValueRef arguments[3 + 8] = {u->worker, mask_of(u), number(u, 32, size)};
    const char *name = bits == 64 ? "native_shape_wide" : "native_shape_narrow";
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    LLVMTypeRef type = LLVMGlobalGetValueType(f), types[3 + 8];
    const unsigned n = LLVMCountParamTypes(type);
    LLVMGetParamTypes(type, types);
    const unsigned parts = n - 3, each = VG_LANES / parts;
    for (unsigned k = 0; k < parts; k++) {
        LLVMValueRef which[VG_LANES];
        for (unsigned i = 0; i < each; i++)
            which[i] = number(u, 32, k * each + i);
        arguments[3 + k] = LLVMBuildShuffleVector(u->b, lanes, LLVMGetPoison(LLVMTypeOf(lanes)),
                                                  LLVMConstVector(which, each), "");
    }
    return LLVMBuildCall2(u->b, type, f, arguments, n, "");
}

struct place access_place(struct unit *u, const struct ir_insn *in)
{
    struct place p = {common_address(u, in), NULL};
    const int bits = in->wide_address ? 64 : 32;
    if (in->fixed_address || is_uniform(u, in->a))
        return p;
    LLVMValueRef found = find_shape(u, get_lanes(u, in->a, bits), bits, 4 * access_words(in));
    p.shape = LLVMBuildExtractValue(u->b, found, 0, "");
    p.first = LLVMBuildAdd(u->b, p.first, LLVMBuildExtractValue(u->b, found, 1, ""), "");
    if (bits == 32)
        p.first = LLVMBuildAnd(u->b, p.first, number(u, 64, 0xffffffffu), "");
    return p;
}

LLVMValueRef access_shape_of_one(struct unit *u, uint32_t n)
{
    return LLVMBuildExtractValue(u->b, find_shape(u, LLVMConstNull(u->v32), 32, 4 * n), 0, "");
}

bool access_is(const struct unit *u, const struct ir_insn *in, enum vg_site_kind kind)
{
    return u->kinds && u->kinds[in->site] == kind;
}

bool access_is_known(const struct unit *u, const struct ir_insn *in)
{
    return u->kinds && u->kinds[in->site] != VG_SITE_UNKNOWN;
}

static const char *way_of(const struct unit *u, const struct ir_insn *in)
{
    return access_is(u, in, VG_SITE_ROWS) ? "ROWS" : "ANY";
}

LLVMValueRef access_site(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef at = number(u, 64, in->site * sizeof(struct vg_site));
    return LLVMBuildGEP2(u->b, u->i8, u->sites, &at, 1, "");
}

/* The two paths of an access: its inline code for valid accesses, and its handler for others. */
struct ways {
    LLVMBasicBlockRef quick, slow, on;
};

/* Calls the handler for an invalid access. The builder then continues with the code for valid
 * accesses. */
static struct ways or_step(struct unit *u, const struct ir_insn *in, LLVMValueRef done)
{
    struct ways w;
    struct known *before = known_copy(u);
    w.quick = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    w.slow = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    w.on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    mark_likely(LLVMBuildCondBr(u->b, done, w.quick, w.slow), true);
    LLVMPositionBuilderAtEnd(u->b, w.slow);
    unit_step(u, in, true);
    known_set(u, before);
    known_free(before);
    return w;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static LLVMValueRef word_of(struct unit *u, LLVMValueRef words, uint32_t i, bool same)
{
    LLVMTypeRef type = same ? u->i32 : u->v32;
    LLVMValueRef at = number(u, 64, i);
    return LLVMBuildLoad2(u->b, type,
                          LLVMBuildGEP2(u->b, type, pointer_to(u, type, words), &at, 1, ""), "");
}

static void set_word(struct unit *u, LLVMValueRef words, uint32_t i, LLVMValueRef value)
{
    LLVMValueRef at = number(u, 64, i);
    LLVMBuildStore(u->b, value,
                   LLVMBuildGEP2(u->b, u->v32, pointer_to(u, u->v32, words), &at, 1, ""));
}

/* @return element e of each lane, from the loaded words; extended, if its register is wider. */
static LLVMValueRef element_of(struct unit *u, const struct ir_insn *in, LLVMValueRef words,
                               uint32_t e, bool same, uint32_t bits)
{
    LLVMTypeRef type = same ? u->i64 : u->v64;
    if (is_narrow_load(u, in)) {
        LLVMValueRef above = splat(u, number(u, 32, 32 - 8u * in->bytes), 32);
        LLVMValueRef v =
            LLVMBuildLShr(u->b, word_of(u, words, 0, false), word_of(u, words, 1, false), "");
        v = LLVMBuildShl(u->b, v, above, "");
        const bool is_signed = in->type == PTX_TYPE_s8 || in->type == PTX_TYPE_s16;
        v = is_signed ? LLVMBuildAShr(u->b, v, above, "") : LLVMBuildLShr(u->b, v, above, "");
        return is_signed && ptx_type_bytes((enum ptx_type)in->type2) == 2
                   ? LLVMBuildAnd(u->b, v, splat(u, number(u, 32, 0xffff), 32), "")
                   : v;
    }
    if (in->bytes == 4) {
        LLVMValueRef v = word_of(u, words, e, same);
        return bits != 64                 ? v
               : in->type == PTX_TYPE_s32 ? LLVMBuildSExt(u->b, v, type, "")
                                          : LLVMBuildZExt(u->b, v, type, "");
    }
    LLVMValueRef low = LLVMBuildZExt(u->b, word_of(u, words, 2 * e, same), type, "");
    LLVMValueRef high = LLVMBuildZExt(u->b, word_of(u, words, 2 * e + 1, same), type, "");
    LLVMValueRef by = same ? number(u, 64, 32) : splat(u, number(u, 64, 32), 64);
    return LLVMBuildOr(u->b, low, LLVMBuildShl(u->b, high, by, ""), "");
}

/* The elements of 1 or 2 bytes that an access loads. */
struct narrow {
    LLVMValueRef at, low; /* addresses; their lower 32 bits */
    LLVMValueRef words;   /* variable: [0] words that contain the elements, [1] the bits below */
};

static LLVMValueRef splat_32(struct unit *u, uint32_t value)
{
    return splat(u, number(u, 32, value), 32);
}

/* @return a mask of the lanes for which a comparison holds. */
static LLVMValueRef lanes_where(struct unit *u, LLVMIntPredicate how, LLVMValueRef a,
                                LLVMValueRef b)
{
    return LLVMBuildBitCast(u->b, LLVMBuildICmp(u->b, how, a, b, ""), u->i32, "");
}

/* @return whether all lanes are active, and the elements of lanes 0 to 15 are neighbours, and those
 * of lanes 16 to 31. */
static LLVMValueRef is_in_rows(struct unit *u, const struct ir_insn *in, const struct narrow *n)
{
    LLVMValueRef first[VG_LANES], more[VG_LANES];
    for (unsigned i = 0; i < VG_LANES; i++) {
        first[i] = number(u, 32, i / 16 * 16);
        more[i] = number(u, 32, i % 16 * in->bytes);
    }
    LLVMValueRef want = LLVMBuildShuffleVector(u->b, n->low, LLVMGetPoison(u->v32),
                                               LLVMConstVector(first, VG_LANES), "");
    want = LLVMBuildAdd(u->b, want, LLVMConstVector(more, VG_LANES), "");
    LLVMValueRef are = lanes_where(u, LLVMIntEQ, n->low, want);
    return LLVMBuildICmp(u->b, LLVMIntEQ, LLVMBuildAnd(u->b, are, mask_of(u), ""),
                         number(u, 32, VG_FULL), "");
}

static LLVMValueRef load_narrow_rows(struct unit *u, const struct ir_insn *in,
                                     const struct narrow *n)
{
    set_word(u, n->words, 1, LLVMConstNull(u->v32));
    LLVMValueRef arguments[] = {n->words,
                                u->warp,
                                access_site(u, in),
                                LLVMBuildExtractElement(u->b, n->low, number(u, 32, 0), ""),
                                LLVMBuildExtractElement(u->b, n->low, number(u, 32, 16), ""),
                                number(u, 32, in->number)};
    return call_function(u, "native_load_shared_halves", arguments, 6);
}

/* Loads the words that contain the elements. If an element is misaligned, so is the address of the
 * words, and the access is not valid. */
static LLVMValueRef load_narrow_words(struct unit *u, const struct ir_insn *in,
                                      const struct narrow *n)
{
    const int bits = in->wide_address ? 64 : 32;
    const bool shared = is_of_shared(in);
    LLVMValueRef below = LLVMBuildAnd(u->b, n->low, splat_32(u, 3), "");
    set_word(u, n->words, 1, LLVMBuildShl(u->b, below, splat_32(u, 3), ""));
    LLVMValueRef keep = splat(u, number(u, bits, ~UINT64_C(3)), bits);
    LLVMValueRef found = find_shape(u, LLVMBuildAnd(u->b, n->at, keep, ""), bits, sizeof(uint32_t));
    LLVMValueRef first = LLVMBuildExtractValue(u->b, found, 1, "");
    if (bits == 32)
        first = LLVMBuildAnd(u->b, first, number(u, 64, 0xffffffffu), "");
    LLVMValueRef odd = LLVMBuildAnd(u->b, n->low, splat_32(u, in->bytes - 1u), "");
    odd = LLVMBuildAnd(u->b, lanes_where(u, LLVMIntNE, odd, LLVMConstNull(u->v32)), mask_of(u), "");
    odd = LLVMBuildICmp(u->b, LLVMIntNE, odd, number(u, 32, 0), "");
    first = LLVMBuildOr(u->b, first, LLVMBuildZExt(u->b, odd, u->i64, ""), "");
    LLVMValueRef arguments[9] = {n->words, shared ? u->warp : u->memory, access_site(u, in),
                                 LLVMBuildExtractValue(u->b, found, 0, ""), first};
    if (!shared)
        return call_function(u, "native_load_global_1_ANY", arguments, 5);
    LLVMValueRef lanes = variable(u, u->v32);
    store_to(u, n->low, lanes, u->v32);
    arguments[5] = mask_of(u);
    arguments[6] = number(u, 32, in->number);
    arguments[7] = lanes;
    arguments[8] = number(u, 32, in->bytes);
    return call_function(u, "native_load_shared_narrow", arguments, 9);
}

/* @return whether the access was valid */
static LLVMValueRef load_narrow(struct unit *u, const struct ir_insn *in, LLVMValueRef words)
{
    const int bits = in->wide_address ? 64 : 32;
    LLVMValueRef by = splat(u, number(u, bits, (uint64_t)in->imm), bits);
    struct narrow n = {.at = LLVMBuildAdd(u->b, get_vector(u, in->a, bits), by, ""),
                       .words = words};
    n.low = bits == 64 ? LLVMBuildTrunc(u->b, n.at, u->v32, "") : n.at;
    if (in->bytes != 2 || !is_of_shared(in) || bits != 32)
        return load_narrow_words(u, in, &n);
    LLVMBasicBlockRef from[2] = {LLVMAppendBasicBlockInContext(u->context, u->code, ""),
                                 LLVMAppendBasicBlockInContext(u->context, u->code, "")};
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef done[2];
    LLVMBuildCondBr(u->b, is_in_rows(u, in, &n), from[0], from[1]);
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(u->b, from[i]);
        done[i] = (i == 0 ? load_narrow_rows : load_narrow_words)(u, in, &n);
        from[i] = LLVMGetInsertBlock(u->b);
        LLVMBuildBr(u->b, on);
    }
    LLVMPositionBuilderAtEnd(u->b, on);
    LLVMValueRef valid = LLVMBuildPhi(u->b, LLVMTypeOf(done[0]), "");
    LLVMAddIncoming(valid, done, from, 2);
    return valid;
}

/* Loads an access that is not part of a span. @return whether it was valid */
static LLVMValueRef load_alone(struct unit *u, const struct ir_insn *in, LLVMValueRef words)
{
    if (is_narrow_load(u, in))
        return load_narrow(u, in, words);
    const uint32_t n = access_words(in);
    const struct place p = access_place(u, in);
    const bool same = !p.shape, shared = is_of_shared(in);
    LLVMValueRef arguments[8] = {words, shared ? u->warp : u->memory, access_site(u, in)};
    unsigned count = 3;
    if (is_padded_load(in) && !same) {
        arguments[count++] = p.shape;
        arguments[count++] = p.first;
        arguments[count++] = number(u, 32, in->number);
        arguments[count++] = number(u, 32, (~in->unread & 0xf) * 0x1111u);
        return call_function(u, "native_load_shared_padded", arguments, count);
    }
    char name[64];
    snprintf(name, sizeof name, "native_load_%s_%u_%s",
             !shared                 ? "global"
             : is_of_strong_read(in) ? "strong"
                                     : "shared",
             n, same ? "SAME" : way_of(u, in));
    if (!same)
        arguments[count++] = p.shape;
    else if (shared)
        arguments[count++] = access_shape_of_one(u, n);
    arguments[count++] = p.first;
    if (shared && !same)
        arguments[count++] = mask_of(u);
    if (shared)
        arguments[count++] = number(u, 32, in->number);
    return call_function(u, name, arguments, count);
}

/* Leaves the unit after the handler of a load if the warp holds unwritten bytes. */
static void leave_after(struct unit *u, const struct ir_insn *in, struct held *const to[4],
                        LLVMValueRef stepped[4])
{
    struct known *before = known_copy(u);
    for (uint32_t e = 0; e < in->vector; e++)
        if (to[e])
            set_read(u, to[e], stepped[e]);
    leave_if_copying(u, in->index + 1);
    known_set(u, before);
    known_free(before);
}

static void load(struct unit *u, const struct ir_insn *in)
{
    const bool narrow = is_narrow_load(u, in);
    const bool same =
        u->span ? span_is_same(u, in) : !narrow && (in->fixed_address || is_uniform(u, in->a));
    LLVMValueRef words =
        variable(u, LLVMArrayType(same ? u->i32 : u->v32, narrow ? 2 : access_words(in)));
    LLVMValueRef got[4], stepped[4];
    struct held *to[4];
    struct ways w = {0};
    for (uint32_t e = 0; e < in->vector; e++)
        to[e] = held_at(u, ptx_element_slot(u->f, in, e, in->d));
    if (u->span) {
        span_load(u, in, words);
    } else {
        w = or_step(u, in, load_alone(u, in, words));
        for (uint32_t e = 0; e < in->vector; e++)
            stepped[e] = to[e] ? read_frame(u, to[e]) : NULL;
        if (is_followed_load(in))
            leave_after(u, in, to, stepped);
        w.slow = LLVMGetInsertBlock(u->b);
        LLVMBuildBr(u->b, w.on);
        LLVMPositionBuilderAtEnd(u->b, w.quick);
    }
    for (uint32_t e = 0; e < in->vector; e++) {
        got[e] = element_of(u, in, words, e, same, to[e] ? to[e]->bits : 0);
        if (same && to[e] && !to[e]->uniform)
            got[e] = splat(u, got[e], to[e]->bits);
    }
    if (!u->span) {
        LLVMBuildBr(u->b, w.on);
        LLVMPositionBuilderAtEnd(u->b, w.on);
    }
    for (uint32_t e = 0; e < in->vector && !u->span; e++) {
        if (!to[e])
            continue;
        LLVMValueRef v = LLVMBuildPhi(u->b, LLVMTypeOf(got[e]), "");
        LLVMAddIncoming(v, &got[e], &w.quick, 1);
        LLVMAddIncoming(v, &stepped[e], &w.slow, 1);
        got[e] = v;
    }
    for (uint32_t e = 0; e < in->vector; e++)
        if (to[e])
            set_read(u, to[e], got[e]);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* @return the elements to be stored, as words. */
static LLVMValueRef words_to_store(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef words = variable(u, LLVMArrayType(u->v32, access_words(in)));
    for (uint32_t e = 0; e < in->vector; e++) {
        const uint32_t from = ptx_element_slot(u->f, in, e, in->b);
        if (in->bytes == 4) {
            set_word(u, words, e, get_vector(u, from, 32));
            continue;
        }
        LLVMValueRef v = get_vector(u, from, 64);
        LLVMValueRef high = LLVMBuildLShr(u->b, v, splat(u, number(u, 64, 32), 64), "");
        set_word(u, words, 2 * e, LLVMBuildTrunc(u->b, v, u->v32, ""));
        set_word(u, words, 2 * e + 1, LLVMBuildTrunc(u->b, high, u->v32, ""));
    }
    return words;
}

static LLVMValueRef store_alone(struct unit *u, const struct ir_insn *in, LLVMValueRef words)
{
    const struct place p = access_place(u, in);
    const bool shared = is_of_shared(in);
    LLVMValueRef arguments[] = {
        words,      shared ? u->warp : u->memory, access_site(u, in), p.shape, p.first,
        mask_of(u), number(u, 32, in->number)};
    char name[64];
    snprintf(name, sizeof name, "native_store_%s_%u_%s", shared ? "shared" : "global",
             access_words(in), way_of(u, in));
    return call_function(u, name, arguments, shared ? 7 : 6);
}

static void store(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef words = words_to_store(u, in);
    if (u->span) {
        span_store(u, in, words);
        return;
    }
    struct ways w = or_step(u, in, store_alone(u, in, words));
    LLVMBuildBr(u->b, w.on);
    LLVMPositionBuilderAtEnd(u->b, w.quick);
    LLVMBuildBr(u->b, w.on);
    LLVMPositionBuilderAtEnd(u->b, w.on);
}

bool accesses_translate(struct unit *u, const struct ir_insn *in)
{
    if (is_narrow_load(u, in) ||
        (is_quick_load(u, in) && !(in->fixed_address && in->space == PTX_SPACE_LOCAL))) {
        load(u, in);
        return true;
    }
    if (is_quick_store(u, in) && !in->fixed_address && !is_uniform(u, in->a)) {
        store(u, in);
        return true;
    }
    return false;
}
