#include "vgpu/exec/proof_log.h"

#include "vgpu/exec/float_bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

/* ---- opening -------------------------------------------------------------------------------- */

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void release(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

static void forget_kernels(struct proof *p)
{
    for (size_t i = 0; i < p->kernel_count; i++)
        free(p->kernels[i].sites);
    p->kernel_count = 0;
}

static void forget_tensors(struct proof *p)
{
    for (int i = 0; i < VG_PROOF_TENSORS; i++)
        free(p->tensor[i].elements);
    memset(p->tensor, 0, sizeof p->tensor);
    free(p->values);
    free(p->weights);
    free(p->map_sums);
    p->values = NULL;
    p->weights = NULL;
    p->map_sums = NULL;
    p->maps = 0;
}

void proof_close(struct vg_device *d)
{
    struct proof *p = d->proof;
    if (!p)
        return;
    for (size_t i = 0; i < d->memory.count; i++)
        free(d->memory.list[i].seen);
    forget_kernels(p);
    forget_tensors(p);
    release(p->global, p->words * sizeof *p->global);
    release(p->joins, p->words * sizeof *p->joins);
    free(p->kernels);
    proof_log_free(p->log);
    free(p);
    d->proof = NULL;
}

enum st_code vg_proof_start(struct vg_device *d, struct st_error *err)
{
    struct proof *p = d->proof;
    if (!p) {
        p = d->proof = calloc(1, sizeof *p);
        if (!p)
            return st_fail(err, ST_NO_MEMORY, "out of memory for a proof");
        p->words = d->memory.arena_bytes / 4;
        p->global = reserve(p->words * sizeof *p->global);
        p->joins = reserve(p->words * sizeof *p->joins);
        if (!p->global || !p->joins) {
            proof_close(d);
            return st_fail(err, ST_NO_MEMORY, "no address space for a proof");
        }
    }
    forget_kernels(p);
    forget_tensors(p);
    if (p->log)
        proof_log_clear(p->log);
    if (!field_make() || getrandom(&p->key, sizeof p->key, 0) != sizeof p->key)
        return st_fail(err, ST_MISSING_TOOL, "cannot get random numbers from the system");
    return ST_OK;
}

void vg_proof_taps(struct vg_device *d, size_t taps, bool tiles)
{
    d->proof->taps = taps;
    d->proof->watches_tiles = tiles;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* @return a nonzero random element for a number. */
static uint32_t random_element(const struct proof *p, uint64_t number)
{
    uint64_t z = p->key + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % (proof_field.prime - 1)) + 1;
}

/* Elements of k depend on their values, elements of x on their indices. */
static uint32_t element_of_k(const struct proof *p, uint32_t value)
{
    return random_element(p, UINT64_C(1) << 63 | value);
}

static size_t value_slot(const struct proof *p, uint32_t value)
{
    size_t at = (value * UINT32_C(2654435761)) & p->value_mask;
    while (p->values[at] && p->values[at] != value)
        at = (at + 1) & p->value_mask;
    return at;
}

/* @return the origin of a word that came from the host. */
struct origin proof_by_value(const struct proof *p, uint32_t value)
{
    if (!value || !p->values || !p->values[value_slot(p, value)])
        return (struct origin){0};
    return (struct origin){
        .low = PROOF_ELEMENT | element_of_k(p, value), .way = WAY_OF_K, .value = value};
}

/* @return the origin of the first word of a double that came from the host: the host may widen
 * weights. */
static struct origin by_wide_value(const struct proof *p, uint32_t low, uint32_t high)
{
    const double number = f64_of_bits((uint64_t)high << 32 | low);
    const float narrow = (float)number;
    return (double)narrow == number ? proof_by_value(p, bits_of_f32(narrow)) : (struct origin){0};
}

static bool make_table(struct proof *p, const uint32_t *words, size_t n)
{
    size_t room = 64;
    while (room < 2 * n)
        room *= 2;
    free(p->values);
    p->values = calloc(room, sizeof *p->values);
    p->value_mask = room - 1;
    for (size_t i = 0; p->values && i < n; i++)
        if (words[i])
            p->values[value_slot(p, words[i])] = words[i];
    return p->values != NULL;
}

static struct origin *origin_at(const struct proof *p, uint64_t address)
{
    return p->global + (address - VG_GLOBAL_BASE) / 4;
}

/* ---- bounds of y's sums ----------------------------------------------------------------------- */

static bool find_largest(struct proof *p, const uint32_t *x, size_t n)
{
    p->largest_x = 0;
    for (size_t i = 0; i < n; i++)
        p->largest_x = fmax(p->largest_x, fabs((double)f32_of_bits(x[i])));
    return true;
}

static bool sum_maps(struct proof *p, const uint32_t *k, size_t n)
{
    free(p->map_sums);
    p->maps = p->taps ? n / p->taps : 0;
    p->map_sums = calloc(p->maps + 1, sizeof *p->map_sums);
    for (size_t i = 0; p->map_sums && i < p->maps * p->taps; i++)
        p->map_sums[i / p->taps] += fabs((double)f32_of_bits(k[i]));
    p->largest_sum = 0;
    for (size_t i = 0; p->map_sums && i < p->maps; i++)
        p->largest_sum = fmax(p->largest_sum, p->map_sums[i]);
    return p->map_sums != NULL;
}

double vg_proof_largest(const struct vg_device *d, size_t map)
{
    const struct proof *p = d->proof;
    return map < p->maps ? p->largest_x * p->map_sums[map] : 0;
}

/* ---- words that the host writes -------------------------------------------------------------- */

/* Skips words that had no origin, so that their pages and cache lines are not touched. */
static void set_origin(struct proof *p, size_t word, struct origin o)
{
    if (proof_known(o) || proof_known(p->global[word]))
        p->global[word] = o;
    if (p->joins[word].count)
        p->joins[word] = (struct proof_joins){0};
}

/* @return the first word that has a byte in a range, and the word after the last one. */
static size_t first_word(uint64_t address)
{
    return (address - VG_GLOBAL_BASE) / 4;
}

static size_t end_word(uint64_t address, size_t bytes)
{
    return (address - VG_GLOBAL_BASE + bytes + 3) / 4;
}

/* The host may have written to memory that it shares with the device. Words that have changed since
 * the device last had the memory come from the host. */
static bool look_at(const struct vg_device *d, struct vg_allocation *a, bool before)
{
    const char *now = vg_memory_host(&d->memory, a->address);
    if (!a->seen && !(a->seen = calloc(1, a->bytes + 4)))
        return false;
    for (size_t w = 0; before && w < (a->bytes + 3) / 4; w++) {
        uint32_t value;
        memcpy(&value, now + 4 * w, sizeof value);
        if (memcmp(a->seen + 4 * w, &value, sizeof value) != 0)
            set_origin(d->proof, first_word(a->address) + w, proof_by_value(d->proof, value));
    }
    memcpy(a->seen, now, a->bytes);
    return true;
}

static bool look_at_shared(struct vg_device *d, bool before)
{
    for (size_t i = 0; i < d->memory.count; i++) {
        struct vg_allocation *a = &d->memory.list[i];
        if (a->live && a->shared && !look_at(d, a, before))
            return false;
    }
    return true;
}

/* ---- tensors and words ------------------------------------------------------------------------ */

bool vg_proof_tensor(struct vg_device *d, enum vg_proof_tensor which, uint64_t address,
                     size_t bytes)
{
    struct proof *p = d->proof;
    struct proof_tensor *t = &p->tensor[which];
    const uint32_t *words = (const uint32_t *)(const void *)vg_memory_host(&d->memory, address);
    const size_t n = bytes / 4;
    struct origin *to = origin_at(p, address);
    if (!look_at_shared(d, false))
        return false;
    free(t->elements);
    *t = (struct proof_tensor){.address = address, .bytes = bytes};
    if (which == VG_PROOF_Y) {
        memset(origin_at(p, address), 0, n * sizeof *to);
        return true;
    }
    t->elements = malloc((n + 1) * sizeof *t->elements);
    if (!t->elements || (which == VG_PROOF_K && !make_table(p, words, n)))
        return false;
    for (size_t i = 0; i < n; i++) {
        t->elements[i] = which == VG_PROOF_K             ? element_of_k(p, words[i])
                         : f32_of_bits(words[i]) == 0.0f ? 0
                                                         : random_element(p, i);
        to[i] = (struct origin){.low = PROOF_ELEMENT | t->elements[i],
                                .way = which == VG_PROOF_K ? WAY_OF_K : WAY_OF_X,
                                .value = words[i]};
    }
    return which == VG_PROOF_X ? find_largest(p, words, n)
                               : sum_maps(p, words, n) && proof_tile_weights(p, t->elements, n);
}

const uint32_t *vg_proof_elements(const struct vg_device *d, enum vg_proof_tensor which,
                                  size_t *count)
{
    const struct proof_tensor *t = &d->proof->tensor[which];
    *count = t->bytes / 4;
    return t->elements;
}

/* @return the number of products of an output that came through a memory. A sum of far more products
 * than the output needs may have lost most of the needed ones, because it keeps only proportions;
 * then a memory counts only if all products came through it. */
static uint32_t count_of(const struct proof *p, uint64_t way, enum way_field memory)
{
    const uint32_t products = way_products(way), count = way_count(way, memory);
    const bool is_much = products > WAY_MOST / 2 && 2 * (size_t)products > 3 * p->taps && p->taps;
    return is_much && count < products ? 0 : count;
}

void vg_proof_word(const struct vg_device *d, size_t index, struct vg_proof_word *to)
{
    const struct proof *p = d->proof;
    const size_t at = (p->tensor[VG_PROOF_Y].address - VG_GLOBAL_BASE) / 4 + index;
    const struct origin *o = &p->global[at];
    const struct proof_joins *joins = &p->joins[at];
    const uint32_t products = way_products(o->way);
    const bool joined = o->way & WAY_JOINED && !joins->count; /* atomics changed another word */
    uint32_t bits;
    memcpy(&bits, vg_memory_host(&d->memory, VG_GLOBAL_BASE + 4 * at), sizeof bits);
    *to = (struct vg_proof_word){
        .has_element = o->low & PROOF_ELEMENT,
        .is_zero = f32_of_bits(bits) == 0,
        .element = o->low & FIELD_MASK,
        .lost = (double)f32_of_bits(o->lost & ~PROOF_IS_F16) +
                fabs((double)f32_of_bits(bits) - (double)f32_of_bits(o->value)),
        .products = products,
        .x_shared = count_of(p, o->way, WAY_X_SHARED),
        .k_shared = count_of(p, o->way, WAY_K_SHARED),
        .x_buffer = count_of(p, o->way, WAY_X_BUFFER),
        .k_constant = count_of(p, o->way, WAY_K_CONST),
        .read_only = count_of(p, o->way, WAY_READ_ONLY),
        .by_atomics = joined ? products : joins->products,
        .joins = joined                          ? 2
                 : joins->maker == PROOF_SEVERAL ? joins->count
                                                 : joins->count > 0,
        .largest_part = joined ? products / 2 : joins->largest,
        .lower = halves_count(o->step, 0),
        .upper = halves_count(o->step, 1)};
}

size_t vg_proof_kernels(const struct vg_device *d)
{
    return d->proof->kernel_count;
}

/* @return the products that an instruction computed two at a time. At the edges of the output, one
 * half of a pair may multiply zeros; it counts if the instruction has computed pairs elsewhere. */
static uint64_t pairs_of(const struct proof_site *s)
{
    return s->paired + (10 * s->paired >= s->beside ? s->beside : 0);
}

const struct vg_proof_kernel *vg_proof_kernel(const struct vg_device *d, size_t i)
{
    struct proof_kernel *k = &d->proof->kernels[i];
    uint64_t most = 0;
    k->counts.paired_products = k->matrix_pairs;
    k->counts.working_sites = k->counts.product_sites = k->counts.store_sites = 0;
    k->counts.padded_products = 0;
    for (size_t s = 0; s < k->site_count; s++)
        most = k->sites[s].products > most ? k->sites[s].products : most;
    for (size_t s = 0; s < k->site_count; s++) {
        k->counts.working_sites += k->sites[s].loads || k->sites[s].products > 0 ||
                                   k->sites[s].padded > 0 || k->sites[s].stores;
        k->counts.product_sites += k->sites[s].products > most / 3;
        k->counts.padded_products += k->sites[s].products ? k->sites[s].padded : 0;
        k->counts.store_sites += k->sites[s].stores;
        k->counts.paired_products += pairs_of(&k->sites[s]);
    }
    return &k->counts;
}

/* ---- writes to global memory by the host ----------------------------------------------------- */

/* Keeps a copy of managed memory's contents while the device has it. */
static void note_seen(const struct vg_device *d, struct vg_allocation *a, uint64_t address,
                      size_t bytes)
{
    if (!a->shared || (!a->seen && !(a->seen = calloc(1, a->bytes + 4))))
        return;
    memcpy(a->seen + (address - a->address), vg_memory_host(&d->memory, address), bytes);
}

void proof_written(struct vg_device *d, struct vg_allocation *a, uint64_t to, const void *from,
                   size_t bytes)
{
    struct proof *p = d->proof;
    if (!p || !bytes)
        return;
    const size_t known = to % 4 == 0 && from ? bytes / 4 : 0;
    for (size_t w = first_word(to), i = 0; w < end_word(to, bytes); w++, i++) {
        uint32_t value[2] = {0};
        if (i < known)
            memcpy(value, (const char *)from + 4 * i, i + 1 < known ? 8 : 4);
        struct origin o = proof_by_value(p, value[0]);
        if (!proof_known(o) && w % 2 == 0 && i + 1 < known)
            o = by_wide_value(p, value[0], value[1]);
        set_origin(p, w, o);
    }
    note_seen(d, a, to, bytes);
}

void proof_copied(struct vg_device *d, struct vg_allocation *a, uint64_t to,
                  struct vg_allocation *b, uint64_t from, size_t bytes)
{
    struct proof *p = d->proof;
    if (!p || !bytes || (b->shared && !look_at(d, b, true)))
        return;
    const size_t n = bytes / 4, first = first_word(to), source = first_word(from);
    if (to % 4 || from % 4) {
        proof_written(d, a, to, NULL, bytes);
        return;
    }
    const bool up = first > source; /* the ranges may overlap */
    for (size_t i = 0; i < n; i++) {
        const size_t k = up ? n - 1 - i : i;
        const struct proof_joins joins = p->joins[source + k];
        struct origin o = p->global[source + k];
        o.way &= ~WAY_READ;
        set_origin(p, first + k, o);
        if (joins.count)
            p->joins[first + k] = joins;
    }
    if (bytes % 4)
        set_origin(p, first + n, (struct origin){0});
    proof_log_copied(p, to, bytes);
    note_seen(d, a, to, bytes);
}

/* ---- launches ------------------------------------------------------------------------------- */

static struct proof_kernel *kernel_entry(struct proof *p, const struct vg_kernel *kernel)
{
    for (size_t i = 0; i < p->kernel_count; i++)
        if (p->kernels[i].kernel == kernel)
            return &p->kernels[i];
    p->kernels = ptx_grow(p->kernels, p->kernel_count, &p->kernel_room, sizeof *p->kernels);
    struct proof_kernel *k = &p->kernels[p->kernel_count];
    *k = (struct proof_kernel){.kernel = kernel, .site_count = kernel->module->ir.insn_count};
    memcpy(k->counts.name, kernel->name, sizeof k->counts.name);
    k->sites = calloc(k->site_count + 1, sizeof *k->sites);
    p->kernel_count += k->sites != NULL;
    return k->sites ? k : NULL;
}

bool proof_launch_start(struct vg_launch *l)
{
    struct proof *p = l->device->proof;
    if (!p)
        return true;
    p->running = kernel_entry(p, l->kernel);
    if (!p->running || !look_at_shared(l->device, true))
        return false;
    p->running->before = p->running->counts;
    p->running->counts.launches++;
    p->running->counts.blocks += l->blocks;
    p->running->counts.threads = l->threads;
    p->running->counts.columns = l->block.x;
    return proof_log_launch(p, l);
}

bool proof_works(const struct vg_launch *l, const struct ir_function *f, uint32_t block)
{
    const struct proof *p = l->device->proof;
    const size_t end = block + 1 < f->block_count ? f->block_first[block + 1] : f->insn_count;
    bool works = false;
    for (size_t i = f->block_first[block]; p && p->running && i < end; i++) {
        const struct ir_insn *in = &f->insns[i];
        const struct proof_site *s = &p->running->sites[in->number];
        works |= s->products > 0 || s->loads || (p->running->joins && s->stores && in->op == IR_ST);
    }
    return works;
}

void proof_launch_end(struct vg_launch *l)
{
    struct proof *p = l->device->proof;
    if (!p)
        return;
    struct vg_proof_kernel *n = &p->running->counts;
    const struct vg_proof_kernel *before = &p->running->before;
    if (n->products == before->products)
        n->x_unrolled += n->x_rewritten - before->x_rewritten;
    look_at_shared(l->device, false);
}
