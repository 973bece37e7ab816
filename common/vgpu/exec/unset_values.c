/* Loaded values that nothing wrote: may the program use them?
 *
 * A merge reads one element past the end of a list, and then decides by the list's length to ignore
 * it. A vector may have an element that no thread writes and that is never looked at. Such reads
 * are not mistakes. This file searches the code of a function for uses of a loaded value. Most loads
 * have none that the value could reach, so that the warp that executes them need not be watched.
 * Otherwise unset_copies.c follows the value while the function runs.
 *
 *     1. A result computed from the value depends on it. Moves of bytes are followed byte by byte, since
 *        only a part of the value may be unwritten.
 *     2. A selection may leave it out: selp; in a block that is executed conditionally, a move, or a
 *        comparison whose predicate is also set elsewhere; the conjunction or disjunction of a
 *        comparison and another condition. There the search ends for the result of a shuffle, which
 *        is not followed at run time.
 *     3. The value is used if something that depends on it is stored, is an address, or is an operand
 *        of any other instruction that does more than compute; or if it decides a branch that is
 *        always executed after the load.
 *     4. But if the value itself is stored, after moves at most, it is only copied, also where a
 *        selection may leave it out. (unset_copies.c finds out whether it is.)
 *
 * Registers are followed without regard to the order of instructions. So the search may find a use
 * where there is none. */
#include "vgpu/exec/unset_values.h"

#include "vgpu/exec/flows.h"
#include "vgpu/exec/unset_search.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A known answer; a list for each load. */
struct unset_known {
    struct unset_known *next;
    uint32_t bytes;
    enum unset_use use;
    _Atomic uint8_t always[]; /**< [blocks] as in struct unset_search */
};

/* @return whether an instruction only computes its results, maybe of another lane's operand. */
static bool computes(const struct ir_insn *in)
{
    return ptx_flow_computes(in) || in->op == IR_SHFL;
}

bool unset_depends(const struct unset_search *s, uint32_t offset)
{
    const uint32_t slot = s->flow->slot_of[offset / 4];
    return slot && s->bytes[slot - 1];
}

/* @return whether no path from the load to an end of the function avoids a block. */
static bool find_always(struct unset_search *s, uint32_t block)
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

static bool is_always_executed(struct unset_search *s, const struct ir_insn *in)
{
    uint8_t *known = &s->always[in->block];
    if (!*known)
        *known = in->block == s->f->insns[s->load].block || find_always(s, in->block) ? 1 : 2;
    return *known == 1 && (!in->guard || in->op == IR_BRA);
}

static bool is_set_elsewhere(const struct unset_search *s, const struct ir_insn *in)
{
    for (size_t i = 0; i < s->f->insn_count; i++) {
        const struct ir_insn *other = &s->f->insns[i];
        if (other != in && other->d == in->d && computes(other))
            return true;
    }
    return false;
}

/* @return whether an instruction that reads the result of a shuffle may ignore it. (For the value of a
 * load, unset_copies.c finds out at run time.) */
static bool may_ignore(struct unset_search *s, const struct ir_insn *in)
{
    if (s->f->insns[s->load].op != IR_SHFL)
        return false;
    switch (in->op) {
    case IR_SELP_32:
    case IR_SELP_64:
        return !unset_depends(s, in->c);
    case IR_AND_PRED:
    case IR_OR_PRED:
        return unset_depends(s, in->a) != unset_depends(s, in->b);
    case IR_MOV_32:
    case IR_MOV_64:
    case IR_MOV_PRED:
        return !is_always_executed(s, in);
    default:
        if (!ptx_is_compare(in))
            return false;
        if ((in->boolean == BOOL_AND || in->boolean == BOOL_OR) &&
            unset_depends(s, in->c) != (unset_depends(s, in->a) || unset_depends(s, in->b)))
            return true;
        return !is_always_executed(s, in) && is_set_elsewhere(s, in);
    }
}

static const struct {
    uint16_t op;
    int kept;
} moves[] = {{IR_MOV_32, 4},      {IR_MOV_64, 8},      {IR_CVT_U64_U32, 4}, {IR_CVT_U64_LOW, 4},
             {IR_CVT_U64_U16, 2}, {IR_CVT_U64_U8, 1},  {IR_CVT_U32_U64, 4}, {IR_CVT_U32_U16, 2},
             {IR_CVT_U32_U8, 1},  {IR_CVT_U16_U64, 2}, {IR_CVT_U16_U32, 2}, {IR_CVT_U16_U8, 1},
             {IR_AND_32, 4},      {IR_AND_64, 8},      {IR_PRMT, 4},        {IR_SHR_U32, 4},
             {IR_SHR_U64, 8},     {IR_SHL_32, 4},      {IR_SHL_64, 8},      {IR_SHFL, 4}};

