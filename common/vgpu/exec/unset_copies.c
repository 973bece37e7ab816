#include "vgpu/exec/unset_copies.h"

#include "vgpu/exec/clusters.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/unset_held.h"
#include "vgpu/exec/unset_local.h"
#include "vgpu/exec/unset_moves.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>

void unset_loaded(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  uint32_t bytes, bool whole, bool may_be_used)
{
    const bool computed =
        address < VG_GLOBAL_BASE && vg_block_has_computed(w->block, address, bytes);
    unset_of(w);
    unset_hold_elements(w, in, (uint32_t)lane, bytes,
                        &(struct unset_source){.in = in,
                                               .address = address,
                                               .lane = (uint8_t)lane,
                                               .whole = whole,
                                               .may_be_used = may_be_used || computed,
                                               .computed = computed});
}

/* ---- uses ------------------------------------------------------------------------------------ */

bool unset_is_reported(const struct vg_warp *w, const struct ir_insn *in)
{
    for (int i = 0; w->unset && i < w->unset->reported_count; i++)
        if (w->unset->reported[i] == in)
            return true;
    return false;
}

/* Records the finding that the load of a byte read unwritten memory. @param by  the use, or NULL */
static void find_source(struct vg_warp *w, const struct unset_source *from,
                        const struct ir_insn *by)
{
    const uint32_t size = (uint32_t)from->in->bytes * from->in->vector;
    if (from->is_local)
        vg_find_unset_local(w, from->in, from->lane, from->address, size, from->copied, by);
    else if (from->address < VG_GLOBAL_BASE)
        vg_find_unset_shared(w, from->in, from->lane, from->address, size, by);
    else
        vg_find_unset_global(w, from->in, from->lane, from->address, size, by);
}

/* Reports that an instruction uses a register in some lanes. From then on, each load by the same
 * instruction is reported at once, so that an incorrect kernel is not followed for long. */
static void use(struct vg_warp *w, const struct ir_insn *by, uint32_t slot, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const struct unset_held *h = unset_find(u, w->frame, slot);
    const struct ir_insn *loads[VG_LANES];
    int count = 0;
    for (uint32_t left = h ? lanes & h->lanes : 0; left; left &= left - 1) {
        const struct unset_source *from = &h->from[__builtin_ctz(left)];
        if (!from->may_be_used)
            continue;
        find_source(w, from, by);
        if (!count || loads[count - 1] != from->in)
            loads[count++] = from->in;
    }
    for (int k = 0; k < count; k++) {
        if (u->reported_count < UNSET_REPORTED && !unset_is_reported(w, loads[k]))
            u->reported[u->reported_count++] = loads[k];
        for (int i = 0; i < u->count; i++)
            for (uint32_t left = u->held[i].lanes; left; left &= left - 1)
                if (u->held[i].from[__builtin_ctz(left)].in == loads[k])
                    u->held[i].lanes &= ~(left & -left);
    }
}

/* Any other instruction that does more than compute uses all that it reads. */
static void do_more(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct ir_function *f = w->frame->function;
    struct ptx_operands o;
    struct ir_insn plain = *in;
    plain.guard = 0;
    if (in->op != IR_BAR && in->op != IR_CALL)
        plain.d = 0; /* ptx_flow_sources() does not know that d is only written */
    ptx_flow_sources(flow_of(w->block->launch->module, f), &plain, &o);
    for (int i = 0; i < o.read_count; i++)
        use(w, in, f->slots[o.reads[i]].offset, lanes);
    unset_overwrite(w, in, lanes);
}

/* A branch uses its predicate, if it is executed whenever the load is: otherwise the compiler may
 * have put the branch before the one that decides whether it matters. */
static void branch(struct vg_warp *w, const struct ir_insn *in)
{
    const struct unset_held *h = unset_find(w->unset, w->frame, in->guard);
    uint32_t lanes = 0;
    for (uint32_t left = h ? h->lanes & w->mask : 0; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (unset_usable_bytes(h, lane) &&
            unset_decides(w->block->launch->module, w->frame->function, h->from[lane].in, in))
            lanes |= left & -left;
    }
    use(w, in, in->guard, lanes);
}

/* ---- before an instruction ------------------------------------------------------------------- */

/* @return whether a lane stores a word again after changing some bits. It may have set the first of
 * several bit fields: the word counts as written then, since bits are not followed. */
static bool sets_bits(const struct unset_source *from, uint64_t address)
{
    return from->masked && from->address == address;
}

