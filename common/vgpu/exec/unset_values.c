/* Loaded values that nothing wrote: does the program use them?
 *
 * A merge reads one element past the end of a list, and then decides by the list's length to ignore
 * it. A vector may have an element that no thread writes and that is never looked at. Such reads
 * are not mistakes. This file follows a loaded value through the registers of its function:
 *
 *     1. A result computed from the value depends on it.
 *     2. A selection may leave it out: selp; in a block that is executed conditionally, a move, or a
 *        comparison whose predicate is also set elsewhere; the conjunction or disjunction of a
 *        comparison and another condition. There the search ends.
 *     3. The value is used if something that depends on it is stored, is an address, or is an operand
 *        of any other instruction that does more than compute; or if it decides a branch that is
 *        always executed after the load.
 *
 * Registers are followed without regard to the order of instructions. So the search may find a use
 * where there is none, which is then reported. */
#include "vgpu/exec/unset_values.h"

#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN = 0x8000 }; /* beside the bits of the elements that are used */

struct search {
    const struct ir_function *f;
    struct ptx_flow *flow;
    uint64_t *depends; /**< set of the slots that depend on the value */
    uint8_t
        *always;   /**< [blocks] 1: executed after each execution of the load, 2: not; 0: unknown */
    uint8_t *seen; /**< [insn_count] */
    uint32_t *stack, *next;
    uint32_t load;
};

static bool depends(const struct search *s, uint32_t offset)
{
    const uint32_t slot = s->flow->slot_of[offset / 4];
    return slot && ptx_set_has(s->depends, slot - 1);
}

/* @return whether no path from the load to an end of the function avoids a block. */
static bool find_always(struct search *s, uint32_t block)
{
    const struct ir_function *f = s->f;
    size_t n = 0;
    memset(s->seen, 0, f->insn_count);
    for (s->stack[n++] = s->load; n;) {
        const uint32_t at = s->stack[--n];
        const struct ir_insn *in = &f->insns[at];
        if (s->seen[at] || (at != s->load && in->block == block))
            continue;
        s->seen[at] = 1;
        if (in->op == IR_RET || in->op == IR_EXIT)
            return false;
        for (size_t i = ptx_flow_next(f, at, s->next); i-- > 0;)
            s->stack[n++] = s->next[i];
    }
    return true;
}

static bool is_always_executed(struct search *s, const struct ir_insn *in)
{
    uint8_t *known = &s->always[in->block];
    if (!*known)
        *known = in->block == s->f->insns[s->load].block || find_always(s, in->block) ? 1 : 2;
    return *known == 1 && (!in->guard || in->op == IR_BRA);
}

static bool is_set_elsewhere(const struct search *s, const struct ir_insn *in)
{
    for (size_t i = 0; i < s->f->insn_count; i++) {
        const struct ir_insn *other = &s->f->insns[i];
        if (other != in && other->d == in->d && ptx_flow_computes(other))
            return true;
    }
    return false;
}

/* @return whether an instruction that reads the value may ignore it. */
static bool may_ignore(struct search *s, const struct ir_insn *in)
{
    switch (in->op) {
    case IR_SELP_32:
    case IR_SELP_64:
        return !depends(s, in->c);
    case IR_AND_PRED:
    case IR_OR_PRED:
        return depends(s, in->a) != depends(s, in->b);
    case IR_MOV_32:
    case IR_MOV_64:
    case IR_MOV_PRED:
        return !is_always_executed(s, in);
    default:
        if (!ptx_is_compare(in))
            return false;
        if ((in->boolean == BOOL_AND || in->boolean == BOOL_OR) &&
            depends(s, in->c) != (depends(s, in->a) || depends(s, in->b)))
            return true;
        return !is_always_executed(s, in) && is_set_elsewhere(s, in);
    }
}

enum effect { NOTHING, MORE, USE };

/* Adds the results of an instruction that depend on the value. */
static enum effect pass(struct search *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    ptx_flow_sources(s->flow, in, &o);
    bool reads = false;
    for (int i = 0; i < o.read_count; i++)
        reads |= ptx_set_has(s->depends, o.reads[i]);
    if (!reads)
        return NOTHING;
    if (in->guard && depends(s, in->guard))
        return is_always_executed(s, in) ? USE : NOTHING;
    if (!ptx_flow_computes(in))
        return USE;
    bool more = false;
    for (int i = 0; i < o.write_count && !may_ignore(s, in); i++) {
        more |= !ptx_set_has(s->depends, o.writes[i]);
        ptx_set_add(s->depends, o.writes[i]);
    }
    return more ? MORE : NOTHING;
}

static bool is_used(struct search *s, uint32_t slot)
{
    memset(s->depends, 0, s->flow->words * sizeof *s->depends);
    ptx_set_add(s->depends, slot);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < s->f->insn_count; i++) {
            const enum effect effect = pass(s, &s->f->insns[i]);
            if (effect == USE)
                return true;
            more |= effect == MORE;
        }
    }
    return false;
}

/* @return a bit for each element that is used. */
static uint32_t find_used(const struct ir_function *f, const struct ir_insn *in)
{
    uint32_t used = 0;
    struct search s = {.f = f, .load = in->index, .flow = ptx_flow_new(f)};
    if (!s.flow)
        abort();
    s.depends = calloc(s.flow->words + 1, sizeof *s.depends);
    s.always = calloc(f->block_count + 1, 1);
    s.seen = malloc(f->insn_count + 1);
    s.stack = malloc((4 * f->insn_count + f->extra_count + 4) * sizeof *s.stack);
    s.next = malloc((f->extra_count + 2) * sizeof *s.next);
    if (!s.depends || !s.always || !s.seen || !s.stack || !s.next)
        abort();
    for (uint32_t k = 0; k < in->vector; k++) {
        const uint32_t slot =
            s.flow->slot_of[(in->vector == 1 ? in->d : f->extra[in->extra + k]) / 4];
        if (slot && is_used(&s, slot - 1))
            used |= 1u << k;
    }
    free(s.depends);
    free(s.always);
    free(s.seen);
    free(s.stack);
    free(s.next);
    ptx_flow_free(s.flow);
    return used;
}

bool unset_value_is_used(struct vg_module *m, const struct ir_function *f, const struct ir_insn *in,
                         uint32_t elements)
{
    _Atomic uint16_t *known = &m->unset_uses[in->number];
    if (!*known)
        *known = (uint16_t)(KNOWN | find_used(f, in));
    return (*known & elements) != 0;
}