int unset_bytes_kept(const struct ir_insn *in)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].op == in->op)
            return moves[i].kept;
    return 0;
}

static const struct ir_constant *constant_at(const struct ptx_flow *flow, uint32_t offset)
{
    const uint32_t slot = flow->slot_of[offset / 4];
    return slot ? flow->constant[slot - 1] : NULL;
}

static bool has_whole_bytes(const struct ir_constant *c)
{
    bool whole = c && !c->is_param;
    for (int i = 0; whole && i < 64; i += 8)
        whole = (c->bits >> i & 0xff) == 0 || (c->bits >> i & 0xff) == 0xff;
    return whole;
}

static bool shifts_bytes(const struct ir_constant *c)
{
    return c && !c->is_param && c->bits % 8 == 0 && c->bits < 64;
}

bool unset_is_copy(const struct ptx_flow *flow, const struct ir_insn *in)
{
    switch (in->op) {
    case IR_SELP_32:
    case IR_SELP_64:
    case IR_PACK:
    case IR_UNPACK:
        return true;
    case IR_AND_32:
    case IR_AND_64:
        return has_whole_bytes(constant_at(flow, in->b));
    case IR_PRMT:
        return constant_at(flow, in->c) != NULL;
    case IR_SHR_U32:
    case IR_SHR_U64:
    case IR_SHL_32:
    case IR_SHL_64:
        return shifts_bytes(constant_at(flow, in->b));
    default:
        return unset_bytes_kept(in) != 0;
    }
}

static bool reads_any(const struct ptx_operands *o, const uint64_t *set)
{
    bool reads = false;
    for (int i = 0; i < o->read_count; i++)
        reads |= ptx_set_has(set, o->reads[i]);
    return reads;
}

static bool add_results(const struct ptx_operands *o, uint64_t *set)
{
    bool more = false;
    for (int i = 0; i < o->write_count; i++) {
        more |= !ptx_set_has(set, o->writes[i]);
        ptx_set_add(set, o->writes[i]);
    }
    return more;
}

static uint8_t bytes_at(const struct unset_search *s, uint32_t offset)
{
    const uint32_t slot = s->flow->slot_of[offset / 4];
    return slot ? s->bytes[slot - 1] : 0;
}

static bool add_bytes(struct unset_search *s, uint32_t offset, uint32_t bytes)
{
    const uint32_t slot = s->flow->slot_of[offset / 4];
    if (!slot || s->flow->constant[slot - 1] || !((bytes & 0xff) & ~(uint32_t)s->bytes[slot - 1]))
        return false;
    s->bytes[slot - 1] |= (uint8_t)bytes;
    return true;
}

static uint32_t low_bytes(uint32_t n)
{
    return (1u << n) - 1;
}

/* @return the dependent bytes of the result d of an instruction. */
static uint32_t result_bytes(const struct unset_search *s, const struct ir_insn *in)
{
    const uint32_t a = bytes_at(s, in->a), b = bytes_at(s, in->b);
    const struct ir_constant *const c = constant_at(s->flow, in->op == IR_PRMT ? in->c : in->b);
    const bool known = c && !c->is_param;
    uint32_t result = 0;
    switch (in->op) {
    case IR_AND_32:
    case IR_AND_64:
        for (int i = 0; i < 8; i++)
            result |= known && !(c->bits >> 8 * i & 0xff) ? 0 : ((a | b) & 1u << i);
        return result;
    case IR_OR_32:
    case IR_OR_64:
        return a | b;
    case IR_PRMT:
        for (int i = 0; i < 4 && known; i++)
            result |= ((a & 0xf) | b << 4) >> (c->bits >> 4 * i & 7) & 1 ? 1u << i : 0;
        return known ? result : low_bytes(4);
    case IR_SHR_U32:
    case IR_SHR_U64:
        return shifts_bytes(c) ? a >> c->bits / 8 : low_bytes(8);
    case IR_SHL_32:
    case IR_SHL_64:
        return shifts_bytes(c) ? a << c->bits / 8 : low_bytes(8);
    default:
        return unset_bytes_kept(in) ? a & low_bytes((uint32_t)unset_bytes_kept(in)) : low_bytes(8);
    }
}

static bool reads_bytes(const struct unset_search *s, const struct ptx_operands *o)
{
    uint8_t reads = 0;
    for (int i = 0; i < o->read_count; i++)
        reads |= s->bytes[o->reads[i]];
    return reads != 0;
}

