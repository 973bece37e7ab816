/* The effect of loads, stores, copies and texture instructions on origins, applied before they are
 * executed, when registers still hold their addresses. An access that will end the kernel has no
 * valid location and changes no origin. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/proof_log.h"
#include "vgpu/exec/texture_fetch.h"
#include "vgpu/ptx/ptx_decode.h"

#include <string.h>

enum { WHOLE = -1 };

static bool in_window(uint64_t address, uint64_t window)
{
    return address - window < UINT64_C(1) << 40;
}

/* ---- locations ------------------------------------------------------------------------------ */

void proof_addresses(const struct vg_warp *w, const struct ir_insn *in, uint64_t to[VG_LANES])
{
    uint64_t fixed = (uint64_t)in->imm;
    fixed += in->fixed_address && in->local_frame ? w->frame->local_base : 0;
    fixed += in->fixed_address && in->shared_dynamic ? w->block->launch->dynamic_start : 0;
    for (int i = 0; i < VG_LANES; i++) {
        const char *reg = w->regs + in->a;
        if (in->fixed_address)
            to[i] = fixed;
        else if (in->wide_address)
            to[i] = ((const uint64_t *)(const void *)reg)[i] + fixed;
        else
            to[i] = ((const uint32_t *)(const void *)reg)[i] + (uint32_t)fixed;
    }
}

static enum ptx_space space_of(uint64_t address, enum ptx_space declared)
{
    if (declared != PTX_SPACE_GENERIC && declared != PTX_SPACE_PARAM)
        return declared;
    return in_window(address, VG_SHARED_BASE)                           ? PTX_SPACE_SHARED
           : in_window(address, VG_LOCAL_BASE)                          ? PTX_SPACE_LOCAL
           : in_window(address, PTX_PARAM_BASE)                         ? PTX_SPACE_PARAM
           : declared == PTX_SPACE_PARAM && address < UINT64_C(1) << 32 ? PTX_SPACE_LOCAL
                                                                        : PTX_SPACE_GLOBAL;
}

PROOF_INLINE struct proof_place place(const struct vg_warp *w, const struct ir_insn *in, int lane,
                                      uint64_t address)
{
    const struct proof *p = proof_of(w);
    struct proof_place at = {.space = space_of(address, (enum ptx_space)in->space), .lane = lane};
    if (at.space == PTX_SPACE_SHARED) {
        at.address = in_window(address, VG_SHARED_BASE) ? address - VG_SHARED_BASE : address;
        at.owner = vg_shared_owner(w->block, &at.address);
        if (at.owner && at.address / 4 < (at.owner->shared_bytes + 3) / 4)
            at.origin = proof_shared(at.owner, at.address / 4);
    } else if (at.space == PTX_SPACE_LOCAL) {
        at.address = in_window(address, VG_LOCAL_BASE) ? address - VG_LOCAL_BASE : address;
        if (at.address < w->block->launch->local_bytes)
            at.origin = proof_local(w, lane, at.address / 4);
    } else if (at.space == PTX_SPACE_PARAM) {
        at.address = address - PTX_PARAM_BASE;
    } else {
        at.address = address;
        if ((address - VG_GLOBAL_BASE) / 4 < p->words)
            at.origin = &p->global[(address - VG_GLOBAL_BASE) / 4];
    }
    return at;
}

struct proof_place proof_place(const struct vg_warp *w, const struct ir_insn *in, int lane,
                               uint64_t address)
{
    return place(w, in, lane, address);
}

