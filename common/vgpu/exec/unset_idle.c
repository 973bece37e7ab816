/* When does a lane never use a value that it loads?
 *
 *     1. All instructions that may use the value are known (unset_search.h).
 *     2. Each of them has a condition: a branch one of whose ways does not lead to it, or its guard.
 *     3. The condition is computed from registers that have their final values when the lane loads: each
 *        is written by one instruction, which cannot be executed after the load. Instructions
 *        between these registers and the condition are executed early, and their results taken back.
 *
 * A lane is idle if it does not meet the conditions. Where a use has no such condition, or lanes exchange
 * the value, the value is followed instead. */
#include "vgpu/exec/unset_idle.h"

#include "vgpu/exec/flows.h"
#include "vgpu/exec/unset_copies.h"
#include "vgpu/exec/unset_held.h"
#include "vgpu/exec/unset_search.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONDITIONS = 16, MOST_EARLY = 64, MOST_STEPS = 1 << 24 };

struct condition {
    uint32_t predicate; /**< offset in the frame */
    bool idle_if;       /**< a lane is idle if the predicate has this value */
    bool is_last;       /**< of the conditions of a use: one of these suffices */
};

struct unset_conditions {
    struct condition of[MOST_CONDITIONS];
    int count; /**< 0: unknown */
    struct early {
        uint32_t index;       /**< of the instruction */
        uint32_t d, e, bytes; /**< its results have so many bytes; e is d if there is only one */
    } early[MOST_EARLY];      /**< in order */
    int early_count;
};

/* ---- what the code says ---------------------------------------------------------------------- */

enum final { UNKNOWN, IS_FINAL, IS_NOT, IN_WORK };

struct finder {
    struct unset_search s;
    uint32_t *writer;    /**< [slots] index of the instruction that writes it, plus 1 */
    uint8_t *is_written; /**< [slots] more than once: 2 */
    uint8_t *final;      /**< [slots] enum final */
    uint8_t *after;      /**< [insn_count] may be executed after the load */
    uint64_t steps;      /**< left */
    struct unset_conditions *c;
};

/* Marks what may be executed after instruction @p from, in @p seen.
 * @param avoid  an instruction that is not executed; -1: none
 * @param branch  a branch (or -1) that is only taken, or never */
static void walk(struct finder *f, uint32_t from, bool is_first, int64_t avoid, int64_t branch,
                 bool taken, uint8_t *seen)
{
    struct unset_search *s = &f->s;
    size_t n = 0;
    memset(seen, 0, s->f->insn_count);
    if (is_first)
        s->stack[n++] = from;
    for (bool started = is_first; n || !started; started = true) {
        const uint32_t at = started ? s->stack[--n] : from;
        if (started && (seen[at] || at == avoid))
            continue;
        seen[at] |= started;
        f->steps -= f->steps > 0;
        const size_t count = ptx_flow_next(s->f, at, s->next);
        for (size_t i = 0; i < count; i++)
            if (at != branch || taken == (i == 0))
                s->stack[n++] = s->next[i];
    }
}

static bool precedes_load(struct finder *f, uint32_t writer)
{
    walk(f, 0, true, writer, -1, false, f->s.seen);
    return !f->s.seen[f->s.load];
}

/* @return whether an instruction has the same result if it is executed early. */
static bool may_be_early(const struct ir_insn *in, const struct ptx_operands *o)
{
    const bool may_change = in->op == IR_SREG && in->sub > SREG_NCTAID_Z; /* such as the clock */
    return ptx_flow_computes(in) && !may_change && in->op != IR_SREG_PRED && in->op != IR_UNPACK &&
           !in->guard && o->write_count <= (ptx_is_compare(in) ? 2 : 1);
}

static void add_early(struct finder *f, const struct ir_insn *in)
{
    const struct unset_search *const s = &f->s;
    struct early *const e = &f->c->early[f->c->early_count++];
    const bool compares = ptx_is_compare(in);
    e->index = in->index;
    e->d = in->d;
    e->e = compares ? in->e : in->d;
    e->bytes = compares ? sizeof(uint32_t) : s->f->slots[s->flow->slot_of[in->d / 4] - 1].bytes;
}

/* Whether a register has its final value when the lane loads, perhaps after instructions that are
 * executed early. */