/* Adds the parts of a list of registers, or of one that is made from a list. */
static bool add_parts(struct unset_search *s, const struct ir_insn *in)
{
    const uint32_t *const parts = &s->f->extra[in->extra], each = low_bytes(in->bytes);
    uint32_t all = 0;
    bool more = false;
    for (uint32_t k = 0; k < in->vector; k++)
        if (in->op == IR_PACK)
            all |= (bytes_at(s, parts[k]) & each) << k * in->bytes;
        else
            more |= add_bytes(s, parts[k], (uint32_t)bytes_at(s, in->a) >> k * in->bytes & each);
    return in->op == IR_PACK ? add_bytes(s, in->d, all) : more;
}

/* Adds the results of an instruction that depend on the value. @return whether there are new ones */
static bool add_dependent(struct unset_search *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    ptx_flow_sources(s->flow, in, &o);
    if (!reads_bytes(s, &o) || (in->guard && unset_depends(s, in->guard)) || !computes(in) ||
        may_ignore(s, in))
        return false;
    if (in->op == IR_PACK || in->op == IR_UNPACK)
        return add_parts(s, in);
    bool more = false;
    for (int i = 0; i < o.write_count; i++) {
        const uint32_t offset = s->f->slots[o.writes[i]].offset;
        if (offset == in->d || in->op != IR_SHFL) /* e: whether the other lane is in range */
            more |= add_bytes(s, offset, offset == in->d ? result_bytes(s, in) : low_bytes(8));
    }
    return more;
}

/* @return whether the result of an instruction contains its operands unchanged. */
static bool copies_operands(const struct unset_search *s, const struct ir_insn *in)
{
    const bool selects = in->op == IR_SELP_32 || in->op == IR_SELP_64;
    return unset_is_copy(s->flow, in) && !(selects && unset_depends(s, in->c));
}

static bool add_copies(struct unset_search *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    if (!copies_operands(s, in))
        return false;
    ptx_flow_sources(s->flow, in, &o);
    return reads_any(&o, s->copies) && add_results(&o, s->copies);
}

static bool add_computed(struct unset_search *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    ptx_flow_sources(s->flow, in, &o);
    return computes(in) &&
           (copies_operands(s, in) ? reads_any(&o, s->results) : reads_bytes(s, &o)) &&
           add_results(&o, s->results);
}

/* @return whether a store depends on the value: by its guard, its address, or the bytes it stores. */
static bool depends_on_stored(const struct unset_search *s, const struct ir_insn *in)
{
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < in->vector; k++)
        bytes |= bytes_at(s, in->vector == 1 ? in->b : s->f->extra[in->extra + k]);
    return (in->guard && unset_depends(s, in->guard)) ||
           (!in->fixed_address && unset_depends(s, in->a)) || bytes & low_bytes(in->bytes);
}

/* @return what an instruction does with the value. */
enum unset_use unset_use_by(struct unset_search *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    ptx_flow_sources(s->flow, in, &o);
    const bool copies = in->op == IR_ST && reads_any(&o, s->copies);
    if (!reads_bytes(s, &o) || (in->op == IR_ST && !depends_on_stored(s, in)))
        return copies ? UNSET_COPIED : UNSET_IGNORED;
    if (in->guard && unset_depends(s, in->guard))
        return is_always_executed(s, in) ? UNSET_USED : UNSET_IGNORED;
    for (int i = 0; copies && i < o.read_count; i++)
        if (s->bytes[o.reads[i]] && ptx_set_has(s->results, o.reads[i]))
            return UNSET_USED;
    if (copies && (in->fixed_address || !unset_depends(s, in->a)))
        return UNSET_COPIED;
    if (in->op == IR_SHFL &&
        (unset_depends(s, in->b) || unset_depends(s, in->c) || unset_depends(s, in->f)))
        return UNSET_USED;
    return computes(in) ? UNSET_IGNORED : UNSET_USED;
}

static void grow(struct unset_search *s,
                 bool (*add)(struct unset_search *s, const struct ir_insn *in))
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < s->f->insn_count; i++)
            more |= (!s->after || s->after[i]) && add(s, &s->f->insns[i]);
    }
}

void unset_search_value(struct unset_search *s, uint32_t slot, uint32_t bytes)
{
    memset(s->bytes, 0, s->f->slot_count);
    memset(s->copies, 0, s->flow->words * sizeof *s->copies);
    memset(s->results, 0, s->flow->words * sizeof *s->results);
    s->bytes[slot] = (uint8_t)bytes;
    ptx_set_add(s->copies, slot);
    grow(s, add_dependent);
    grow(s, add_copies);
    grow(s, add_computed);
}