static bool lies_in(const struct proof *p, enum vg_proof_tensor which, uint64_t address)
{
    const struct proof_tensor *t = &p->tensor[which];
    return address - t->address < t->bytes;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Elements that an instruction has loaded. */
struct loads {
    uint32_t x, k;                 /* from global or constant memory */
    uint32_t buffer_words;         /* of them, words read for the first time */
    uint32_t shared;               /* from shared memory */
    uint32_t x_shared, x_own;      /* of them, of x, and stored by the same thread */
    uint32_t x_read, x_read_again; /* of them, first loads of an element, and by a second thread */
};

static void count_loads(struct vg_warp *w, const struct ir_insn *in, const struct loads *l)
{
    struct vg_proof_kernel *n = proof_counts(w);
    if (!(l->x | l->k | l->shared))
        return;
    proof_of(w)->running->sites[in->number].loads = true;
    n->x_loads += l->x;
    n->k_loads += l->k;
    n->buffer_words += l->buffer_words;
    n->shared_loads += l->shared;
    n->x_from_shared += l->x_shared;
    n->x_own += l->x_own;
    n->x_read += l->x_read;
    n->x_read_by_several += l->x_read_again;
}

/* Handles an element of x or k loaded from global or constant memory, where its way begins. */
PROOF_INLINE uint64_t loaded_global(struct vg_warp *w, const struct ir_insn *in,
                                    struct proof_place from, uint64_t way, struct loads *n)
{
    const struct proof *p = proof_of(w);
    const bool read_only = in->op == IR_TEX || in->op == IR_TLD4 || in->read_only;
    const uint64_t kinds = (way & (WAY_OF_X | WAY_OF_K)) | (read_only ? WAY_ONE(WAY_READ_ONLY) : 0);
    n->x += (way & WAY_OF_X) != 0;
    n->k += (way & WAY_OF_K) != 0;
    w->proof.loaded[from.lane] += ((way & WAY_OF_X) != 0) + ((way & WAY_OF_K) != 0);
    if (from.space == PTX_SPACE_CONST)
        return kinds | (way & WAY_OF_K ? WAY_ONE(WAY_K_CONST) : 0);
    if (lies_in(p, VG_PROOF_X, from.address) || !(way & WAY_OF_X))
        return kinds;
    n->buffer_words += !(from.origin->way & WAY_READ);
    from.origin->way |= WAY_READ;
    return kinds | WAY_ONE(WAY_X_BUFFER);
}

/* Handles the load of a sum that several threads made with atomic operations and that is not y
 * itself yet. */
static uint64_t loaded_sum(const struct proof *p, struct proof_place from, uint64_t way)
{
    const struct proof_joins *joins = &p->joins[from.origin - p->global];
    return way | (proof_joins_whole(joins, way_products(way)) ? WAY_JOINED : 0);
}

/* @return the number of a thread in its block, plus 1. */
static uint16_t thread_of(const struct vg_warp *w, int lane)
{
    return (uint16_t)(w->index * VG_LANES + (uint32_t)lane + 1);
}

/* Handles an element of x loaded from shared memory. In whole-warp loads, all threads load a matrix
 * together. */
PROOF_INLINE void loaded_tile(const struct vg_warp *w, const struct ir_insn *in,
                              struct proof_place from, struct proof_users *users, struct loads *n)
{
    const bool alone = !ir_rows[in->op].whole_warp && from.owner == w->block;
    const uint16_t reader = alone ? thread_of(w, from.lane) : PROOF_READERS;
    n->x_shared++;
    n->x_own += alone && users->writer == reader;
    if (users->reader == reader || users->reader == PROOF_READERS)
        return;
    n->x_read += users->reader == 0;
    users->reader = users->reader ? PROOF_READERS : reader;
    n->x_read_again += users->reader == PROOF_READERS;
}

PROOF_INLINE uint64_t loaded_shared(struct vg_warp *w, const struct ir_insn *in,
                                    struct proof_place from, uint64_t way, struct loads *n)
{
    struct proof_words *words = &from.owner->proof;
    struct proof_users *users = &words->users[from.origin - words->words];
    words->staged += !users->loaded;
    users->loaded = true;
    n->shared++;
    w->proof.loaded[from.lane]++;
    if (way & WAY_OF_X)
        loaded_tile(w, in, from, users, n);
    way &= ~WAY_ONE(WAY_K_CONST);
    return way | (way & WAY_OF_X ? WAY_ONE(WAY_X_SHARED) : 0) |
           (way & WAY_OF_K ? WAY_ONE(WAY_K_SHARED) : 0);
}

static struct origin parameter(const struct vg_warp *w, uint64_t offset)
{
    const struct vg_launch *l = w->block->launch;
    uint32_t value;
    if (offset % 4 || offset + 4 > l->parameter_bytes)
        return (struct origin){0};
    memcpy(&value, l->parameter_copy + offset, sizeof value);
    return proof_by_value(proof_of(w), value);
}

/* Copies an origin's fields in place: copying the whole structure again would stall until the fields
 * just written reach memory. */
PROOF_INLINE void fetch(struct vg_warp *w, const struct ir_insn *in, struct proof_place from,
                        int half, struct origin *o)
{
    if (from.origin)
        *o = *from.origin;
    else if (from.space == PTX_SPACE_PARAM)
        *o = parameter(w, from.address);
    if (!o->low && !o->high)
        return;
    if (half != WHOLE)
        *o = proof_part(*o, half);
    if (!o->way)
        return;
    if (!way_is_raw(o->way)) {
        proof_take_in(w, from.lane, o);
        if (from.space == PTX_SPACE_GLOBAL)
            o->way = loaded_sum(proof_of(w), from, o->way);
        return;
    }
    o->step = proof_of(w)->log ? o->step : 0;
    struct loads n = {0};
    if (from.space == PTX_SPACE_SHARED) {
        o->way = loaded_shared(w, in, from, o->way, &n);
        if (from.owner == w->block)
            proof_tile_loaded(w, (size_t)(from.origin - w->block->proof.words), o);
    } else if (from.space == PTX_SPACE_GLOBAL || from.space == PTX_SPACE_CONST) {
        o->way = loaded_global(w, in, from, o->way, &n);
    } else if (from.space == PTX_SPACE_PARAM) {
        n.k++;
        w->proof.loaded[from.lane]++;
    }
    count_loads(w, in, &n);
}

struct origin proof_fetch(struct vg_warp *w, const struct ir_insn *in, struct proof_place from,
                          int half)
{
    struct origin o = {0};
    fetch(w, in, from, half, &o);
    return o;
}

static void count_kept(struct vg_warp *w, const struct ir_insn *in, struct proof_place to,
                       struct origin o)
{
    struct proof *p = proof_of(w);
    const bool raw = o.way && way_is_raw(o.way);
    if (to.space == PTX_SPACE_SHARED && raw) {
        proof_counts(w)->staged++;
        w->proof.loaded[to.lane]--;
        if (o.way & WAY_OF_X) {
            const bool is_own =
                to.owner == w->block; /* otherwise of another block of the cluster */
            const size_t word = (size_t)(to.origin - to.owner->proof.words);
            to.owner->proof.users[word].writer = is_own ? thread_of(w, to.lane) : 0;
            to.owner->proof.users[word].reader = 0;
            if (is_own)
                proof_tile_stored(w, word);
        }
    }
    if (to.space != PTX_SPACE_GLOBAL)
        return;
    const uint32_t products = way_products(o.way), before = way_products(to.origin->way);
    if (!lies_in(p, VG_PROOF_Y, to.address)) {
        /* its own earlier sum at this place is a part of the new one */
        const bool continues = to.origin->maker == proof_thread(w, to.lane) && before <= products;
        w->proof.kept[to.lane] += continues ? products - before : products;
        proof_counts(w)->x_rewritten += raw && o.way & WAY_OF_X;
    } else if (products)
        p->running->sites[in->number].stores = true;
}

/* Counts an output that is as far from the block's first one as their threads' numbers. */
static void count_in_order(struct vg_warp *w, struct proof_place to, bool is_new)
{
    struct proof_words *b = &w->block->proof;
    const uint64_t start = to.address / 4 - thread_of(w, to.lane);
    if (is_new && !b->outputs_start)
        b->outputs_start = start;
    proof_counts(w)->outputs_in_order += is_new && b->outputs_start == start;
}

/* @return whether a word holds a sum of products. If all of them are 0 (background of pictures), it
 * has a zero element and no way. */
static bool holds_sum(struct origin o)
{
    return way_products(o.way) || (o.low == PROOF_ELEMENT && !o.way);
}

/* Counts an output when it first gets products, and no longer if its lane replaces them. */
static void count_output(struct vg_warp *w, struct proof_place to, struct origin what)
{
    uint32_t *const outputs = &w->proof.outputs[to.lane];
    const bool had = holds_sum(*to.origin), has = holds_sum(what);
    if (had == has || to.space != PTX_SPACE_GLOBAL ||
        !lies_in(proof_of(w), VG_PROOF_Y, to.address) || (!has && !*outputs))
        return;
    *outputs += has ? 1 : UINT32_MAX;
    if (w->proof.run[to.lane].last != w->proof.made[to.lane])
        proof_run_end(w, to.lane);
    w->proof.run[to.lane].last = w->proof.made[to.lane];
    w->proof.run[to.lane].outputs += has;
    count_in_order(w, to, has);
}

static void keep(struct vg_warp *w, const struct ir_insn *in, struct proof_place to, int half,
                 struct origin what)
{
    if (to.space != PTX_SPACE_LOCAL)
        proof_hand_out(w, to.lane, &what);
    count_output(w, to, what);
    if (what.low || what.high)
        count_kept(w, in, to, what);
    else if (!proof_known(*to.origin) && !what.step)
        return;
    if (half == WHOLE) {
        *to.origin = what;
        return;
    }
    if (proof_is_whole(*to.origin))
        *to.origin = (struct origin){.step = to.origin->step};
    const uint32_t other = half ? 0xffff : 0xffff0000;
    *(half ? &to.origin->high : &to.origin->low) = what.low;
    to.origin->way |= what.way;
    to.origin->step &= to.origin->step & HALVES_KNOWN ? 0 : UINT32_MAX; /* unknown */
    to.origin->maker = what.maker;
    to.origin->value = (to.origin->value & other) | (what.value & 0xffff) << 16 * half;
    to.origin->lost = (to.origin->lost & other) | (what.lost & 0xffff) << 16 * half;
}

void proof_keep(struct vg_warp *w, const struct ir_insn *in, struct proof_place to, int half,
                struct origin what)
{
    struct proof *p = proof_of(w);
    if (!to.origin)
        return;
    if (to.space != PTX_SPACE_LOCAL && (what.low || what.high) &&
        !(what.way && way_is_raw(what.way)))
        w->proof.used |= 1u << to.lane;
    if (to.space == PTX_SPACE_GLOBAL && p->joins[to.origin - p->global].count)
        p->joins[to.origin - p->global] = (struct proof_joins){0};
    keep(w, in, to, half, what);
}

void proof_keep_atomic(struct vg_warp *w, const struct ir_insn *in, struct proof_place to,
                       struct origin what)
{
    keep(w, in, to, WHOLE, what);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static int half_of(const struct ir_insn *in, uint64_t address)
{
    return in->bytes >= 4 ? WHOLE : (int)(address >> 1 & 1);
}

/* Finds the words that lanes load from global or constant memory, or from the block's own shared
 * memory. @return the first word there, or NULL if they load other words */
static struct origin *words_of(const struct vg_warp *w, const struct ir_insn *in, uint32_t lanes,
                               const uint64_t at[VG_LANES], uint64_t offset, size_t word[VG_LANES])
{
    const struct proof *p = proof_of(w);
    const bool is_shared = in->space == PTX_SPACE_SHARED;
    const uint64_t base = is_shared ? VG_SHARED_BASE : VG_GLOBAL_BASE;
    const size_t count = is_shared ? (w->block->shared_bytes + 3) / 4 : p->words;
    if (!is_shared && in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_CONST)
        return NULL;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t a = at[i] + offset;
        word[i] = (is_shared && !in_window(a, base) ? a : a - base) / 4;
        if (word[i] >= count)
            return NULL;
    }
    return is_shared ? w->block->proof.words : p->global;
}

/* Loads one word of global or constant memory that holds an element for several lanes. */
static void load_same(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes,
                      struct proof_place from, uint32_t slot, uint32_t stride, uint32_t word)
{
    struct origin *const to = proof_open(w, slot, stride), o = *from.origin;
    const uint32_t others = lanes & (lanes - 1);
    struct loads n = {0};
    o.step = 0;
    o.way = loaded_global(w, in, from, o.way, &n);
    const int32_t each = (int32_t)(n.x + n.k);
    n.x *= (uint32_t)__builtin_popcount(lanes);
    n.k *= (uint32_t)__builtin_popcount(lanes);
    for (uint32_t left = others; left; left &= left - 1)
        w->proof.loaded[__builtin_ctz(left)] += each;
    for (uint32_t left = lanes; left; left &= left - 1)
        to[(uint32_t)__builtin_ctz(left) * stride + word] = o;
    count_loads(w, in, &n);
}

static bool is_same_word(const size_t index[VG_LANES], uint32_t lanes)
{
    const size_t first = index[__builtin_ctz(lanes)];
    uint32_t left = lanes;
    while (left && index[__builtin_ctz(left)] == first)
        left &= left - 1;
    return !left;
}

/* The usual case of load_word(): words of words_of() or their halves, without a log. */
static bool load_words(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                       const uint64_t at[VG_LANES], uint64_t offset, uint32_t slot, uint32_t stride,
                       uint32_t word)
{
    size_t index[VG_LANES];
    struct origin *const words =
        in->bytes < 2 || proof_of(w)->log ? NULL : words_of(w, in, lanes, at, offset, index);
    const enum ptx_space space = (enum ptx_space)in->space;
    if (words && in->bytes >= 4 && space != PTX_SPACE_SHARED && is_same_word(index, lanes)) {
        const int i = __builtin_ctz(lanes);
        struct origin *const from = &words[index[i]];
        if ((from->low || from->high) && from->way && way_is_raw(from->way)) {
            load_same(w, in, lanes, (struct proof_place){from, space, at[i] + offset, i, w->block},
                      slot, stride, word);
            return true;
        }
    }
    struct origin *to = words && proof_holds(w, slot) ? proof_open(w, slot, stride) : NULL;
    struct loads n = {0};
    for (uint32_t left = words ? lanes : 0; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        struct origin *const from = &words[index[i]];
        if (!to && !proof_known(*from))
            continue;
        if (!to)
            to = proof_open(w, slot, stride);
        struct origin *const d = &to[(uint32_t)i * stride + word];
        const struct proof_place place = {from, space, at[i] + offset, i, w->block};
        uint64_t way = 0;
        if (from->low || from->high) {
            const struct origin o =
                in->bytes == 2 ? proof_part(*from, half_of(in, place.address)) : *from;
            proof_write(d, &o);
            way = o.way;
        } else {
            *d = *from;
        }
        if (!way)
            continue;
        if (!way_is_raw(way)) {
            proof_take_in(w, i, d);
            if (space == PTX_SPACE_GLOBAL)
                d->way = loaded_sum(proof_of(w), place, way);
            continue;
        }
        d->step = 0;
        d->way = space == PTX_SPACE_SHARED ? loaded_shared(w, in, place, way, &n)
                                           : loaded_global(w, in, place, way, &n);
        if (space == PTX_SPACE_SHARED)
            proof_tile_loaded(w, index[i], d);
    }
    count_loads(w, in, &n);
    return words != NULL;
}

/* Loads a word of each lane, at an offset from its address. */
static void load_word(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                      const uint64_t at[VG_LANES], uint64_t offset, uint32_t slot, uint32_t stride,
                      uint32_t word)
{
    const bool logged = proof_of(w)->log;
    struct origin *to = proof_holds(w, slot) ? proof_open(w, slot, stride) : NULL;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t a = at[i] + offset;
        const struct proof_place from = place(w, in, i, a);
        struct origin o = {0};
        fetch(w, in, from, half_of(in, a), &o);
        if (logged)
            proof_log_load(w, in, i, from, &o);
        if (!to && proof_known(o))
            to = proof_open(w, slot, stride);
        if (to)
            proof_write(&to[(uint32_t)i * stride + word], &o);
    }
}

