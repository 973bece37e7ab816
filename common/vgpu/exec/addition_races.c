/* Plain additions to global memory by several blocks: x += a is a load, an addition and a store,
 * and between the load and the store another block may do the same. Blocks run in any order and do
 * not wait for each other, so two blocks that add to one element race, even if the result is right
 * this time.
 *
 * 1. When a module is loaded, search for stores whose value depends on a load from the same
 *    address, in the same basic block. Skip kernels whose blocks may agree on an order by atomics,
 *    volatile or stronger accesses, or calls.
 * 2. When such a store is executed, note the adder of each of its elements. An earlier note of
 *    another block is a finding.
 *
 * Which of the two blocks comes second depends on the workers. So the report names the lower block,
 * at the lowest address that it shares. */
#include "vgpu/exec/addition_races.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <stdlib.h>
#include <string.h>

/* ---- searching the code --------------------------------------------------------------------- */

bool vg_blocks_may_agree(const struct ir_function *f)
{
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        switch (in->op) {
        case IR_ATOM:
        case IR_ATOM_VECTOR:
        case IR_ATOM_128:
        case IR_CALL:
            return true;
        case IR_LD:
        case IR_ST:
            if (in->mode & (MODE_STRONG | MODE_ACQUIRE | MODE_VOLATILE))
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

static bool is_same_place(const struct ir_insn *a, const struct ir_insn *b)
{
    const bool fixed = a->fixed_address && b->fixed_address; /* a variable */
    return a->space == b->space && a->imm == b->imm && a->bytes == b->bytes && a->vector == 1 &&
           b->vector == 1 && a->fixed_address == b->fixed_address &&
           (fixed || (a->a == b->a && a->wide_address && b->wide_address));
}

/* @return whether the value stored by instruction `to` depends on the value loaded by `from`; both
 * are in one basic block. */
static bool depends(const struct ir_insn *from, const struct ir_insn *to)
{
    enum { MOST = 16 };
    uint32_t made[MOST] = {from->d};
    int count = 1;
    for (const struct ir_insn *in = from + 1; in < to; in++)
        for (int i = 0, known = count; i < known && count < MOST && in->d; i++)
            if (in->a == made[i] || in->b == made[i] || in->c == made[i]) {
                made[count++] = in->d;
                break;
            }
    for (int i = 0; i < count; i++)
        if (to->b == made[i])
            return true;
    return false;
}

bool vg_is_addition(const struct ir_function *f, size_t store)
{
    const struct ir_insn *st = &f->insns[store];
    for (size_t i = store; i-- > 0 && f->insns[i].block == st->block;)
        if (f->insns[i].op == IR_LD && is_same_place(&f->insns[i], st))
            return depends(&f->insns[i], st);
    return false;
}

/* ---- the last adders ------------------------------------------------------------------------ */

enum { THREAD_BITS = 10, INSN_BITS = 22, LARGEST_BYTES = 64 << 20 };

/* @return a note: block plus 1, thread, instruction; 0 means none. */
static uint64_t note(uint64_t block, uint32_t thread, uint32_t insn)
{
    return (block + 1) << (THREAD_BITS + INSN_BITS) | (uint64_t)thread << INSN_BITS | insn;
}

static uint64_t block_of(uint64_t note)
{
    return (note >> (THREAD_BITS + INSN_BITS)) - 1;
}

/* @return the notes of an allocation; NULL: out of memory, the allocation is too large, or VG_NOTED
 * others have notes. */
static atomic_ullong *notes_of(struct vg_launch *l, const struct vg_allocation *a)
{
    for (int i = 0; i < VG_NOTED && atomic_load(&l->noted[i].of); i++)
        if (atomic_load(&l->noted[i].of) == a)
            return l->noted[i].notes;
    atomic_ullong *found = NULL;
    int i = 0;
    pthread_mutex_lock(&l->device->mutex);
    while (i < VG_NOTED && l->noted[i].of && l->noted[i].of != a)
        i++;
    if (i < VG_NOTED && !l->noted[i].of) {
        if (a->bytes <= LARGEST_BYTES)
            l->noted[i].notes = calloc(a->bytes / 4 + 1, sizeof *l->noted[i].notes);
        atomic_store(&l->noted[i].of, a);
    }
    if (i < VG_NOTED)
        found = l->noted[i].notes;
    pthread_mutex_unlock(&l->device->mutex);
    return found;
}

void vg_addition(struct vg_warp *w, const struct ir_insn *in, const uint64_t *addresses)
{
    struct vg_launch *l = w->block->launch;
    const struct vg_allocation *a = in->fixed_address
                                        ? vg_memory_below(&l->device->memory, (uint64_t)in->imm)
                                        : w->sites[in->site].allocation;
    const uint64_t mine = w->block->number;
    if (!a || l->blocks == 1 || mine >> 31 || in->number >> INSN_BITS)
        return;
    atomic_ullong *notes = notes_of(l, a);
    for (uint32_t left = w->mask; left && notes; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t address = (in->fixed_address ? 0 : addresses[lane]) + (uint64_t)in->imm;
        const uint64_t at = address - a->address;
        if (at >= a->bytes)
            continue;
        atomic_ullong *of = &notes[at / 4];
        uint64_t other = atomic_load_explicit(of, memory_order_relaxed);
        if (other && block_of(other) == mine)
            continue;
        const uint64_t own = note(mine, w->index * VG_LANES + (uint32_t)lane, in->number);
        other = atomic_exchange_explicit(of, own, memory_order_relaxed);
        if (!other || block_of(other) == mine)
            continue;
        const uint64_t first = block_of(other) < mine ? other : own;
        vg_find_addition(w, block_of(first),
                         (uint32_t)(first >> INSN_BITS & ((1 << THREAD_BITS) - 1)),
                         (uint32_t)(first & ((1 << INSN_BITS) - 1)), address, in->bytes);
    }
}

void vg_additions_end(struct vg_launch *l)
{
    for (int i = 0; i < VG_NOTED; i++)
        free(l->noted[i].notes);
}
