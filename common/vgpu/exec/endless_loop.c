/* Finds a fragment's loop by continuing its execution:
 *
 *     1. step until the fragment is back at its start with the same registers, or up to a limit
 *     2. the header of the outermost executed loop is the target of its backward branches; its body
 *        consists of the instructions that can reach such a branch without passing the header
 *     3. the loop's exit is an executed branch with a successor outside the loop; a loop that the
 *        compiler knows to be endless has no exit
 *     4. the comparison before the exit is shown with its operands in the last two iterations */
#include "vgpu/exec/endless_loop.h"

#include "vgpu/exec/fragments.h"
#include "vgpu/exec/spinning.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300000 };

struct follower {
    struct vg_warp *w;
    const struct ir_function *f;
    uint8_t *seen;                /* [insn_count] executed */
    uint8_t *body;                /* [insn_count] in the loop */
    const struct ir_insn *wanted; /* a comparison whose operands are recorded, or NULL */
    char operands[2][2][32];      /* [in the round before the last, in the last][a, b] */
};

static void operand_text(char to[32], const struct ir_insn *in, const char *lanes, int lane)
{
    switch (in->op) {
    case IR_SETP_F32:
        snprintf(to, 32, "%.9g", (double)((const float *)lanes)[lane]);
        return;
    case IR_SETP_F64:
        snprintf(to, 32, "%.17g", ((const double *)lanes)[lane]);
        return;
    case IR_SETP_S64:
        snprintf(to, 32, "%lld", ((const long long *)lanes)[lane]);
        return;
    case IR_SETP_U64:
        snprintf(to, 32, "%llu", ((const unsigned long long *)lanes)[lane]);
        return;
    case IR_SETP_U32:
        snprintf(to, 32, "%u", ((const uint32_t *)lanes)[lane]);
        return;
    default:
        snprintf(to, 32, "%d", ((const int32_t *)lanes)[lane]);
    }
}

static void take_operands(struct follower *s, const struct ir_insn *in)
{
    const int lane = __builtin_ctz(s->w->mask);
    memcpy(s->operands[0], s->operands[1], sizeof s->operands[0]);
    operand_text(s->operands[1][0], in, s->w->regs + in->a, lane);
    operand_text(s->operands[1][1], in, s->w->regs + in->b, lane);
}

/* Executes @p in and the instructions after it, as step 1 says. @return the next instruction; NULL:
 * the lanes diverged or wait. */
static const struct ir_insn *follow(struct follower *s, const struct ir_insn *in)
{
    struct vg_warp *w = s->w;
    const struct ir_insn *begin = in;
    const uint64_t state = spinning_hash(w->block->launch->module, w->frame, in);
    for (int i = 0; in && i < STEPS && w->mask; i++) {
        if (w->insns == s->f->insns) {
            s->seen[in - s->f->insns] = 1;
            if (in == s->wanted)
                take_operands(s, in);
        }
        w->quantum = STEPS;
        in = in->once(in, w);
        if (in == begin && w->insns == s->f->insns &&
            spinning_hash(w->block->launch->module, w->frame, in) == state && s->operands[0][0][0])
            break;
    }
    return in;
}

/* @return the backward branch whose target is first in the code, or NULL. */
static const struct ir_insn *find_way_back(const struct follower *s)
{
    const struct ir_insn *found = NULL;
    for (size_t i = 0; i < s->f->insn_count; i++) {
        const struct ir_insn *in = &s->f->insns[i];
        if (s->seen[i] && in->op == IR_BRA && in->target <= i &&
            (!found || in->target <= found->target))
            found = in;
    }
    return found;
}

static bool leads_into(const struct follower *s, uint32_t index, uint32_t header, uint32_t *next)
{
    const size_t n = ptx_flow_next(s->f, index, next);
    for (size_t k = 0; k < n; k++)
        if (next[k] == header ? index >= header : next[k] < s->f->insn_count && s->body[next[k]])
            return true;
    return false;
}

/* Sets s->body to the loop that begins at @p header. @return false: out of memory. */
static bool find_body(struct follower *s, uint32_t header)
{
    uint32_t *next = malloc((s->f->extra_count + 2) * sizeof *next);
    bool more = next != NULL;
    while (more) {
        more = false;
        for (uint32_t i = (uint32_t)s->f->insn_count; i-- > header + 1;)
            if (!s->body[i] && leads_into(s, i, header, next))
                s->body[i] = more = true;
    }
    s->body[header] = true;
    free(next);
    return next != NULL;
}