void proof_load(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    const uint32_t words = in->bytes == 8 ? 2 : 1;
    const uint32_t stride = (uint32_t)ptx_type_bytes((enum ptx_type)in->type2) == 8 ? 2 : 1;
    proof_addresses(w, in, at);
    for (int k = 0; k < in->vector; k++) {
        const uint32_t slot = proof_element_slot(w, in, k, in->d);
        proof_clear(w, slot, words < stride ? lanes : 0);
        for (uint32_t word = 0; word < words && word < stride; word++)
            if (!load_words(in, w, lanes, at, (uint64_t)k * in->bytes + 4 * word, slot, stride,
                            word))
                load_word(in, w, lanes, at, (uint64_t)k * in->bytes + 4 * word, slot, stride, word);
    }
}

/* @return the number that a lane stores, if it has 32 bits. */
static float stored(const struct vg_warp *w, const struct ir_insn *in, uint32_t slot, int lane)
{
    const uint32_t *bits = (const uint32_t *)(const void *)(w->regs + slot);
    return in->bytes == 4 ? f32_of_bits(bits[lane]) : 0;
}

void proof_store(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    const uint32_t words = in->bytes == 8 ? 2 : 1;
    const uint32_t stride = (uint32_t)ptx_type_bytes((enum ptx_type)in->type2) == 8 ? 2 : 1;
    proof_addresses(w, in, at);
    for (int k = 0; k < in->vector; k++) {
        const uint32_t slot = proof_element_slot(w, in, k, in->b);
        const bool holds = proof_holds(w, slot);
        for (uint32_t left = lanes; left; left &= left - 1) {
            const int i = __builtin_ctz(left);
            for (uint32_t word = 0; word < words; word++) {
                struct origin o = {0};
                if (holds)
                    o = proof_slot(w, slot)[(uint32_t)i * stride + word];
                const uint64_t a = at[i] + (uint64_t)k * in->bytes + 4 * word;
                const struct proof_place to = proof_place(w, in, i, a);
                if (proof_of(w)->log)
                    proof_log_store(w, in, i, to, stored(w, in, slot, i), &o);
                proof_keep(w, in, to, half_of(in, a), o);
            }
        }
    }
}

