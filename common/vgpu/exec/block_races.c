/* Races between blocks on global memory. Blocks run in any order and do not wait for each other, so
 * these stores race even if the result is right this time:
 *
 *     added    x[i] += a is a load, an addition and a store; between the load and the store, another
 *              block may do the same
 *     beside   x[i] = f(x[i - 1], x[i + 1]): a neighbour may belong to another block, which may or
 *              may not have replaced it already
 *     common   *x = a, where all blocks have the same address, but different values. If loaded data
 *              decides whether a block stores, as in a search that accepts any match, the program
 *              expects this. Otherwise it is a note: nothing shows whether the program minds
 *
 * 1. When a module is loaded, search for such stores. Skip kernels whose blocks may agree on an
 *    order by atomics, volatile or stronger accesses, or calls.
 * 2. When such a store is executed, note its block for each element that it wrote, or from whose
 *    old value it was computed. A note of another block is a finding.
 *
 * Which of two blocks comes second depends on the workers. So the report names the lower block,
 * at the lowest address that it shares. */
#include "vgpu/exec/block_races.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_flow.h"

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

/* Values of a definition that are not the index of an instruction. */
enum { UNDEFINED = UINT32_MAX, SEVERAL = UINT32_MAX - 1, CONSTANT = UINT32_MAX - 2 };

uint32_t *vg_definitions(const struct ir_function *f)
{
    uint32_t *of = malloc((f->frame_bytes / 4 + 1) * sizeof *of);
    if (!of)
        return NULL;
    memset(of, 0xff, (f->frame_bytes / 4 + 1) * sizeof *of);
    for (size_t i = 0; i < f->insn_count; i++)
        if (f->insns[i].d < f->frame_bytes)
            of[f->insns[i].d / 4] = of[f->insns[i].d / 4] == UNDEFINED ? (uint32_t)i : SEVERAL;
    for (size_t i = 0; i < f->constant_count; i++)
        of[f->constants[i].offset / 4] = CONSTANT;
    return of;
}

/* @return whether a register is computed from parameters and numbers only. */
static bool is_common(const struct ir_function *f, const uint32_t *definitions, uint32_t slot,
                      int depth)
{
    const uint32_t at = definitions[slot / 4];
    if (at == CONSTANT || slot == 0)
        return true;
    if (at >= f->insn_count || depth == 0)
        return false;
    const struct ir_insn *in = &f->insns[at];
    return (ir_rows[in->op].is_lane || in->op == IR_CVTA) && !in->guard &&
           is_common(f, definitions, in->a, depth - 1) &&
           is_common(f, definitions, in->b, depth - 1) &&
           is_common(f, definitions, in->c, depth - 1) && !in->e;
}

static bool has_common_address(const struct ir_function *f, const uint32_t *definitions,
                               const struct ir_insn *in)
{
    enum { DEPTH = 6 };
    return in->fixed_address || is_common(f, definitions, in->a, DEPTH);
}

/* @return whether a load reads an element at a constant distance from that of a store. */
static bool is_beside(const struct ir_insn *load, const struct ir_insn *store)
{
    return load->op == IR_LD && load->space == store->space && load->a == store->a &&
           !load->fixed_address && !store->fixed_address && load->wide_address &&
           load->bytes == store->bytes && load->vector == 1 && load->imm != store->imm;
}

/* ---- stores that depend on loaded data ---- */

struct control {
    const struct ir_function *f;
    struct ptx_flow *flow;
    const uint32_t *definitions; /* NULL: data at common addresses counts, too */
    uint64_t *loaded;            /* set of the slots that depend on loaded data */
    uint8_t *wanted, *seen;      /* [blocks] */
    uint32_t *stack, *next;
};

static bool is_loaded(const struct control *c, uint32_t offset)
{
    const uint32_t slot = c->flow->slot_of[offset / 4];
    return slot && ptx_set_has(c->loaded, slot - 1);
}

static bool add_loaded(const struct control *c, const struct ir_insn *in)
{
    struct ptx_operands o;
    ptx_flow_operands(c->flow, in, &o);
    bool depends = in->op == IR_LD && in->space != PTX_SPACE_PARAM &&
                   in->space != PTX_SPACE_CONST &&
                   !(c->definitions && has_common_address(c->f, c->definitions, in));
    for (int i = 0; i < o.read_count; i++)
        depends |= ptx_set_has(c->loaded, o.reads[i]);
    bool more = false;
    for (int i = 0; depends && i < o.write_count; i++) {
        more |= !ptx_set_has(c->loaded, o.writes[i]);
        ptx_set_add(c->loaded, o.writes[i]);
    }
    return more;
}