static bool is_final(struct finder *f, uint32_t slot)
{
    struct unset_search *const s = &f->s;
    uint8_t *const known = &f->final[slot];
    if (s->flow->constant[slot])
        return true;
    if (*known != UNKNOWN || f->is_written[slot] != 1 || s->bytes[slot])
        return *known == IS_FINAL;
    *known = IN_WORK; /* so that a register that is computed from itself is not final */
    const struct ir_insn *in = &s->f->insns[f->writer[slot] - 1];
    bool final = !in->guard && !f->after[in->index] && precedes_load(f, in->index);
    struct ptx_operands o;
    ptx_flow_sources(s->flow, in, &o);
    /* (Before the load, what it reads need no longer be live.) */
    if (!final && f->after[in->index] && may_be_early(in, &o)) {
        final = true;
        for (int i = 0; i < o.read_count && final; i++)
            final = is_final(f, o.reads[i]);
        final = final && f->c->early_count < MOST_EARLY;
        if (final)
            add_early(f, in);
    }
    *known = final ? IS_FINAL : IS_NOT;
    return final;
}

static bool is_condition(struct finder *f, const struct ir_insn *in)
{
    const uint32_t slot = in->guard ? f->s.flow->slot_of[in->guard / 4] : 0;
    return slot && is_final(f, slot - 1);
}

static bool add_condition(struct finder *f, const struct ir_insn *of, bool idle_if)
{
    struct unset_conditions *const c = f->c;
    if (c->count == MOST_CONDITIONS)
        return false;
    c->of[c->count++] = (struct condition){of->guard, idle_if != of->guard_not, false};
    return true;
}

/* Adds the conditions of a use. @return whether it has any */
static bool add_conditions(struct finder *f, const struct ir_insn *use)
{
    struct unset_conditions *const c = f->c;
    struct unset_search *const s = &f->s;
    const int before = c->count;
    if (use->op != IR_BRA && is_condition(f, use) && !add_condition(f, use, false))
        return false;
    for (size_t i = 0; i < s->f->insn_count && f->steps; i++) {
        const struct ir_insn *const in = &s->f->insns[i];
        if (in->op != IR_BRA || !f->after[i] || !is_condition(f, in))
            continue;
        for (int taken = 0; taken < 2; taken++) {
            walk(f, s->load, false, -1, in->index, taken, s->seen);
            if (!s->seen[use->index] && !add_condition(f, in, taken))
                return false;
        }
    }
    if (c->count == before || !f->steps)
        return false;
    c->of[c->count - 1].is_last = true;
    return true;
}

/* Adds the conditions of all uses of a value. @return whether each use has some */
static bool add_uses(struct finder *f)
{
    struct unset_search *const s = &f->s;
    int64_t block = -1;
    memset(f->final, UNKNOWN, s->f->slot_count);
    for (size_t i = 0; i < s->f->insn_count; i++) {
        const struct ir_insn *const in = &s->f->insns[i];
        if (!f->after[i] || unset_use_by(s, in) == UNSET_IGNORED ||
            (in->block == block && !in->guard))
            continue;
        if (!add_conditions(f, in))
            return false;
        block = in->guard ? -1 : (int64_t)in->block;
    }
    return !unset_is_exchanged(s);
}

static void find_writers(struct finder *f)
{
    for (size_t i = 0; i < f->s.f->insn_count; i++) {
        struct ptx_operands o;
        ptx_flow_operands(f->s.flow, &f->s.f->insns[i], &o);
        for (int k = 0; k < o.write_count; k++) {
            f->writer[o.writes[k]] = (uint32_t)i + 1;
            f->is_written[o.writes[k]] += f->is_written[o.writes[k]] < 2;
        }
    }
}

/* Removes instructions that no condition needs: those of branches that lead to all uses either way. */
static void remove_unneeded(struct finder *f)
{
    const struct ptx_flow *const flow = f->s.flow;
    struct unset_conditions *const c = f->c;
    bool is_needed[MOST_EARLY];
    memset(f->final, UNKNOWN, f->s.f->slot_count); /* from here on: IS_FINAL if it is needed */
    for (int i = 0; i < c->count; i++)
        f->final[flow->slot_of[c->of[i].predicate / 4] - 1] = IS_FINAL;
    for (int i = c->early_count; i-- > 0;) {
        struct ptx_operands o;
        ptx_flow_sources(flow, &f->s.f->insns[c->early[i].index], &o);
        is_needed[i] = false;
        for (int k = 0; k < o.write_count; k++)
            is_needed[i] |= f->final[o.writes[k]] == IS_FINAL;
        for (int k = 0; k < o.read_count && is_needed[i]; k++)
            f->final[o.reads[k]] = IS_FINAL;
    }
    int kept = 0;
    for (int i = 0; i < c->early_count; i++)
        if (is_needed[i])
            c->early[kept++] = c->early[i];
    c->early_count = kept;
}