/* The bytes arrive later, but no thread may read their words before. */
void proof_copy_async(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct ir_insn load = *in, store = *in;
    load.space = PTX_SPACE_GLOBAL;
    store.space = PTX_SPACE_SHARED;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const char *a = w->regs + in->a, *b = w->regs + in->b;
        const uint64_t to = in->wide_address ? ((const uint64_t *)(const void *)a)[i]
                                             : ((const uint32_t *)(const void *)a)[i];
        const uint64_t from = in->boolean ? ((const uint64_t *)(const void *)b)[i]
                                          : ((const uint32_t *)(const void *)b)[i];
        uint32_t read = in->c ? ((const uint32_t *)(const void *)(w->regs + in->c))[i] : in->bytes;
        for (uint32_t k = 0; k < in->bytes; k += 4) {
            struct origin o = {0};
            const struct proof_place source = proof_place(w, &load, i, from + k);
            if (k + 4 <= read)
                o = proof_fetch(w, &load, source, WHOLE);
            if (proof_of(w)->log)
                proof_log_load(w, in, i, source, &o);
            proof_keep(w, &store, proof_place(w, &store, i, to + k), WHOLE, o);
        }
    }
}

/* ---- textures and surfaces ------------------------------------------------------------------- */

void proof_texture(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *slots = w->frame->function->extra + in->extra;
    struct origin o[4][VG_LANES] = {{{0}}};
    struct texture_view view = {.handle = 0};
    struct ir_insn load = *in;
    load.space = PTX_SPACE_GLOBAL;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        uint32_t bits[4];
        uint64_t first = 0;
        if (!texture_find(w, in, i, ((uint64_t *)(void *)(w->regs + in->a))[i], false, &view))
            return;
        const struct texture_place at = texture_coordinates(w, in, i);
        const bool is_half = view.t.channel_bytes == 2 && view.t.format == VG_TEXEL_FLOAT;
        if (in->sub || view.t.levels || (view.t.channel_bytes != 4 && !is_half) ||
            !texture_fetch(w, in, i, &view, &at, 4, bits, &first) || !first)
            continue;
        for (uint32_t k = 0; k < in->vector && k < (uint32_t)view.t.channels; k++) {
            const uint64_t a = first + view.t.channel_bytes * k;
            o[k][i] = proof_fetch(w, &load, proof_place(w, &load, i, a),
                                  is_half ? (int)(a >> 1 & 1) : WHOLE);
            if (is_half)
                o[k][i] = proof_origin(
                    proof_operand_of(o[k][i], (double)f32_of_bits(bits[k]), PTX_TYPE_f16, 0),
                    PTX_TYPE_f32);
        }
    }
    for (uint32_t k = 0; k < in->vector; k++)
        if (slots[4 + k])
            proof_put(w, slots[4 + k], lanes, o[k], 1, 0);
}