/* @return whether a way from an instruction to the end of the function avoids a block. */
static bool may_avoid(struct control *c, uint32_t from, uint32_t block)
{
    const struct ir_function *f = c->f;
    size_t n = 0;
    memset(c->seen, 0, f->block_count);
    c->stack[n++] = f->insns[from].block;
    while (n) {
        const uint32_t b = c->stack[--n];
        if (b == block || c->seen[b])
            continue;
        c->seen[b] = 1;
        const uint32_t last = ptx_block_end(f, f->block_first[b]) - 1;
        const size_t count = ptx_flow_next(f, last, c->next);
        if (count == 0)
            return true;
        for (size_t i = 0; i < count; i++)
            c->stack[n++] = f->insns[c->next[i]].block;
    }
    return false;
}

/* @return whether a branch that decides about the execution of wanted blocks depends on loaded data.
 * Other branches that do so make their own blocks wanted. */
static bool is_decided(struct control *c, bool *more)
{
    const struct ir_function *f = c->f;
    for (uint32_t block = 0; block < f->block_count; block++)
        for (uint32_t i = 0; i < f->insn_count && c->wanted[block]; i++) {
            const struct ir_insn *in = &f->insns[i];
            if (in->op != IR_BRA || !in->guard || c->wanted[in->block] || i + 1 == f->insn_count ||
                may_avoid(c, in->target, block) == may_avoid(c, i + 1, block))
                continue;
            if (is_loaded(c, in->guard))
                return true;
            c->wanted[in->block] = 1;
            *more = true;
        }
    return false;
}

/* @return whether loaded data may decide about the execution of a store. */
static bool depends_on_data(const struct ir_function *f, const uint32_t *definitions,
                            const struct ir_insn *store)
{
    enum { LARGEST = 20000 }; /* instructions */
    struct control c = {.f = f,
                        .flow = f->insn_count <= LARGEST ? ptx_flow_new(f) : NULL,
                        .definitions = definitions};
    if (!c.flow)
        return false;
    c.loaded = calloc(c.flow->words + 1, sizeof *c.loaded);
    c.wanted = calloc(f->block_count + 1, 1);
    c.seen = calloc(f->block_count + 1, 1);
    c.stack = malloc((4 * f->insn_count + f->extra_count + 4) * sizeof *c.stack);
    c.next = malloc((f->extra_count + 2) * sizeof *c.next);
    bool depends = false;
    if (c.loaded && c.wanted && c.seen && c.stack && c.next) {
        for (bool more = true; more;) {
            more = false;
            for (size_t i = 0; i < f->insn_count; i++)
                more |= add_loaded(&c, &f->insns[i]);
        }
        depends = store->guard && is_loaded(&c, store->guard);
        c.wanted[store->block] = 1;
        for (bool more = true; more && !depends;) {
            more = false;
            depends = is_decided(&c, &more);
        }
    }
    free(c.loaded);
    free(c.wanted);
    free(c.seen);
    free(c.stack);
    free(c.next);
    ptx_flow_free(c.flow);
    return depends;
}

bool vg_store_is_decided(const struct ir_function *f, const struct ir_insn *store)
{
    uint32_t *definitions = vg_definitions(f);
    const bool is_decided = depends_on_data(f, definitions, store);
    free(definitions);
    return is_decided;
}

bool vg_store_may_race(const struct ir_function *f, size_t store, const uint32_t *definitions,
                       struct vg_racing_store *to)
{
    const struct ir_insn *st = &f->insns[store];
    *to = (struct vg_racing_store){0};
    for (size_t i = store; i-- > 0 && f->insns[i].block == st->block && st->vector == 1;) {
        const struct ir_insn *in = &f->insns[i];
        if (in->op == IR_LD && !to->adds && is_same_place(in, st))
            to->adds = depends(in, st);
        else if (to->beside < VG_BESIDE_MOST && is_beside(in, st) && depends(in, st))
            to->offset[to->beside++] = in->imm;
    }
    to->is_common = !to->adds && st->bytes <= 8 && st->vector == 1 &&
                    has_common_address(f, definitions, st) && !depends_on_data(f, NULL, st);
    return to->adds || to->beside || to->is_common;
}

/* ---- notes ---------------------------------------------------------------------------------- */

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

