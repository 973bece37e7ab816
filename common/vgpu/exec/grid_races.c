/* Races between the blocks of a cooperative launch: a block reads global memory that another block
 * writes, and neither grid.sync() nor anything else orders the two. All blocks of such a launch run
 * on one core, so nothing here is concurrent.
 *
 * 1. Each block has a vector clock, as in FastTrack (Flanagan and Freund, 2009): element i is the
 *    time of block i up to which its accesses come before this block's next ones. All threads of a
 *    block share it: what they do within the block does not matter here.
 * 2. Atomics, volatile, strong and .cg accesses order blocks. Such a store releases: the address
 *    gets the block's clock, and the block's own time advances. Such a load acquires the address's
 *    clock. grid.sync() consists of them. A fence is not required, and several addresses share a
 *    clock, so blocks count as ordered too often, never too rarely.
 * 3. Each word of memory has its last writer and two of its readers, with their times. An access
 *    conflicts with them if the block's clock has not reached their times.
 * 4. Many correct programs have conflicts that do not matter. No finding is made of
 *      - a load that only decides branches, such as a level in a search or a flag. Where a plain
 *        store set it, the load acquires instead
 *      - a store that other loaded data decides about, or that changes nothing
 *      - two stores, and atomics that any order leads to the same result (min, or, cas, ...)
 *
 * The interpreter executes watched warps. A process has a budget of accesses; afterwards the blocks
 * continue in native code, unwatched. */
#include "vgpu/exec/grid_races.h"

#include "vgpu/exec/block_order.h"
#include "vgpu/exec/block_races.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/proof.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_MOST = 2048,
    CLOCKS = 64, /* of addresses */
    PAGE_WORDS = 256,
    PAGES = 1 << 14, /* hashed; they describe 16 MiB of memory */
    PAGES_MOST = PAGES / 4 * 3,
    BUDGET = 4000000, /* executed instructions */
    NOBODY = UINT16_MAX,
};

struct user {
    uint32_t time, insn;
    uint16_t block, thread; /* block: NOBODY */
    uint8_t bytes;          /* of the word, one bit for each */
    bool is_atomic;
};

struct word {
    struct user writer, reader[2]; /* two readers that no order is known for */
};

struct page {
    uint64_t number; /* address / 4 / PAGE_WORDS, plus 1; 0: none */
    struct word *words;
};

/* Whether a conflict of an access is a finding. */
enum kind { UNKNOWN, MATTERS, IGNORED };

struct grid_races {
    uint32_t blocks;
    uint32_t **clock;           /* [blocks] their vector clocks; NULL: not started */
    uint32_t *released[CLOCKS]; /* by addresses, or NULL */
    uint8_t *kinds;             /* [insn_count of the module] */
    size_t page_count;
    struct page pages[PAGES];
};

struct grid_races *grid_races_start(const struct vg_launch *l)
{
    if (!l->device->one_core || l->blocks == 1 || l->blocks > BLOCKS_MOST ||
        l->cluster_blocks > 1 || l->child || l->module->has_malloc || l->module->has_launches ||
        l->device->grid_accesses >= BUDGET)
        return NULL;
    struct grid_races *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->blocks = (uint32_t)l->blocks;
    g->clock = calloc(g->blocks, sizeof *g->clock);
    g->kinds = calloc(l->module->ir.insn_count + 1, 1);
    if (g->clock && g->kinds)
        return g;
    free(g->clock);
    free(g->kinds);
    free(g);
    return NULL;
}

