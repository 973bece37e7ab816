/* Races on distributed shared memory. The race shadow (probe/race.h) keeps a block's accesses to
 * its own memory, even after later barriers of this block alone. This file records the accesses by
 * other blocks:
 *
 * 1. An interval lasts from one event that orders the whole cluster to the next: its barrier, a
 *    barrier object at which other blocks arrived, or an atomic that another block's thread
 *    acquires.
 * 2. Each access by another block is compared with the word's earlier notes, and noted.
 * 3. At the end of the interval, the notes are compared with the owner's accesses to the same bytes
 *    since the interval began. Which of both came first does not matter.
 * 4. If a block ends in an interval in which others use its memory, the use is a finding: on a GPU
 *    the block may end before it.
 *
 * Kernels whose blocks may also agree by atomics or strong accesses to global memory are not
 * checked. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/distributed.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"

#include <stdlib.h>
#include <string.h>

enum { IS_SET = 1u << 31, WORD_BYTES = 4, ALL_BYTES = 0xf };

struct note {
    uint32_t by; /* IS_SET | rank << 16 | thread; 0: no note */
    uint32_t insn, epoch;
    uint16_t warp_epoch;
    uint8_t bytes; /* mask */
};

/* Of several readers two are kept: one, and another if only it would race with a write by the
 * first. */
struct place {
    struct note writer, changer, reader, other;
};

struct vg_distributed {
    struct place *places; /* notes of each word */
    size_t words;
    uint32_t low, high; /* words that have notes in this interval */
    struct note last;   /* last use of the memory in this interval */
};

/* ---- notes ----------------------------------------------------------------------------------- */

static struct vg_distributed *notes_of(struct vg_block *b)
{
    if (!b->distributed)
        b->distributed = calloc(1, sizeof *b->distributed);
    struct vg_distributed *d = b->distributed;
    const size_t words = b->shared_bytes / WORD_BYTES + 1;
    if (!d || (d->words >= words && d->places))
        return d;
    free(d->places);
    d->places = calloc(words, sizeof *d->places);
    d->words = d->places ? words : 0;
    d->low = d->high = 0;
    return d->places ? d : NULL;
}

static void forget(struct vg_distributed *d)
{
    if (d->high > d->low)
        memset(d->places + d->low, 0, (d->high - d->low) * sizeof *d->places);
    d->low = d->high = 0;
    d->last.by = 0;
}

void distributed_start(struct vg_block *b)
{
    if (b->distributed)
        forget(b->distributed);
    b->ordered_at = b->race.epoch;
}

void distributed_free(struct vg_block *b)
{
    if (b->distributed)
        free(b->distributed->places);
    free(b->distributed);
    b->distributed = NULL;
}

static struct note note_of(struct vg_warp *w, const struct ir_insn *in, int lane, uint8_t bytes)
{
    const struct vg_block *b = w->block;
    return (struct note){IS_SET | b->rank << 16 | (w->index * VG_LANES + (uint32_t)lane),
                         in->number, b->race.epoch, w->warp_epoch, bytes};
}

static uint32_t rank_of(const struct note *n)
{
    return n->by >> 16 & 0x7fff;
}

static uint32_t thread_of(const struct note *n)
{
    return n->by & 0xffff;
}

/* @return whether two accesses by other blocks in one interval are unordered. The barriers of a
 * block may order its own accesses. */
static bool unordered(const struct note *a, const struct note *b)
{
    if (!a->by || a->by == b->by || !(a->bytes & b->bytes))
        return false;
    if (rank_of(a) != rank_of(b))
        return true;
    const bool one_warp = thread_of(a) / VG_LANES == thread_of(b) / VG_LANES;
    return a->epoch == b->epoch && (!one_warp || a->warp_epoch == b->warp_epoch);
}

/* ---- findings -------------------------------------------------------------------------------- */

static const struct ir_insn *insn_of(const struct vg_block *b, const struct note *n)
{
    return b->launch->module->insns[n->insn];
}