static void store(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const struct unset_held *held[8];
    uint64_t address[VG_LANES], at;
    uint32_t some = 0;
    for (uint32_t k = 0; k < in->vector; k++) {
        held[k] = unset_find(u, w->frame, ptx_element_slot(w->frame->function, in, k, in->b));
        some |= held[k] ? held[k]->lanes & lanes : 0;
    }
    u->stores = 0;
    if (!some && !u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct unset_source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const uint32_t own = unset_held_bytes(held[k], lane) & ((1u << in->bytes) - 1);
            if (!own || sets_bits(&held[k]->from[lane], address[lane]))
                continue;
            bytes |= own << k * in->bytes;
            if (!from.computed)
                from = held[k]->from[lane];
        }
        if (unset_is_local(in, address[lane], &at)) {
            unset_local_store(w, lane, at, bytes, (uint32_t)in->bytes * in->vector, &from);
        } else if (bytes) {
            u->stores |= 1u << lane;
            u->at[lane] = address[lane];
            u->stored[lane] = bytes;
            u->stored_from[lane] = from;
        }
    }
}

void unset_before(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_unset *u = w->unset;
    const uint64_t slots = unset_slot_bit(in->guard) | unset_slot_bit(in->a) |
                           unset_slot_bit(in->b) | unset_slot_bit(in->c) | unset_slot_bit(in->d) |
                           unset_slot_bit(in->e) | unset_slot_bit(in->f);
    u->stores = 0;
    if (!(slots & u->maybe) && !in->extras && !u->local_count)
        return;
    const uint32_t lanes = proof_lanes(w, in);
    if ((in->op == IR_LD || in->op == IR_ST) && !in->fixed_address)
        use(w, in, in->a, lanes);
    if (in->op == IR_BRA) {
        if (in->guard)
            branch(w, in);
    } else if (in->op == IR_LD) {
        unset_local_load(w, in, lanes);
    } else if (in->op == IR_ST) {
        store(w, in, lanes);
    } else if (in->op == IR_SHFL) { /* see unset_shuffled() */
        use(w, in, in->b, lanes);
        use(w, in, in->c, lanes);
        use(w, in, in->f, lanes);
    } else if (!unset_move(w, in, lanes)) {
        do_more(w, in, lanes);
    }
}

/* ---- after an instruction -------------------------------------------------------------------- */

static void unmark_shared(struct vg_warp *w, uint64_t at, uint32_t bytes,
                          const struct unset_source *from)
{
    struct vg_block *b = w->block;
    if (at >= VG_SHARED_BASE)
        at -= VG_SHARED_BASE;
    if (vg_shared_owner(b, &at) != b || at >= b->shared_bytes)
        return;
    if (!b->unset_copy) {
        b->unset_copy = from->in;
        free(b->copied);
        b->copied = calloc(2, b->shared_bytes / 8 + 1);
        if (!b->copied)
            abort();
        b->computed = b->copied + b->shared_bytes / 8 + 1;
    }
    for (; bytes; bytes >>= 1, at++)
        if (bytes & 1) {
            const uint8_t bit = (uint8_t)(1u << at % 8);
            b->shared_set[at / 4] &= (uint8_t) ~(1u << at % 4);
            b->copied[at / 8] |= bit;
            b->computed[at / 8] =
                (b->computed[at / 8] & (uint8_t)~bit) | (from->computed ? bit : 0);
        }
}

void unset_delivered(struct vg_warp *w, const struct ir_insn *in, uint32_t at, uint32_t bytes)
{
    unmark_shared(w, at, bytes, &(struct unset_source){.in = in});
}

static void end_stores(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = u->stores; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const struct unset_source *const from = &u->stored_from[lane];
        if (in->space == PTX_SPACE_SHARED || u->at[lane] < VG_GLOBAL_BASE)
            unmark_shared(w, u->at[lane], u->stored[lane], from);
        else if (from->whole || from->computed) /* not the padding of a structure */
            find_source(w, from, in);
        else
            vg_memory_unmark(w->worker->device, u->at[lane], u->stored[lane],
                             vg_line_of(w->block->launch->module, from->in));
    }
}

/* Forgets the registers that are not live where a block begins. */
static void drop_dead(struct vg_warp *w, const struct ir_insn *next)
{
    const struct ptx_flow *flow = flow_of(w->block->launch->module, w->frame->function);
    const uint64_t *live = flow->live + next->block * flow->words;
    for (int i = 0; i < w->unset->count; i++) {
        struct unset_held *h = &w->unset->held[i];
        if (h->frame == w->frame && !ptx_set_has(live, flow->slot_of[h->slot / 4] - 1))
            h->lanes &= ~w->mask;
    }
}

void unset_after(struct vg_warp *w, const struct ir_insn *in, const struct ir_insn *next)
{
    struct vg_unset *u = w->unset;
    if (u->stores)
        end_stores(w, in);
    if (in->op == IR_CALL && next)
        for (int i = 0; i < u->count; i++) /* a new frame may have the memory of an old one */
            if (u->held[i].frame == w->frame && next == w->insns)
                u->held[i].lanes = 0;
    if (in->op == IR_BRA && next)
        drop_dead(w, next);
    unset_tidy(w);
    if (u->left && --u->left == 0)
        unset_local_end(w);
}