/* @return the last branch, in the code, that was executed and may leave the loop; or NULL. */
static const struct ir_insn *find_way_out(const struct follower *s)
{
    for (size_t i = s->f->insn_count; i-- > 0;) {
        const struct ir_insn *in = &s->f->insns[i];
        if (s->body[i] && s->seen[i] && in->op == IR_BRA && in->guard &&
            (!s->body[in->target] || !s->body[i + 1]))
            return in;
    }
    return NULL;
}

/* @return the comparison that sets a branch's guard, if it alone sets it; or NULL. */
static const struct ir_insn *find_comparison(const struct follower *s, const struct ir_insn *branch)
{
    const struct ir_insn *found = NULL;
    for (size_t i = 0; i < s->f->insn_count; i++) {
        const struct ir_insn *in = &s->f->insns[i];
        if (!ptx_is_compare(in) || in->d != branch->guard)
            continue;
        if (found || in->boolean != BOOL_NONE || in->op == IR_SETP_S16 || in->op >= IR_SETP_F16)
            return NULL;
        found = in;
    }
    return found && s->seen[found - s->f->insns] ? found : NULL;
}

/* @return the relation between the operands that keeps the loop running, such as "<"; or NULL. */
static const char *sign_of(const struct follower *s, const struct ir_insn *branch,
                           const struct ir_insn *comparison)
{
    static const char *const signs[][2] = {
        [CMP_EQ] = {"!=", "=="},  [CMP_NE] = {"==", "!="},  [CMP_LT] = {">=", "<"},
        [CMP_LE] = {">", "<="},   [CMP_GT] = {"<=", ">"},   [CMP_GE] = {"<", ">="},
        [CMP_EQU] = {"!=", "=="}, [CMP_NEU] = {"==", "!="}, [CMP_LTU] = {">=", "<"},
        [CMP_LEU] = {">", "<="},  [CMP_GTU] = {"<=", ">"},  [CMP_GEU] = {"<", ">="}};
    const bool stays_if = s->body[branch->target] != branch->guard_not;
    return comparison->compare <= CMP_GEU ? signs[comparison->compare][stays_if] : NULL;
}

static void describe(const struct follower *s, const char *sign, char to[ENDLESS_LOOP_CHARS])
{
    const char(*last)[32] = s->operands[1], (*before)[32] = s->operands[0];
    if (!memcmp(last, before, sizeof s->operands[0]))
        snprintf(to, ENDLESS_LOOP_CHARS,
                 "continues because %s %s %s, with the same values in each iteration", last[0],
                 sign, last[1]);
    else
        snprintf(to, ENDLESS_LOOP_CHARS,
                 "continues because %s %s %s, and in the next iteration %s %s %s", before[0], sign,
                 before[1], last[0], sign, last[1]);
}

const struct ir_insn *endless_loop_find(struct vg_warp *w, int n, char text[ENDLESS_LOOP_CHARS])
{
    const struct vg_fragment f = w->fragments[n];
    struct follower s = {.w = w, .f = f.frame->function};
    memmove(&w->fragments[n], &w->fragments[n + 1],
            (size_t)(--w->fragment_count - n) * sizeof *w->fragments);
    vg_fragment_load(w, &f);
    text[0] = '\0';
    s.seen = calloc(2 * s.f->insn_count + 2, 1);
    if (!s.seen)
        return f.pc;
    s.body = s.seen + s.f->insn_count + 1;
    snprintf(s.operands[0][0], sizeof s.operands[0][0], "?"); /* one round is enough here */
    const struct ir_insn *in = follow(&s, f.pc), *back = find_way_back(&s), *out = NULL;
    const bool whole = in && w->insns == s.f->insns && back && find_body(&s, back->target);
    if (whole)
        out = find_way_out(&s);
    const struct ir_insn *comparison = out ? find_comparison(&s, out) : NULL;
    const char *sign = comparison ? sign_of(&s, out, comparison) : NULL;
    if (whole && !out) {
        snprintf(
            text, ENDLESS_LOOP_CHARS,
            "has no condition in the compiled code: the compiler found that it is always true");
    } else if (sign) {
        s.wanted = comparison;
        memset(s.operands, 0, sizeof s.operands);
        follow(&s, in);
        if (s.operands[0][0][0])
            describe(&s, sign, text);
    }
    free(s.seen);
    return out ? out : back ? back : f.pc;
}