void proof_surface(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *slots = w->frame->function->extra + in->extra + 4;
    const bool is_store = in->op == IR_SUST;
    struct texture_view view = {.handle = 0};
    struct ir_insn access = *in;
    access.space = PTX_SPACE_GLOBAL;
    for (uint32_t k = 0; k < in->vector; k++) {
        struct origin o[VG_LANES] = {{0}};
        for (uint32_t left = lanes; left; left &= left - 1) {
            const int i = __builtin_ctz(left);
            uint64_t first = 0;
            if (!texture_find(w, in, i, ((uint64_t *)(void *)(w->regs + in->a))[i], true, &view))
                return;
            struct texture_place at = texture_coordinates(w, in, i);
            if (in->boolean)
                at.i[2] = at.layer;
            if (!surface_address(w, in, i, &view.t, at.i, (uint32_t)in->bytes * in->vector, &first))
                return;
            const struct proof_place place = proof_place(w, &access, i, first + 4 * k);
            if (!first || in->bytes != 4)
                continue;
            if (!is_store)
                o[i] = proof_fetch(w, &access, place, WHOLE);
            else
                proof_keep(w, &access, place, WHOLE,
                           proof_holds(w, slots[k]) ? proof_slot(w, slots[k])[i]
                                                    : (struct origin){0});
        }
        if (!is_store && slots[k] && in->bytes <= 4)
            proof_put(w, slots[k], lanes, o, 1, 0);
    }
}