static struct vg_warp *warp_of(const struct vg_block *owner, const struct note *n)
{
    return &owner->cluster->blocks[rank_of(n)]->warps[thread_of(n) / VG_LANES];
}

static void report(struct vg_block *owner, uint32_t word, const struct note *mine, bool i_write,
                   const struct note *other, bool other_writes)
{
    const uint8_t both = mine->bytes & other->bytes;
    vg_find_cluster_race(&(struct vg_cluster_race){
        .warp = warp_of(owner, mine),
        .in = insn_of(owner, mine),
        .lane = (int)(thread_of(mine) % VG_LANES),
        .is_write = i_write,
        .owner = owner,
        .address = word * WORD_BYTES + (both ? (uint32_t)__builtin_ctz(both) : 0),
        .bytes = (uint32_t)__builtin_popcount(both),
        .other_block = owner->cluster->blocks[rank_of(other)],
        .other_thread = thread_of(other),
        .other = insn_of(owner, other),
        .other_writes = other_writes,
    });
}

static void report_end(struct vg_block *owner, const struct note *n, const char *when)
{
    vg_find(warp_of(owner, n), insn_of(owner, n), VG_FAULT_CLUSTER_EXIT,
            (int)(thread_of(n) % VG_LANES), 0, 0, false,
            "uses shared memory of block (%u,%u,%u), %s", owner->id[0], owner->id[1], owner->id[2],
            when);
}

/* ---- accesses by other blocks ------------------------------------------------------------------ */

static bool is_checked(const struct vg_block *b)
{
    return b->launch->cluster_is_checked;
}

static void note_use(struct vg_block *owner, struct vg_distributed *d, struct note n)
{
    if (!owner->alive_threads)
        report_end(owner, &n, "whose threads have all ended");
    if (d)
        d->last = n;
}

static void compare(struct vg_block *owner, uint32_t word, const struct note *n,
                    enum race_access_kind kind)
{
    const struct place *p = &owner->distributed->places[word];
    const bool writes = kind == RACE_WRITE || kind == RACE_ATOMIC;
    if (unordered(&p->writer, n))
        report(owner, word, n, writes, &p->writer, true);
    else if ((kind == RACE_READ || kind == RACE_WRITE) && unordered(&p->changer, n))
        report(owner, word, n, writes, &p->changer, true);
    else if (writes && unordered(&p->reader, n))
        report(owner, word, n, writes, &p->reader, false);
    else if (writes && unordered(&p->other, n))
        report(owner, word, n, writes, &p->other, false);
}

static void keep(struct place *p, const struct note *n, enum race_access_kind kind)
{
    if (kind == RACE_WRITE)
        p->writer = *n;
    else if (kind == RACE_ATOMIC)
        p->changer = *n;
    else if (kind == RACE_READ && unordered(&p->reader, n))
        p->other = *n;
    else if (kind == RACE_READ)
        p->reader = *n;
}

void distributed_enter(struct vg_block *owner, uint32_t address, struct distributed_access a)
{
    struct vg_distributed *d = notes_of(owner);
    note_use(owner, d, note_of(a.warp, a.in, a.lane, ALL_BYTES));
    if (!d || !is_checked(owner))
        return;
    const uint32_t end = address + a.bytes, last = (end - 1) / WORD_BYTES;
    const bool none = d->high <= d->low;
    for (uint32_t word = address / WORD_BYTES; word <= last; word++) {
        const uint32_t first = word * WORD_BYTES;
        uint8_t bytes = ALL_BYTES;
        if (address > first)
            bytes &= (uint8_t)(ALL_BYTES << (address - first));
        if (end < first + WORD_BYTES)
            bytes &= (uint8_t)(ALL_BYTES >> (first + WORD_BYTES - end));
        const struct note n = note_of(a.warp, a.in, a.lane, bytes);
        compare(owner, word, &n, a.kind);
        keep(&d->places[word], &n, a.kind);
    }
    d->low = none || address / WORD_BYTES < d->low ? address / WORD_BYTES : d->low;
    d->high = none || last + 1 > d->high ? last + 1 : d->high;
}

