/* Mistakes planted in the translator. */
#include "vgpu/tests/engines/engine_spoil.h"

#include <stdlib.h>
#include <string.h>

static void another(struct ir_insn *in, enum ir_op op, enum ir_op instead)
{
    if (in->op == op)
        in->op = (uint16_t)instead;
}

static void difference(struct ir_insn *in)
{
    if (in->op == IR_ADD_32)
        in->op = IR_SUB_32;
    else
        another(in, IR_SUB_32, IR_ADD_32);
}

static void wide_sum(struct ir_insn *in)
{
    another(in, IR_ADD_64, IR_SUB_64);
}

static void sign_of_shift(struct ir_insn *in)
{
    another(in, IR_SHR_S32, IR_SHR_U32);
}

static void sign_of_product(struct ir_insn *in)
{
    another(in, IR_MUL_WIDE_S32, IR_MUL_WIDE_U32);
    another(in, IR_MAD_WIDE_S32, IR_MAD_WIDE_U32);
}

static void sign_of_widening(struct ir_insn *in)
{
    another(in, IR_CVT_S64_S32, IR_CVT_U64_U32);
}

static void least_for_most(struct ir_insn *in)
{
    another(in, IR_MIN_F32, IR_MAX_F32);
    another(in, IR_MIN_S32, IR_MIN_U32);
}

static void denormals(struct ir_insn *in)
{
    another(in, IR_MUL_F32_FTZ, IR_MUL_F32);
    another(in, IR_ADD_F32_FTZ, IR_ADD_F32);
    another(in, IR_FMA_F32_FTZ, IR_FMA_F32);
    in->mode &= ~(uint32_t)MODE_FTZ;
}

static void rounding(struct ir_insn *in)
{
    if ((in->mode & MODE_RND) == RND_RZ)
        in->mode = (in->mode & ~(uint32_t)MODE_RND) | RND_RN;
}

static void saturation(struct ir_insn *in)
{
    in->mode &= ~(uint32_t)MODE_SAT;
}

static void inverted_guard(struct ir_insn *in)
{
    if (in->guard && in->op != IR_BRA)
        in->guard_not = !in->guard_not;
}

static void no_guard(struct ir_insn *in)
{
    if (in->op != IR_BRA)
        in->guard = 0;
}

static void inverted_branch(struct ir_insn *in)
{
    if (in->guard && in->op == IR_BRA)
        in->guard_not = !in->guard_not;
}

static bool is_comparison(const struct ir_insn *in)
{
    return in->op >= IR_SETP_S32 && in->op <= IR_SETP_BF16;
}

static void equality(struct ir_insn *in)
{
    if (is_comparison(in) && in->compare == CMP_LT)
        in->compare = CMP_LE;
}

static void boolean(struct ir_insn *in)
{
    if (is_comparison(in) && in->boolean == BOOL_AND)
        in->boolean = BOOL_OR;
}

static void second_predicate(struct ir_insn *in)
{
    if (is_comparison(in))
        in->e = 0;
}

static void choice(struct ir_insn *in)
{
    if (in->op != IR_SELP_32 && in->op != IR_SELP_64)
        return;
    const uint32_t a = in->a;
    in->a = in->b;
    in->b = a;
}

static void addend(struct ir_insn *in)
{
    if (in->op == IR_MAD_LO_32 || in->op == IR_FMA_F32)
        in->c = in->a;
}

static bool is_access(const struct ir_insn *in)
{
    return in->op == IR_LD || in->op == IR_ST;
}

static void offset(struct ir_insn *in)
{
    if (is_access(in) && in->imm)
        in->imm -= in->bytes;
}

static void no_offset(struct ir_insn *in)
{
    if (is_access(in) && !in->fixed_address)
        in->imm = 0;
}

static void another_site(struct ir_insn *in)
{
    if (is_access(in) && in->site > 1)
        in->site--;
}

static void another_block(struct ir_insn *in)
{
    if ((in->op == IR_ENTER || in->op == IR_ENTER_JOIN) && in->target)
        in->target--;
}

static void another_register(struct ir_insn *in)
{
    if (in->op == IR_SREG && in->sub == SREG_TID_Y)
        in->sub = SREG_TID_X;
}

static void stored_value(struct ir_insn *in)
{
    if (in->op == IR_ST && in->vector == 1 && in->bytes == 4)
        in->b = 0;
}

static void source_of_access(struct ir_insn *in)
{
    if (is_access(in) && in->space == PTX_SPACE_SHARED && in->number)
        in->number--;
}

const struct engine_spoil engine_spoils[] = {
    {"translator: a difference for a sum", difference},
    {"translator: the same in 64 bits", wide_sum},
    {"translator: a shift without sign", sign_of_shift},
    {"translator: a product without sign", sign_of_product},
    {"translator: a number widened without sign", sign_of_widening},
    {"translator: the largest for the smallest", least_for_most},
    {"translator: denormals that stay", denormals},
    {"translator: another rounding", rounding},
    {"translator: no saturation", saturation},
    {"translator: inverted guards", inverted_guard},
    {"translator: no guards", no_guard},
    {"translator: inverted branches", inverted_branch},
    {"translator: a comparison with its equal", equality},
    {"translator: or for and", boolean},
    {"translator: no second predicate", second_predicate},
    {"translator: the other choice", choice},
    {"translator: another addend", addend},
    {"translator: an offset too small", offset},
    {"translator: no offset", no_offset},
    {"translator: counts of another access", another_site},
    {"translator: counts of another block", another_block},
    {"translator: another special register", another_register},
    {"translator: another value stored", stored_value},
    {"translator: a race of another instruction", source_of_access},
};
const size_t engine_spoil_count = sizeof engine_spoils / sizeof *engine_spoils;

struct ir_insn *engine_spoil(const struct engine_spoil *spoil, const struct ir_function *f)
{
    struct ir_insn *were = malloc((f->insn_count + 1) * sizeof *were);
    if (!were)
        abort();
    memcpy(were, f->insns, f->insn_count * sizeof *were);
    for (size_t i = 0; i < f->insn_count; i++)
        spoil->change(&f->insns[i]);
    if (memcmp(were, f->insns, f->insn_count * sizeof *were) != 0)
        return were;
    free(were);
    return NULL;
}

void engine_unspoil(const struct ir_function *f, struct ir_insn *were)
{
    memcpy(f->insns, were, f->insn_count * sizeof *were);
    free(were);
}
