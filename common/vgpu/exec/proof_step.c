/* What each instruction does to the origins of registers. What kind an instruction is of follows from
 * its row of opcodes.def: the operation and the type are in its name, ADD_F32_FTZ. */
#include "vgpu/exec/proof.h"
#include "vgpu/exec/float_bits.h"

#include <math.h>
#include <string.h>

enum kind {
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

struct row {
    uint8_t kind, type; /* enum kind, enum ptx_type */
};

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum kind kind;
} operations[] = {{"ADD", KIND_ADD},      {"SUB", KIND_SUBTRACT}, {"MUL", KIND_MULTIPLY},
                  {"FMA", KIND_FMA},      {"DIV", KIND_DIVIDE},   {"NEG", KIND_NEGATE},
                  {"ABS", KIND_ABSOLUTE}, {"MIN", KIND_SMALLER},  {"MAX", KIND_LARGER}};

static const struct {
    const char *name;
    enum ptx_type type;
} number_types[] = {{"_F32", PTX_TYPE_f32},     {"_F64", PTX_TYPE_f64},
                    {"_F16X2", PTX_TYPE_f16x2}, {"_BF16X2", PTX_TYPE_bf16x2},
                    {"_H16X2", PTX_TYPE_f16x2}, {"_F16", PTX_TYPE_f16},
                    {"_BF16", PTX_TYPE_bf16},   {"_H16", PTX_TYPE_f16}};

static const struct {
    uint16_t op;
    uint8_t kind;
} others[] = {{IR_MOV_32, KIND_MOVE},
              {IR_MOV_64, KIND_MOVE},
              {IR_SELP_32, KIND_SELECT},
              {IR_SELP_64, KIND_SELECT},
              {IR_SLCT_32, KIND_SELECT_SIGN},
              {IR_SLCT_64, KIND_SELECT_SIGN},
              {IR_PACK, KIND_PACK},
              {IR_UNPACK, KIND_UNPACK},
              {IR_PACK_128, KIND_PACK_128},
              {IR_UNPACK_128, KIND_UNPACK_128},
              {IR_CVT, KIND_CONVERT},
              {IR_CVT_F32_F16, KIND_CONVERT},
              {IR_CVT_F16_F32, KIND_CONVERT},
              {IR_CVT_F64_F32, KIND_CONVERT},
              {IR_CVT_PAIR, KIND_PAIR},
              {IR_SHFL, KIND_SHUFFLE},
              {IR_AND_32, KIND_BITS},
              {IR_OR_32, KIND_BITS},
              {IR_XOR_32, KIND_BITS},
              {IR_ADD_32, KIND_BITS},
              {IR_SHL_32, KIND_BITS},
              {IR_SHR_U32, KIND_BITS},
              {IR_PRMT, KIND_BITS},
              {IR_LD, KIND_LOAD},
              {IR_ST, KIND_STORE},
              {IR_ATOM, KIND_ATOMIC},
              {IR_ATOM_VECTOR, KIND_ATOMIC},
              {IR_CP_ASYNC, KIND_COPY_ASYNC},
              {IR_TEX, KIND_TEXTURE},
              {IR_TLD4, KIND_TEXTURE},
              {IR_SULD, KIND_SURFACE},
              {IR_SUST, KIND_SURFACE},
              {IR_LDMATRIX, KIND_MATRIX},
              {IR_STMATRIX, KIND_MATRIX},
              {IR_WMMA_LOAD, KIND_MATRIX},
              {IR_WMMA_STORE, KIND_MATRIX},
              {IR_WMMA_MMA, KIND_MATRIX},
              {IR_MMA, KIND_MATRIX},
              {IR_MOVMATRIX, KIND_MATRIX},
              {IR_BAR, KIND_BARRIER},
              {IR_BAR_RED, KIND_BARRIER},
              {IR_BAR_WARP, KIND_BARRIER},
              {IR_MBARRIER_TEST, KIND_BARRIER},
              {IR_BRA, KIND_BRANCH}};