static enum unset_use find_use(struct unset_search *s, uint32_t slot, uint32_t bytes)
{
    enum unset_use use = UNSET_IGNORED;
    unset_search_value(s, slot, bytes);
    for (size_t i = 0; i < s->f->insn_count && use != UNSET_USED; i++) {
        const enum unset_use one = unset_use_by(s, &s->f->insns[i]);
        use = one > use ? one : use;
    }
    return use;
}

bool unset_is_exchanged(const struct unset_search *s)
{
    for (size_t i = 0; i < s->f->insn_count; i++)
        if (s->f->insns[i].op == IR_SHFL && unset_depends(s, s->f->insns[i].a))
            return true;
    return false;
}

void unset_search_start(struct unset_search *s, struct vg_module *m, const struct ir_function *f,
                        const struct ir_insn *load)
{
    *s = (struct unset_search){.f = f, .load = load->index, .flow = flow_of(m, f)};
    s->bytes = calloc(f->slot_count + 1, 1);
    s->copies = calloc(s->flow->words + 1, sizeof *s->copies);
    s->results = calloc(s->flow->words + 1, sizeof *s->results);
    s->always = calloc(f->block_count + 1, 1);
    s->seen = malloc(f->insn_count + 1);
    s->stack = malloc((4 * f->insn_count + f->extra_count + 4) * sizeof *s->stack);
    s->next = malloc((f->extra_count + 2) * sizeof *s->next);
    if (!s->bytes || !s->copies || !s->results || !s->always || !s->seen || !s->stack || !s->next)
        abort();
}

void unset_search_end(struct unset_search *s)
{
    free(s->bytes);
    free(s->copies);
    free(s->results);
    free(s->always);
    free(s->seen);
    free(s->stack);
    free(s->next);
}

/* @return the strongest use of the elements of a load, or of the result of a shuffle. */
static enum unset_use find_uses(struct vg_module *m, const struct ir_function *f,
                                const struct ir_insn *in, uint32_t bytes)
{
    enum unset_use use = UNSET_IGNORED;
    struct unset_search s;
    unset_search_start(&s, m, f, in);
    const bool is_single = in->op == IR_SHFL || in->vector == 1;
    for (uint32_t k = 0; k < (is_single ? 1 : in->vector) && use != UNSET_USED; k++) {
        const uint32_t unset = bytes >> k * in->bytes & low_bytes(in->bytes);
        const uint32_t slot = s.flow->slot_of[(is_single ? in->d : f->extra[in->extra + k]) / 4];
        if (!unset || !slot)
            continue;
        const bool extends = ptx_type_is_signed((enum ptx_type)in->type);
        const enum unset_use one = find_use(&s, slot - 1, extends ? low_bytes(8) : unset);
        use = one > use ? one : use;
    }
    unset_search_end(&s);
    return use;
}

bool unset_decides(struct vg_module *m, const struct ir_function *f, const struct ir_insn *load,
                   const struct ir_insn *branch)
{
    struct unset_known *known = atomic_load(&m->unset_uses[load->number]);
    _Atomic uint8_t *always = known ? &known->always[branch->block] : NULL;
    if (always && *always)
        return *always == 1;
    struct unset_search s;
    unset_search_start(&s, m, f, load);
    const bool decides = is_always_executed(&s, branch);
    unset_search_end(&s);
    if (always)
        *always = decides ? 1 : 2;
    return decides;
}

enum unset_use unset_value_use(struct vg_module *m, const struct ir_function *f,
                               const struct ir_insn *in, uint32_t bytes)
{
    _Atomic(struct unset_known *) *at = &m->unset_uses[in->number];
    struct unset_known *first = atomic_load(at);
    for (const struct unset_known *k = first; k; k = k->next)
        if (k->bytes == bytes)
            return k->use;
    struct unset_known *own = calloc(1, sizeof *own + f->block_count * sizeof *own->always);
    if (!own)
        abort();
    own->next = first;
    own->bytes = bytes;
    own->use = find_uses(m, f, in, bytes);
    const enum unset_use use = own->use;
    while (!atomic_compare_exchange_weak(at, &own->next, own))
        continue;
    return use;
}

void unset_uses_free(struct vg_module *m)
{
    for (uint32_t i = 0; m->unset_uses && i < m->ir.insn_count; i++)
        for (struct unset_known *k = atomic_load(&m->unset_uses[i]), *next; k; k = next) {
            next = k->next;
            free(k);
        }
    free(m->unset_uses);
}