bool distributed_is_released(const struct vg_block *owner, uint32_t address, uint32_t rank)
{
    const struct vg_distributed *d = owner->distributed;
    const uint32_t word = address / WORD_BYTES;
    if (!d || word < d->low || word >= d->high)
        return false;
    const struct note *changer = &d->places[word].changer;
    return changer->by && rank_of(changer) != rank;
}

/* ---- the end of an interval -------------------------------------------------------------------- */

struct own_access {
    const struct race_by *by;
    bool writes;
};

/* @return the owner's access to a word, or to a byte, that conflicts with another block's
 * access. */
static struct own_access find_own(const struct vg_block *b, const struct race_table *t, uint32_t i,
                                  enum race_access_kind kind)
{
    const uint32_t since = b->ordered_at;
    const bool writes = kind == RACE_WRITE || kind == RACE_ATOMIC;
    if (t->written[i] >= since)
        return (struct own_access){&t->writer, true};
    if (kind != RACE_ATOMIC && t->changed[i] >= since)
        return (struct own_access){&t->changer, true};
    if (writes && t->read[i] >> RACE_EPOCH_SHIFT >= since)
        return (struct own_access){&t->reader, false};
    return (struct own_access){NULL, false};
}

static void compare_with_own(struct vg_block *b, uint32_t word, const struct note *n,
                             enum race_access_kind kind)
{
    const struct race_shadow *s = &b->race;
    if (!n->by)
        return;
    uint32_t i = word;
    struct own_access own = find_own(b, &s->words, i, kind);
    uint8_t bytes = ALL_BYTES;
    for (uint32_t k = 0; !own.by && s->parted_at && s->parted_at[word] >= b->ordered_at && k < 4;
         k++)
        if (n->bytes >> k & 1) {
            i = word * WORD_BYTES + k;
            bytes = (uint8_t)(1 << k);
            own = find_own(b, &s->parts, i, kind);
        }
    if (!own.by)
        return;
    const struct note other = {.by = IS_SET | b->rank << 16 | own.by->who[i] >> 16,
                               .insn = own.by->insn[i],
                               .bytes = bytes};
    report(b, word, n, kind != RACE_READ, &other, own.writes);
}

static void end_interval(struct vg_block *b)
{
    struct vg_distributed *d = b->distributed;
    if (!d)
        return;
    race_replay(&b->race);
    for (uint32_t word = d->low; word < d->high && is_checked(b); word++) {
        const struct place *p = &d->places[word];
        compare_with_own(b, word, &p->writer, RACE_WRITE);
        compare_with_own(b, word, &p->changer, RACE_ATOMIC);
        compare_with_own(b, word, &p->reader, RACE_READ);
        compare_with_own(b, word, &p->other, RACE_READ);
    }
    forget(d);
}

void distributed_ordered(struct vg_cluster *c)
{
    for (uint32_t rank = 0; rank < c->size; rank++) {
        struct vg_block *b = c->blocks[rank];
        end_interval(b);
        race_barrier(&b->race);
        b->ordered_at = b->race.epoch;
    }
}

void distributed_block_ended(struct vg_block *b)
{
    const struct vg_distributed *d = b->distributed;
    if (d && d->last.by && is_checked(b))
        report_end(b, &d->last, "which ends without a barrier of the cluster after this access");
    if (vg_cluster_ended(b->cluster))
        distributed_ordered(b->cluster);
}

/* ---- kernels ----------------------------------------------------------------------------------- */

bool distributed_is_checked(const struct ir_function *f)
{
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (in->space == PTX_SPACE_SHARED)
            continue;
        const bool is_strong = in->mode & (MODE_STRONG | MODE_ACQUIRE | MODE_VOLATILE);
        if ((in->op == IR_LD && is_strong) || (in->op == IR_ATOM && in->d) ||
            in->op == IR_ATOM_VECTOR || in->op == IR_ATOM_128)
            return false;
    }
    return true;
}