static struct row rows[IR_OPS];
static pthread_once_t rows_made = PTHREAD_ONCE_INIT;

/* ADD_F32_MODE: an addition of f32. */
static struct row row_of_name(const char *id)
{
    struct row r = {0};
    const size_t length = strcspn(id, "_");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strlen(operations[i].name) == length && strncmp(operations[i].name, id, length) == 0)
            r.kind = operations[i].kind;
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++) {
        const size_t n = strlen(number_types[i].name);
        if (strncmp(id + length, number_types[i].name, n) == 0 &&
            (id[length + n] == '_' || !id[length + n]))
            r.type = number_types[i].type;
    }
    return r.kind && r.type ? r : (struct row){0};
}

static bool writes_d(const struct ir_row *row)
{
    return row->is_lane || strncmp(row->operation, "d = ", 4) == 0 ||
           (row->operands && row->operands[0] == 'd');
}

static void make_rows(void)
{
    for (int op = 0; op < IR_OPS; op++) {
        rows[op] = row_of_name(ir_rows[op].id);
        if (!rows[op].kind && writes_d(&ir_rows[op]))
            rows[op].kind = KIND_PLAIN;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        rows[others[i].op].kind = others[i].kind;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* A word of a lane; none if the slot has none. */
static struct origin word_of(const struct vg_warp *w, uint32_t slot, uint32_t lane, uint32_t word)
{
    const uint32_t stride = w->frame->holds[slot / 4];
    return stride ? proof_slot(w, slot)[lane * stride + word] : (struct origin){0};
}

static uint32_t bits_of(const struct vg_warp *w, uint32_t slot, uint32_t lane)
{
    return ((const uint32_t *)(const void *)(w->regs + slot))[lane];
}

static uint64_t wide_bits_of(const struct vg_warp *w, uint32_t slot, uint32_t lane)
{
    return ((const uint64_t *)(const void *)(w->regs + slot))[lane];
}

static struct proof_value negative(struct proof_value a)
{
    return a.element ? proof_value_of(field_negative(a.element & FIELD_PRIME), a.way) : a;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* An operand: its value, if it has one, and its bits. */
struct operand {
    struct proof_value v;
    uint64_t bits;
};

static inline struct operand operand_of(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                        enum ptx_type type, int half)
{
    struct operand r;
    struct origin o = word_of(w, slot, lane, 0);
    r.bits = type == PTX_TYPE_f64 ? wide_bits_of(w, slot, lane) : bits_of(w, slot, lane);
    if (half)
        r.bits >>= 16;
    /* The bits of a bfloat16 in the upper half of a word are a float32. */
    r.v.element = half ? o.high : o.low || type != PTX_TYPE_f32 ? o.low : o.high;
    r.v.way = r.v.element ? o.way : 0;
    return r;
}

static inline bool is_zero(struct operand a, enum ptx_type type)
{
    return !a.v.element && proof_double(a.bits, type) == 0;
}

static inline struct proof_value multiply(struct operand a, struct operand b, enum ptx_type type,
                                          uint32_t *count)
{
    bool multiplied = false;
    if ((!a.v.element && !b.v.element) || is_zero(a, type) || is_zero(b, type))
        return (struct proof_value){0};
    const struct proof_value r = proof_product(proof_number(a.bits, type, a.v),
                                               proof_number(b.bits, type, b.v), &multiplied);
    *count += multiplied;
    return r;
}

static inline struct proof_value add(struct operand a, struct operand b, enum ptx_type type)
{
    if (!a.v.element && !b.v.element)
        return (struct proof_value){0};
    if (is_zero(a, type) || is_zero(b, type))
        return a.v.element ? a.v : b.v;
    return proof_sum(proof_number(a.bits, type, a.v), proof_number(b.bits, type, b.v));
}

/* A product that has no element is 0, or of two numbers that have none. */
static inline struct proof_value fused(struct operand a, struct operand b, struct operand c,
                                       enum ptx_type type, uint32_t *count)
{
    struct operand product = {.v = multiply(a, b, type, count)};
    if (!product.v.element && !a.v.element && !b.v.element && type == PTX_TYPE_f32)
        product.bits =
            bits_of_f32((float)(proof_double(a.bits, type) * proof_double(b.bits, type)));
    return add(product, c, type);
}

static struct proof_value divided(struct operand a, struct operand b, enum ptx_type type)
{
    if (!a.v.element || b.v.element || is_zero(b, type))
        return (struct proof_value){0};
    const uint32_t by = proof_number(b.bits, type, b.v).element & FIELD_PRIME;
    return proof_value_of(field_multiply(a.v.element & FIELD_PRIME, field_inverse(by)), a.v.way);
}

static inline struct proof_value compute(enum kind kind, enum ptx_type type, struct operand a,
                                         struct operand b, struct operand c, uint32_t *count)
{
    switch (kind) {
    case KIND_ADD:
        return add(a, b, type);
    case KIND_SUBTRACT:
        b.v = negative(b.v);
        if (!b.v.element) /* the number itself is subtracted */
            b.v =
                is_zero(b, type) || !a.v.element ? b.v : negative(proof_number(b.bits, type, b.v));
        return add(a, b, type);
    case KIND_MULTIPLY:
        return multiply(a, b, type, count);
    case KIND_FMA:
        return fused(a, b, c, type, count);
    case KIND_DIVIDE:
        return divided(a, b, type);
    case KIND_NEGATE:
        return negative(a.v);
    case KIND_ABSOLUTE:
        return proof_double(a.bits, type) < 0 ? negative(a.v) : a.v;
    case KIND_SMALLER:
        return proof_double(a.bits, type) < proof_double(b.bits, type) ? a.v : b.v;
    default:
        return proof_double(a.bits, type) > proof_double(b.bits, type) ? a.v : b.v;
    }
}

static inline __attribute__((always_inline)) void lanes_compute(const struct ir_insn *in,
                                                                struct vg_warp *w, uint32_t lanes,
                                                                enum kind kind, enum ptx_type type)
{
    const bool two = kind != KIND_NEGATE && kind != KIND_ABSOLUTE, three = kind == KIND_FMA;
    const bool pair = type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2;
    if (!proof_holds(w, in->a) && !(two && proof_holds(w, in->b)) &&
        !(three && proof_holds(w, in->c))) {
        proof_clear(w, in->d, lanes);
        return;
    }
    const uint32_t stride = type == PTX_TYPE_f64 ? 2 : 1;
    struct origin *to = proof_open(w, in->d, stride);
    uint32_t count = 0, multiplied = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), before = count;
        struct proof_value r[2] = {{0}};
        for (int half = 0; half <= pair; half++) {
            const struct operand none = {{0}, 0}, a = operand_of(w, in->a, i, type, half);
            const struct operand b = two ? operand_of(w, in->b, i, type, half) : none;
            const struct operand c = three ? operand_of(w, in->c, i, type, half) : none;
            r[half] = compute(kind, type, a, b, c, &count);
        }
        to[i * stride] = (struct origin){r[0].element, r[1].element, way_sum(r[0].way, r[1].way)};
        multiplied |= count != before ? left & -left : 0;
    }
    proof_multiplied(w, in, multiplied, count);
}

static __attribute__((noinline)) void lanes_compute_any(const struct ir_insn *in, struct vg_warp *w,
                                                        uint32_t lanes, enum kind kind,
                                                        enum ptx_type type)
{
    lanes_compute(in, w, lanes, kind, type);
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* d = a, word by word, of the slots as wide as a's. */
static void move(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t stride = w->frame->holds[in->a / 4];
    if (!stride) {
        proof_clear(w, in->d, lanes);
        return;
    }
    const struct origin *from = proof_slot(w, in->a);
    struct origin *to = proof_open(w, in->d, stride);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        memcpy(to + i * stride, from + i * stride, stride * sizeof *to);
    }
}

/* Lanes of the first mask take from a, the others from b. */
static void choose(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, uint32_t first)
{
    const uint32_t a = w->frame->holds[in->a / 4], b = w->frame->holds[in->b / 4];
    const uint32_t stride = a ? a : b;
    struct origin o[2][VG_LANES];
    if (!stride) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t word = 0; word < stride; word++)
        for (uint32_t i = 0; i < VG_LANES; i++)
            o[word][i] = word_of(w, first >> i & 1 ? in->a : in->b, i, word);
    for (uint32_t word = 0; word < stride; word++)
        proof_put(w, in->d, lanes, o[word], stride, word);
}

