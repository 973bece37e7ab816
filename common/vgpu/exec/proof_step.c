/* The effect of each instruction on the origins of registers. An instruction's kind follows from
 * its name in opcodes.def, which contains the operation and the type: ADD_F32_FTZ. */
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/proof_log.h"
#include "vgpu/exec/proof_step.h"

#include <string.h>

struct row {
    uint8_t kind, type; /* enum proof_kind, enum ptx_type */
};

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum proof_kind kind;
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
              {IR_CVT_PAIR, KIND_PAIR},
              {IR_CVT_F16X2_F32, KIND_PAIR},
              {IR_CVT_BF16X2_F32, KIND_PAIR},
              {IR_SHFL, KIND_SHUFFLE},
              {IR_AND_32, KIND_BITS},
              {IR_OR_32, KIND_BITS},
              {IR_XOR_32, KIND_BITS},
              {IR_ADD_32, KIND_BITS},
              {IR_SHL_32, KIND_BITS},
              {IR_SHR_U32, KIND_BITS},
              {IR_PRMT, KIND_BITS},
              {IR_SHF_L_WRAP, KIND_BITS},
              {IR_SHF_L_CLAMP, KIND_BITS},
              {IR_SHF_R_WRAP, KIND_BITS},
              {IR_SHF_R_CLAMP, KIND_BITS},
              {IR_BFI_32, KIND_BITS},
              {IR_BFE_U32, KIND_BITS},
              {IR_AND_64, KIND_WIDE_BITS},
              {IR_OR_64, KIND_WIDE_BITS},
              {IR_BFI_64, KIND_WIDE_BITS},
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
              {IR_BRA, KIND_BRANCH},
              {IR_BRX, KIND_BRANCH},
              {IR_CALL, KIND_BRANCH}};

static struct row rows[IR_OPS];
static pthread_once_t rows_made = PTHREAD_ONCE_INIT;

/* @return the kind and type of a name's instruction: ADD_F32_MODE is an addition of f32. */
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
        if (ir_rows[op].is_exact)
            rows[op].kind = KIND_CONVERT;
        else if (!rows[op].kind && writes_d(&ir_rows[op]))
            rows[op].kind = KIND_PLAIN;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        rows[others[i].op].kind = others[i].kind;
    uint16_t integers[64];
    const size_t n = proof_integer_rows(integers, sizeof integers / sizeof *integers);
    for (size_t i = 0; i < n; i++)
        rows[integers[i]] = (struct row){.kind = KIND_INTEGER, .type = (uint8_t)i};
}

/* ---- control -------------------------------------------------------------------------------- */

/* @return the lanes for which an indirect branch may go backward. */
static uint32_t go_back(const struct ir_insn *in, const struct vg_warp *w)
{
    const uint32_t *labels = w->frame->function->extra + in->extra;
    uint32_t back = 0;
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), n = proof_bits_of(w, in->a, i);
        back |= n < in->extras && w->insns + labels[n] <= in ? left & -left : 0;
    }
    return back;
}

/* Handles the end of a loop's round, even if no other round follows. A call counts as well: it may
 * be a recursion. */
static void branch(const struct ir_insn *in, struct vg_warp *w)
{
    if (in->op == IR_BRA && w->insns + in->target > in)
        return;
    const uint32_t lanes = in->op == IR_BRX ? go_back(in, w) : w->mask;
    proof_counts(w)->loop_branches += (uint32_t)__builtin_popcount(lanes & w->proof.multiplies);
    w->proof.multiplies &= ~lanes;
}

/* ---- last steps of a thread ------------------------------------------------------------------ */

/* Records an access or a barrier. */
static void keep_recent(const struct ir_insn *in, const struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    const bool is_access = in->op == IR_LD || in->op == IR_ST || in->op == IR_ATOM;
    if (!w->proof.recent)
        return;
    if (is_access)
        proof_addresses(w, in, at);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        struct proof_recent *r = &w->proof.recent[i];
        struct proof_place to = {0};
        if (is_access)
            to = proof_place(w, in, i, at[i]);
        if (to.space == PTX_SPACE_PARAM)
            continue;
        r->step[r->count++ % PROOF_RECENT] =
            (struct proof_recent_step){in, to.address, (uint8_t)to.space};
    }
}

/* ---- an instruction -------------------------------------------------------------------------- */

void proof_step(const struct ir_insn *in, struct vg_warp *w)
{
    pthread_once(&rows_made, make_rows);
    const struct row row = rows[in->op];
    const uint32_t lanes = proof_lanes(w, in);
    uint32_t all;
    if (row.kind == KIND_BRANCH)
        branch(in, w);
    if (!lanes || row.kind == KIND_NONE)
        return;
    if (proof_of(w)->log && row.kind >= KIND_LOAD && row.kind <= KIND_BARRIER)
        keep_recent(in, w, lanes);
    if (row.kind == KIND_SHUFFLE || row.kind == KIND_ATOMIC || row.kind == KIND_MATRIX)
        w->proof.used |= lanes;
    if (row.kind >= KIND_ADD) {
        proof_compute(in, w, lanes, (enum proof_kind)row.kind, (enum ptx_type)row.type);
        return;
    }
    if (row.kind >= KIND_MOVE && row.kind <= KIND_BITS) {
        proof_move(in, w, lanes, (enum proof_kind)row.kind);
        return;
    }
    switch ((enum proof_kind)row.kind) {
    case KIND_PLAIN:
        proof_clear(w, in->d, lanes);
        break;
    case KIND_INTEGER:
        proof_integer(in, w, lanes, row.type);
        break;
    case KIND_LOAD:
        (in->bytes == 1 ? proof_load_bytes : proof_load)(in, w, lanes);
        break;
    case KIND_STORE:
        (in->bytes == 1 ? proof_store_bytes : proof_store)(in, w, lanes);
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
        if (w->mask == w->alive || vg_gather_complete(w, in, &all))
            proof_matrix(in, w);
        break;
    default: /* a barrier */
        proof_counts(w)->barriers += (uint32_t)__builtin_popcount(lanes);
        break;
    }
}