/* @return the notes on an allocation's words; NULL: out of memory, the allocation is too large, or
 * VG_NOTED others have notes. */
static const struct vg_noted *noted_of(struct vg_launch *l, struct vg_noted *all,
                                       const struct vg_allocation *a)
{
    int i = 0;
    while (i < VG_NOTED && atomic_load(&all[i].of) && atomic_load(&all[i].of) != a)
        i++;
    if (i < VG_NOTED && !atomic_load(&all[i].of)) {
        pthread_mutex_lock(&l->device->mutex);
        while (i < VG_NOTED && all[i].of && all[i].of != a)
            i++;
        if (i < VG_NOTED && !all[i].of) {
            const size_t words = a->bytes <= LARGEST_BYTES ? a->bytes / 4 + 1 : 0;
            all[i].writers = words ? calloc(words, sizeof *all[i].writers) : NULL;
            all[i].readers =
                words && all == l->neighbours ? calloc(words, sizeof *all[i].readers) : NULL;
            atomic_store(&all[i].of, a);
        }
        pthread_mutex_unlock(&l->device->mutex);
    }
    return i < VG_NOTED && all[i].writers ? &all[i] : NULL;
}

/* Reports the block and thread of a note. */
static void report(struct vg_warp *w, enum vg_fault_kind kind, unsigned long long by,
                   uint64_t address, uint32_t bytes, const char *text)
{
    vg_find_block_race(w, kind, block_of(by),
                       (uint32_t)(by >> INSN_BITS & ((1 << THREAD_BITS) - 1)),
                       (uint32_t)(by & ((1 << INSN_BITS) - 1)), address, bytes, text);
}

/* ---- added ---------------------------------------------------------------------------------- */

static inline bool is_own(const struct vg_warp *w, atomic_ullong *of)
{
    const unsigned long long other = atomic_load_explicit(of, memory_order_relaxed);
    return other && block_of(other) == w->block->number;
}

static void add(struct vg_warp *w, atomic_ullong *of, unsigned long long own, uint64_t address,
                uint32_t bytes)
{
    const unsigned long long other = atomic_exchange_explicit(of, own, memory_order_relaxed);
    if (other && block_of(other) != block_of(own))
        report(w, VG_FAULT_RACE_GLOBAL, block_of(other) < block_of(own) ? other : own, address,
               bytes,
               "several blocks add to it, each with a load, an addition and a store: another "
               "block's addition in between is lost");
}

/* ---- beside --------------------------------------------------------------------------------- */

/* A reader's note is its block plus 1; this stands for several blocks. */
enum { READERS = INT32_MAX };

static const char beside_text[] =
    "the block stores it, and another block reads it without waiting: it may find the old or the "
    "new value";

/* Notes a reader. Each side makes its note before it looks at the other side's. */
static void read_beside(struct vg_warp *w, const struct vg_noted *n, uint64_t word,
                        uint64_t address, uint32_t bytes)
{
    const int own = (int)w->block->number + 1;
    int other = 0;
    if (!atomic_compare_exchange_strong(&n->readers[word], &other, own) && other != own)
        atomic_store(&n->readers[word], READERS);
    const unsigned long long writer = atomic_load(&n->writers[word]);
    if (writer && block_of(writer) != w->block->number)
        report(w, VG_FAULT_RACE_GLOBAL, writer, address, bytes, beside_text);
}

static void write_beside(struct vg_warp *w, const struct vg_noted *n, uint64_t word,
                         unsigned long long own, uint64_t address, uint32_t bytes)
{
    unsigned long long other = atomic_load(&n->writers[word]);
    while ((!other || block_of(other) > block_of(own)) &&
           !atomic_compare_exchange_weak(&n->writers[word], &other, own))
        continue;
    const int reader = atomic_load(&n->readers[word]);
    if (reader && reader != (int)w->block->number + 1)
        report(w, VG_FAULT_RACE_GLOBAL, own, address, bytes, beside_text);
}

/* ---- common --------------------------------------------------------------------------------- */

static struct vg_common *common_of(struct vg_launch *l, uint64_t address)
{
    for (int i = 0; i < VG_COMMON; i++) {
        if (!l->common[i].address)
            l->common[i].address = address;
        if (l->common[i].address == address)
            return &l->common[i];
    }
    return NULL;
}