static uint32_t not_negative(const struct ir_insn *in, const struct vg_warp *w)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < VG_LANES; i++) {
        const uint32_t c = bits_of(w, in->c, i);
        const bool is = in->type2 == PTX_TYPE_s32 ? (int32_t)c >= 0 : f32_of_bits(c) >= 0;
        r |= (uint32_t)is << i;
    }
    return r;
}

static struct origin half_of(struct origin o, int half)
{
    /* the upper half of a float32 is a bfloat16, cut off */
    const uint32_t element = !half ? o.low : o.high ? o.high : o.low;
    return (struct origin){.low = element, .way = element ? o.way : 0};
}

static struct origin joined(struct origin low, struct origin high)
{
    return (struct origin){low.low, high.low, way_sum(low.way, high.way)};
}

static void pack(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const uint32_t stride = in->bytes * in->vector == 8 ? 2 : 1;
    struct origin o[2][VG_LANES] = {{{0}}};
    for (uint32_t i = 0; i < VG_LANES; i++)
        for (uint32_t word = 0; word < stride; word++) {
            if (in->bytes >= 4)
                o[word][i] = word_of(w, parts[word], i, 0);
            else if (in->bytes == 2)
                o[word][i] = joined(word_of(w, parts[2 * word], i, 0),
                                    word_of(w, parts[2 * word + 1], i, 0));
        }
    for (uint32_t word = 0; word < stride; word++)
        proof_put(w, in->d, lanes, o[word], stride, word);
}