void grid_races_end(struct vg_launch *l)
{
    struct grid_races *g = l->grid_races;
    if (!g)
        return;
    for (uint32_t i = 0; i < g->blocks; i++)
        free(g->clock[i]);
    for (int i = 0; i < CLOCKS; i++)
        free(g->released[i]);
    for (int i = 0; i < PAGES; i++)
        free(g->pages[i].words);
    free(g->clock);
    free(g->kinds);
    free(g);
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* @return a clock, which is created at its first use; NULL: out of memory. */
static uint32_t *clock_at(const struct grid_races *g, uint32_t **at)
{
    return *at ? *at : (*at = calloc(g->blocks, sizeof **at));
}

static uint32_t *own_clock(const struct grid_races *g, uint64_t block)
{
    const bool is_new = !g->clock[block];
    uint32_t *clock = clock_at(g, &g->clock[block]);
    if (clock && is_new)
        clock[block] = 1;
    return clock;
}

static void join(uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* step 2 above. @param word  of the address, or NULL */
static void synchronise(struct grid_races *g, uint64_t block, uint64_t address,
                        const struct word *word, bool acquires, bool releases)
{
    uint32_t *own = g->clock[block], *to = clock_at(g, &g->released[vg_scramble(address) % CLOCKS]);
    if (!to)
        return;
    if (acquires) {
        join(own, to, g->blocks);
        if (word && word->writer.block != NOBODY && !word->writer.is_atomic)
            join(own, g->clock[word->writer.block], g->blocks);
    }
    if (releases) {
        join(to, own, g->blocks);
        own[block]++;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* @return the notes on a word; NULL: there is no room for them. */
static struct word *word_at(struct grid_races *g, uint64_t address)
{
    const uint64_t number = address / 4 / PAGE_WORDS + 1;
    size_t i = (size_t)(vg_scramble(number) % PAGES);
    while (g->pages[i].number && g->pages[i].number != number)
        i = (i + 1) % PAGES;
    struct page *p = &g->pages[i];
    if (!p->number) {
        if (g->page_count == PAGES_MOST || !(p->words = malloc(PAGE_WORDS * sizeof *p->words)))
            return NULL;
        p->number = number;
        g->page_count++;
        for (int k = 0; k < PAGE_WORDS; k++)
            for (int u = 0; u < 3; u++)
                (u ? &p->words[k].reader[u - 1] : &p->words[k].writer)->block = NOBODY;
    }
    return &p->words[address / 4 % PAGE_WORDS];
}

/* ---- which accesses matter ------------------------------------------------------------------ */

static const struct ir_function *function_of(const struct vg_module *m, uint32_t insn)
{
    const struct ir_function *f = m->ir.functions;
    while (insn - f->first_insn >= f->insn_count || !f->has_body)
        f++;
    return f;
}

/* @return whether the value of a load is stored, or is part of an address, and does not only decide
 * branches. */
static bool value_matters(const struct ptx_flow *flow, const struct ir_insn *load)
{
    const struct ir_function *f = flow->function;
    uint64_t *made = calloc(flow->words + 1, sizeof *made);
    struct ptx_operands o;
    bool matters = !made;
    ptx_flow_operands(flow, load, &o);
    for (int i = 0; made && i < o.write_count; i++)
        ptx_set_add(made, o.writes[i]);
    for (bool more = made; more && !matters;) {
        more = false;
        for (size_t i = 0; i < f->insn_count && !matters; i++) {
            const struct ir_insn *in = &f->insns[i];
            bool reads = false;
            ptx_flow_sources(flow, in, &o);
            for (int k = 0; k < o.read_count; k++)
                reads |= ptx_set_has(made, o.reads[k]) &&
                         !(in->guard && f->slots[o.reads[k]].offset == in->guard);
            if (!reads || ptx_is_compare(in) || in->op == IR_BRA || in->op == IR_BRX)
                continue;
            matters = !ptx_flow_computes(in);
            for (int k = 0; k < o.write_count; k++) {
                more |= !ptx_set_has(made, o.writes[k]);
                ptx_set_add(made, o.writes[k]);
            }
        }
    }
    free(made);
    return matters;
}

static bool atomic_matters(const struct ir_insn *in)
{
    return in->op == IR_ATOM && (in->sub == ATOM_ADD || in->sub == ATOM_INC || in->sub == ATOM_DEC);
}

/* step 4 above */
static bool matters(struct vg_launch *l, uint32_t insn)
{
    uint8_t *const kind = &l->grid_races->kinds[insn];
    const struct ir_insn *in = l->module->insns[insn];
    if (*kind == UNKNOWN) {
        const struct ir_function *f = function_of(l->module, insn);
        const bool yes = in->op == IR_LD   ? value_matters(flow_of(l->module, f), in)
                         : in->op == IR_ST ? !vg_store_is_decided(f, in)
                                           : atomic_matters(in);
        *kind = yes ? MATTERS : IGNORED;
    }
    return *kind == MATTERS;
}

/* ---- accesses ------------------------------------------------------------------------------- */

struct access {
    struct vg_warp *warp;
    const struct ir_insn *in;
    int lane;
    uint64_t address; /* of a word */
    struct user user;
};

/* @return whether an earlier access comes before a block's next one. */
static bool is_ordered(const struct grid_races *g, const struct access *a, const struct user *other)
{
    return other->block == NOBODY || other->block == a->user.block ||
           g->clock[a->user.block][other->block] >= other->time;
}

static bool conflicts(const struct grid_races *g, const struct access *a, const struct user *other)
{
    return !is_ordered(g, a, other) && other->bytes & a->user.bytes;
}

static void compare(struct vg_launch *l, const struct access *a, const struct user *other)
{
    if (conflicts(l->grid_races, a, other) && matters(l, a->in->number) && matters(l, other->insn))
        vg_find_grid_race(a->warp, a->in, a->lane, a->address, other->insn, other->block,
                          other->thread);
}

static void read_word(struct vg_launch *l, const struct access *a, struct word *word)
{
    struct grid_races *g = l->grid_races;
    compare(l, a, &word->writer);
    if ((word->writer.is_atomic || conflicts(g, a, &word->writer)) && !matters(l, a->in->number))
        synchronise(g, a->user.block, a->address, word, true, false);
    word->reader[!is_ordered(g, a, &word->reader[0])] = a->user;
}

static void write_word(struct vg_launch *l, const struct access *a, struct word *word)
{
    compare(l, a, &word->reader[0]);
    compare(l, a, &word->reader[1]);
    if (a->user.is_atomic != word->writer.is_atomic)
        compare(l, a, &word->writer);
    word->writer = a->user;
}

/* @return whether an operand of a lane has other bits than memory. */
static bool changes(const struct vg_warp *w, const struct ir_insn *in, uint32_t slot, int lane,
                    uint64_t address)
{
    const size_t size = (size_t)ptx_type_bytes((enum ptx_type)in->type2) == 8 ? 8 : 4;
    const char *memory = vg_memory_host(&w->worker->device->memory, address);
    return in->bytes > 8 || memcmp(w->regs + slot + (size_t)lane * size, memory, in->bytes) != 0;
}

static bool adds_nothing(const struct vg_warp *w, const struct ir_insn *in, int lane)
{
    const size_t size = (size_t)in->bytes == 8 ? 8 : 4;
    static const char zero[8];
    return memcmp(w->regs + in->b + (size_t)lane * size, zero, size) == 0;
}

static bool is_strong(const struct ir_insn *in)
{
    return in->past_l1 || in->mode & (MODE_STRONG | MODE_ACQUIRE | MODE_VOLATILE);
}

/* Handles an element of a lane's access. */
static void touch(struct access *a, uint64_t at, uint32_t slot)
{
    struct vg_launch *l = a->warp->block->launch;
    const struct ir_insn *in = a->in;
    const bool is_atomic = in->op != IR_LD && in->op != IR_ST;
    if (is_atomic || is_strong(in)) {
        struct word *word = word_at(l->grid_races, at);
        a->address = at & ~UINT64_C(3);
        a->user.bytes = vg_bytes_of_word(a->address, at, in->bytes);
        if (word && atomic_matters(in) && !adds_nothing(a->warp, in, a->lane))
            write_word(l, a, word);
        synchronise(l->grid_races, a->user.block, at, word, in->op == IR_LD || (is_atomic && in->d),
                    in->op != IR_LD);
        a->user.time = l->grid_races->clock[a->user.block][a->user.block];
        return;
    }
    if (in->op == IR_ST && !changes(a->warp, in, slot, a->lane, at))
        return;
    for (uint64_t word = at & ~UINT64_C(3); word < at + in->bytes; word += 4) {
        struct word *notes = word_at(l->grid_races, word);
        a->address = word;
        a->user.bytes = vg_bytes_of_word(word, at, in->bytes);
        if (notes)
            (in->op == IR_LD ? read_word : write_word)(l, a, notes);
    }
}

void grid_races_access(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_launch *l = w->block->launch;
    struct vg_device *d = l->device;
    uint64_t at[VG_LANES];
    if (d->grid_accesses >= BUDGET) {
        w->watched = false;
        return;
    }
    d->grid_accesses++;
    if ((in->op != IR_LD && in->op != IR_ST && in->op != IR_ATOM && in->op != IR_ATOM_VECTOR &&
         in->op != IR_ATOM_128) ||
        (in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_GENERIC))
        return;
    const uint32_t *clock = own_clock(l->grid_races, w->block->number);
    proof_addresses(w, in, at);
    for (uint32_t left = clock ? proof_lanes(w, in) : 0; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const struct vg_allocation *to = vg_memory_below(&d->memory, at[lane]);
        if (at[lane] < VG_GLOBAL_BASE ||
            !vg_memory_permits(to, at[lane], (size_t)in->bytes * in->vector, false))
            continue;
        struct access a = {w,
                           in,
                           lane,
                           0,
                           {clock[w->block->number], in->number, (uint16_t)w->block->number,
                            (uint16_t)(w->index * VG_LANES + lane), 0,
                            in->op != IR_LD && in->op != IR_ST}};
        for (uint32_t k = 0; k < (in->vector ? in->vector : 1); k++)
            touch(&a, at[lane] + (uint64_t)k * in->bytes,
                  in->op == IR_ST ? ptx_element_slot(w->frame->function, in, k, in->b) : 0);
    }
}