/* The last lane's value remains. */
static void store_common(struct vg_warp *w, const struct ir_insn *in, uint64_t address,
                         uint64_t value, unsigned long long own)
{
    struct vg_launch *l = w->block->launch;
    pthread_mutex_lock(&l->device->mutex);
    struct vg_common *c = common_of(l, address);
    unsigned long long lowest = 0;
    if (c) {
        if (!c->lowest)
            c->value = value;
        c->differs |= c->value != value;
        c->by_several |= c->lowest && block_of(c->lowest) != block_of(own);
        if (!c->lowest || block_of(own) < block_of(c->lowest))
            c->lowest = own;
        lowest = c->differs && c->by_several ? c->lowest : 0;
    }
    pthread_mutex_unlock(&l->device->mutex);
    if (lowest)
        report(w, VG_FAULT_STORE_ORDER, lowest, address, in->bytes,
               "several blocks store different values there: which of them remains depends on the "
               "order of the blocks");
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Loops whose stores depend on their last iteration are often right, and then these notes would only
 * cost time. */
enum { CHECKED_MOST = 64, LAUNCHES_MOST = 2 };

struct store {
    const struct ir_insn *in;
    const struct vg_allocation *of;
    const uint64_t *addresses; /* NULL: all lanes have imm */
};

static uint64_t address_of(const struct store *s, uint32_t lane)
{
    return (s->addresses ? s->addresses[lane] : 0) + (uint64_t)s->in->imm;
}

static void note_additions(struct vg_warp *w, const struct store *s, atomic_ullong *adders)
{
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = address_of(s, lane), at = address - s->of->address;
        if (at < s->of->bytes && !is_own(w, &adders[at / 4]))
            add(w, &adders[at / 4],
                note(w->block->number, w->index * VG_LANES + lane, s->in->number), address,
                s->in->bytes);
    }
}

static void note_neighbours(struct vg_warp *w, const struct store *s,
                            const struct vg_racing_store *racing, const struct vg_noted *n)
{
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = address_of(s, lane), at = address - s->of->address;
        for (int k = 0; k < racing->beside; k++) {
            const uint64_t other = s->addresses[lane] + (uint64_t)racing->offset[k];
            if (other - s->of->address < s->of->bytes)
                read_beside(w, n, (other - s->of->address) / 4, other, s->in->bytes);
        }
        if (at < s->of->bytes)
            write_beside(w, n, at / 4,
                         note(w->block->number, w->index * VG_LANES + lane, s->in->number), address,
                         s->in->bytes);
    }
}

static void note_common(struct vg_warp *w, const struct store *s)
{
    const uint32_t lane = 31 - (uint32_t)__builtin_clz(w->mask);
    const char *from = w->regs + s->in->b;
    const uint64_t value = ptx_type_bytes((enum ptx_type)s->in->type2) == 8
                               ? ((const uint64_t *)(const void *)from)[lane]
                               : ((const uint32_t *)(const void *)from)[lane];
    store_common(w, s->in, address_of(s, lane), value,
                 note(w->block->number, w->index * VG_LANES + lane, s->in->number));
}

void vg_racing_store(struct vg_warp *w, const struct ir_insn *in, const uint64_t *addresses)
{
    struct vg_launch *l = w->block->launch;
    const struct vg_racing_store *racing = &l->module->racing[in->target];
    const struct store s = {in,
                            in->fixed_address
                                ? vg_memory_below(&l->device->memory, (uint64_t)in->imm)
                                : w->sites[in->site].allocation,
                            in->fixed_address ? NULL : addresses};
    if (!s.of || l->blocks == 1 || l->cluster_blocks > 1 || l->blocks >= INT32_MAX ||
        in->number >> INSN_BITS)
        return;
    const struct vg_noted *n = racing->adds ? noted_of(l, l->added, s.of) : NULL;
    if (n)
        note_additions(w, &s, n->writers);
    if ((!racing->beside && !racing->is_common) || w->racing_stores++ >= CHECKED_MOST)
        return;
    if (racing->is_common)
        note_common(w, &s);
    else if (l->kernel->racing_launches < LAUNCHES_MOST && (n = noted_of(l, l->neighbours, s.of)) &&
             n->readers)
        note_neighbours(w, &s, racing, n);
}

void vg_block_races_end(struct vg_launch *l)
{
    l->kernel->racing_launches += l->neighbours[0].of != NULL;
    for (int i = 0; i < VG_NOTED; i++) {
        free(l->added[i].writers);
        free(l->neighbours[i].writers);
        free(l->neighbours[i].readers);
    }
}