static void unpack(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    struct origin o[8][VG_LANES] = {{{0}}};
    for (uint32_t k = 0; k < in->vector && k < 8; k++)
        for (uint32_t i = 0; i < VG_LANES; i++) {
            if (in->bytes >= 4)
                o[k][i] = word_of(w, in->a, i, k);
            else if (in->bytes == 2)
                o[k][i] = half_of(word_of(w, in->a, i, k / 2), (int)(k & 1));
        }
    for (uint32_t k = 0; k < in->vector && k < 8; k++)
        if (parts[k])
            proof_put(w, parts[k], lanes, o[k], 1, 0);
}

/* Two words of 64 bits each. */
static void pack_128(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, bool unpacks)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    struct origin o[4][VG_LANES];
    for (uint32_t word = 0; word < 4; word++)
        for (uint32_t i = 0; i < VG_LANES; i++)
            o[word][i] =
                unpacks ? word_of(w, in->a, i, word) : word_of(w, parts[word / 2], i, word % 2);
    for (uint32_t word = 0; word < 4; word++) {
        if (!unpacks)
            proof_put(w, in->d, lanes, o[word], 4, word);
        else if (parts[word / 2])
            proof_put(w, parts[word / 2], lanes, o[word], 2, word % 2);
    }
}

/* Between floating-point types; of other types what comes out has no origin. */
static void convert(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->type2;
    if (in->op != IR_CVT) {
        to = in->op == IR_CVT_F64_F32   ? PTX_TYPE_f64
             : in->op == IR_CVT_F16_F32 ? PTX_TYPE_f16
                                        : PTX_TYPE_f32;
        from = in->op == IR_CVT_F32_F16 ? PTX_TYPE_f16 : PTX_TYPE_f32;
    }
    struct origin o[VG_LANES] = {{0}};
    if (ptx_type_is_float(to) && ptx_type_is_float(from) && !(in->mode & MODE_TO_INTEGER))
        for (uint32_t i = 0; i < VG_LANES; i++) {
            const struct operand a = operand_of(w, in->a, i, from, 0);
            o[i] = (struct origin){.low = a.v.element, .way = a.v.way};
        }
    proof_put(w, in->d, lanes, o, to == PTX_TYPE_f64 ? 2 : 1, 0);
}