static struct unset_conditions *find_conditions(struct vg_module *m, const struct ir_function *f,
                                                const struct ir_insn *load)
{
    struct finder x = {.steps = MOST_STEPS, .c = calloc(1, sizeof *x.c)};
    unset_search_start(&x.s, m, f, load);
    x.writer = calloc(f->slot_count + 1, sizeof *x.writer);
    x.is_written = calloc(f->slot_count + 1, 1);
    x.final = calloc(f->slot_count + 1, 1);
    x.after = calloc(f->insn_count + 1, 1);
    if (!x.c || !x.writer || !x.is_written || !x.final || !x.after)
        abort();
    find_writers(&x);
    walk(&x, load->index, false, -1, -1, false, x.after);
    x.s.after = x.after;
    for (uint32_t k = 0; k < load->vector; k++) {
        const uint32_t slot = x.s.flow->slot_of[ptx_element_slot(f, load, k, load->d) / 4];
        if (!slot || load->unread >> k & 1)
            continue;
        unset_search_value(&x.s, slot - 1, 0xff);
        if (!add_uses(&x)) {
            x.c->count = 0;
            break;
        }
    }
    remove_unneeded(&x);
    unset_search_end(&x.s);
    free(x.writer);
    free(x.is_written);
    free(x.final);
    free(x.after);
    return x.c;
}

static const struct unset_conditions *
conditions_of(struct vg_module *m, const struct ir_function *f, const struct ir_insn *load)
{
    _Atomic(struct unset_conditions *) *const at = &m->unset_conditions[load->number];
    struct unset_conditions *known = atomic_load(at), *own;
    if (known)
        return known;
    own = find_conditions(m, f, load);
    if (atomic_compare_exchange_strong(at, &known, own))
        return own;
    free(own);
    return known;
}

void unset_conditions_free(struct vg_module *m)
{
    for (uint32_t i = 0; m->unset_conditions && i < m->ir.insn_count; i++)
        free(atomic_load(&m->unset_conditions[i]));
    free(m->unset_conditions);
}

/* ---- what a warp does ------------------------------------------------------------------------ */

/* Copies the results of instructions that are executed early to a buffer, or back. */
static void copy_results(const struct vg_warp *w, const struct unset_conditions *c, char *to,
                         bool back)
{
    for (int i = 0; i < c->early_count; i++)
        for (int k = 0; k < 2; k++) {
            char *const slot = w->regs + (k ? c->early[i].e : c->early[i].d);
            const size_t bytes = c->early[i].bytes;
            memcpy(back ? slot : to, back ? to : slot, bytes);
            to += bytes;
        }
}

static uint32_t find_idle(struct vg_warp *w, const struct unset_conditions *c)
{
    char *const results = malloc((size_t)c->early_count * 2 * 16 * VG_LANES + 1);
    uint32_t idle = w->mask, of_use = 0;
    if (!results)
        abort();
    copy_results(w, c, results, false);
    for (int i = 0; i < c->early_count; i++) {
        const struct ir_insn *const in = &w->insns[c->early[i].index];
        in->once(in, w);
    }
    for (int i = 0; i < c->count; i++) {
        const uint32_t p = *(const uint32_t *)(const void *)(w->regs + c->of[i].predicate);
        of_use |= c->of[i].idle_if ? p : ~p;
        if (c->of[i].is_last) {
            idle &= of_use;
            of_use = 0;
        }
    }
    copy_results(w, c, results, true);
    free(results);
    return c->count ? idle : 0;
}

static struct unset_verdict *verdict_of(struct vg_unset *u, const struct ir_insn *load)
{
    return &u->judged.of[load->number % UNSET_JUDGED];
}

uint32_t unset_idle_lanes(const struct vg_warp *w, const struct ir_insn *load)
{
    const struct unset_verdict *const v = w->unset ? verdict_of(w->unset, load) : NULL;
    return v && v->in == load ? v->idle : 0;
}

void unset_judge_later(struct vg_warp *w, const struct ir_insn *load, uint32_t lane)
{
    struct unset_judged *const j = &unset_of(w)->judged;
    const struct unset_verdict *const v = verdict_of(w->unset, load);
    if (load->op != IR_LD || (v->in == load && v->judged >> lane & 1) ||
        j->pending_count == UNSET_PENDING ||
        (j->pending_count && j->pending[j->pending_count - 1] == load))
        return;
    j->pending[j->pending_count++] = load;
}

static void judge(struct vg_warp *w, const struct ir_insn *load)
{
    struct unset_verdict *const v = verdict_of(w->unset, load);
    const struct ir_function *const f = w->frame->function;
    if (!f->is_entry || load->index >= f->insn_count || &f->insns[load->index] != load)
        return;
    const uint32_t idle = find_idle(w, conditions_of(w->block->launch->module, f, load));
    if (v->in != load)
        *v = (struct unset_verdict){.in = load};
    v->judged |= w->mask;
    v->idle = (v->idle & ~w->mask) | idle;
    unset_drop_source(w, load, idle);
}

void unset_judge(struct vg_warp *w)
{
    struct unset_judged *const j = &w->unset->judged;
    for (int i = 0; i < j->pending_count; i++)
        judge(w, j->pending[i]);
    j->pending_count = 0;
}