static void convert_pair(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct origin o[VG_LANES] = {{0}};
    const bool halves = in->type == PTX_TYPE_f16x2 || in->type == PTX_TYPE_bf16x2;
    for (uint32_t i = 0; i < VG_LANES && halves; i++)
        o[i] = joined(word_of(w, in->b, i, 0), word_of(w, in->a, i, 0));
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* ---- numbers as bits ------------------------------------------------------------------------- */

/* A mask that leaves the sign, the exponent and some of the fraction of a float32. */
static bool cuts_fraction(uint32_t mask)
{
    return mask >= 0xff800000u && (mask | (mask - 1)) == 0xffffffffu;
}

static struct origin masked(struct origin a, uint32_t mask)
{
    if (mask == 0xffff)
        return half_of(a, 0);
    if (mask == 0xffff0000u && a.high)
        return joined((struct origin){0}, half_of(a, 1));
    return cuts_fraction(mask) ? a : (struct origin){0};
}

static struct origin selected(struct origin a, struct origin b, uint32_t selector)
{
    struct origin r[2] = {{0}};
    for (int half = 0; half < 2; half++) {
        const uint32_t low = selector >> 8 * half & 0xf, high = selector >> (8 * half + 4) & 0xf;
        if (!(low & 1) && high == low + 1 && low < 8)
            r[half] = half_of(low < 4 ? a : b, low >> 1 & 1);
    }
    return joined(r[0], r[1]);
}

/* Numbers are split, packed and negated by their bits. */
static struct origin by_bits(const struct ir_insn *in, struct origin a, struct origin b,
                             uint32_t a_bits, uint32_t b_bits, uint32_t c_bits)
{
    const bool both = (a.low || a.high) && (b.low || b.high);
    const struct origin none = {0}, one = a.low || a.high ? a : b;
    const uint32_t other = a.low || a.high ? b_bits : a_bits;
    switch (in->op) {
    case IR_AND_32:
        return both ? none : masked(one, other);
    case IR_OR_32:
        return (struct origin){a.low ? a.low : b.low, a.high ? a.high : b.high,
                               way_sum(a.way, b.way)};
    case IR_XOR_32: {
        const struct proof_value v = negative((struct proof_value){one.low, one.way});
        return both || other != 0x80000000u ? none
                                            : (struct origin){.low = v.element, .way = v.way};
    }
    case IR_ADD_32:
        return both || other > 0xffff ? none : one; /* rounds */
    case IR_SHL_32:
        return b_bits == 16 ? joined(none, half_of(a, 0)) : none;
    case IR_SHR_U32:
        return b_bits == 16 ? half_of(a, 1) : none;
    default:
        return selected(a, b, c_bits);
    }
}

static void bits(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct origin o[VG_LANES] = {{0}};
    if (!proof_holds(w, in->a) && !proof_holds(w, in->b)) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t i = 0; i < VG_LANES; i++)
        o[i] = by_bits(in, word_of(w, in->a, i, 0), word_of(w, in->b, i, 0), bits_of(w, in->a, i),
                       bits_of(w, in->b, i), in->op == IR_PRMT ? bits_of(w, in->c, i) : 0);
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* ---- between lanes --------------------------------------------------------------------------- */

static void shuffle(const struct ir_insn *in, struct vg_warp *w)
{
    uint32_t all;
    struct origin o[VG_LANES] = {{0}};
    if (!vg_gather_complete(w, in, &all))
        return;
    for (uint32_t left = all; left; left &= left - 1) {
        const int lane = __builtin_ctz(left), b = (int)(bits_of(w, in->b, (uint32_t)lane) & 31);
        const int c = (int)bits_of(w, in->c, (uint32_t)lane), segment = c >> 8 & 31;
        const int low = lane & segment, high = low | (c & 31 & ~segment);
        int from = in->sub == SUB_UP     ? lane - b
                   : in->sub == SUB_DOWN ? lane + b
                   : in->sub == SUB_BFLY ? lane ^ b
                                         : low | (b & ~segment);
        if (in->sub == SUB_UP ? from < high : from > high)
            from = lane;
        if (all >> (from & 31) & 1)
            o[lane] = word_of(w, in->a, (uint32_t)from & 31, 0);
    }
    proof_put(w, in->d, all, o, 1, 0);
}

/* ---- control -------------------------------------------------------------------------------- */

/* The end of a loop's round, whether or not another one follows. */
static void branch(const struct ir_insn *in, struct vg_warp *w)
{
    if (w->insns + in->target > in)
        return;
    proof_counts(w)->loop_branches += (uint32_t)__builtin_popcount(w->mask & w->proof.multiplies);
    w->proof.multiplies &= ~w->mask;
}

/* ---- an instruction -------------------------------------------------------------------------- */

static void step_number(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, struct row row)
{
    const enum ptx_type type = (enum ptx_type)row.type;
    if (type == PTX_TYPE_f32 && row.kind == KIND_FMA)
        lanes_compute(in, w, lanes, KIND_FMA, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f32 && row.kind == KIND_ADD)
        lanes_compute(in, w, lanes, KIND_ADD, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f32 && row.kind == KIND_MULTIPLY)
        lanes_compute(in, w, lanes, KIND_MULTIPLY, PTX_TYPE_f32);
    else
        lanes_compute_any(in, w, lanes, (enum kind)row.kind, type);
}

void proof_step(const struct ir_insn *in, struct vg_warp *w)
{
    pthread_once(&rows_made, make_rows);
    const struct row row = rows[in->op];
    const uint32_t lanes = proof_lanes(w, in);
    proof_of(w)->running->sites[in->number] |= SITE_EXECUTED;
    if (row.kind == KIND_BRANCH)
        branch(in, w);
    if (!lanes || row.kind == KIND_NONE)
        return;
    if (row.kind >= KIND_ADD) {
        step_number(in, w, lanes, row);
        return;
    }
    switch ((enum kind)row.kind) {
    case KIND_PLAIN:
        proof_clear(w, in->d, lanes);
        break;
    case KIND_MOVE:
        move(in, w, lanes);
        break;
    case KIND_SELECT:
        choose(in, w, lanes, *(const uint32_t *)(const void *)(w->regs + in->c));
        break;
    case KIND_SELECT_SIGN:
        choose(in, w, lanes, not_negative(in, w));
        break;
    case KIND_PACK:
        pack(in, w, lanes);
        break;
    case KIND_UNPACK:
        unpack(in, w, lanes);
        break;
    case KIND_PACK_128:
        pack_128(in, w, lanes, false);
        break;
    case KIND_UNPACK_128:
        pack_128(in, w, lanes, true);
        break;
    case KIND_CONVERT:
        convert(in, w, lanes);
        break;
    case KIND_PAIR:
        convert_pair(in, w, lanes);
        break;
    case KIND_SHUFFLE:
        shuffle(in, w);
        break;
    case KIND_BITS:
        bits(in, w, lanes);
        break;
    case KIND_LOAD:
        proof_load(in, w, lanes);
        break;
    case KIND_STORE:
        proof_store(in, w, lanes);
        break;
    case KIND_ATOMIC:
        proof_atomic(in, w, lanes);
        break;
    case KIND_COPY_ASYNC:
        proof_copy_async(in, w, lanes);
        break;
    case KIND_TEXTURE:
        proof_texture(in, w, lanes);
        break;
    case KIND_SURFACE:
        proof_surface(in, w, lanes);
        break;
    case KIND_MATRIX:
        proof_matrix(in, w);
        break;
    case KIND_BARRIER:
        proof_counts(w)->barriers += (uint32_t)__builtin_popcount(lanes);
        break;
    default:
        break;
    }
}
