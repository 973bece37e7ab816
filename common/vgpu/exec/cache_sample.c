/* The replay: a set-associative cache of 128-byte lines with four sectors each, with
 * least-recently-used replacement. Loads fill it; stores and atomics bypass it. */
#include "vgpu/exec/cache_sample.h"

#include "base/clones.h"
#include "vgpu/exec/access_sites.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/vg_device.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/wavefronts.h"
#include "vgpu/exec/workers.h"
#include "vgpu/probe/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD = 1, LOAD_PAST_L1, STORE, ATOMIC };
enum { LINE_BYTES = 128, WAYS = 16, TAGS_PER_CLOCK = 4 };

/* ---- recording ---------------------------------------------------------------------------- */

void sample_start(struct vg_sample *s, const struct vg_launch *l, int resident)
{
    const uint64_t chips = (uint64_t)l->device->profile.multiprocessors;
    const uint64_t wave = chips * (uint64_t)resident;
    s->blocks = 0;
    s->warps = l->warps;
    s->step = chips;
    /* The middle wave. If there is only one: its first multiprocessor, which has the most work. */
    s->first = l->blocks > wave ? l->blocks / wave / 2 * wave + chips / 2 : 0;
    uint64_t fit = l->blocks > s->first ? (l->blocks - s->first + chips - 1) / chips : 0;
    uint32_t blocks = (uint32_t)(fit < (uint64_t)resident ? fit : (uint64_t)resident);
    if (blocks * l->warps > s->room) {
        struct sample_warp *more = realloc(s->of, blocks * l->warps * sizeof *more);
        if (!more)
            return;
        s->of = more;
        s->room = blocks * l->warps;
    }
    s->blocks = blocks;
    for (uint32_t i = 0; i < blocks * l->warps; i++) {
        s->of[i].used = 0;
        s->of[i].full = false;
    }
}

struct sample_warp *sample_of_block(struct vg_sample *s, uint64_t number)
{
    if (number < s->first || (number - s->first) % s->step)
        return NULL;
    uint64_t i = (number - s->first) / s->step;
    return i < s->blocks ? &s->of[i * s->warps] : NULL;
}

void sample_free(struct vg_sample *s)
{
    free(s->of);
    *s = (struct vg_sample){0};
}

static uint32_t guarded(const struct vg_warp *w, const struct ir_insn *in)
{
    if (!in->guard)
        return w->mask;
    uint32_t p;
    memcpy(&p, w->regs + in->guard, sizeof p);
    return w->mask & (in->guard_not ? ~p : p);
}

/* Finds the addresses in global memory. @return the lanes that have such an address. */
EACH_TARGET VECTOR_LOOPS static uint32_t addresses(const struct vg_warp *w,
                                                   const struct ir_insn *in, uint64_t to[VG_LANES])
{
    const bool copies = in->op == IR_CP_ASYNC;
    const void *slot = w->regs + (copies ? in->b : in->a);
    const uint64_t *const wide = slot, more = copies ? 0 : (uint64_t)in->imm;
    const uint32_t *const narrow = slot;
    uint32_t others = 0;
    if (in->fixed_address && !copies)
        for (int i = 0; i < VG_LANES; i++)
            to[i] = more;
    else if (copies ? in->boolean : in->wide_address)
        for (int i = 0; i < VG_LANES; i++)
            to[i] = wide[i] + more;
    else
        for (int i = 0; i < VG_LANES; i++)
            to[i] = narrow[i] + more;
    for (int i = 0; i < VG_LANES; i++)
        others |= (uint32_t)(to[i] < VG_GLOBAL_BASE) << i;
    return guarded(w, in) & ~others;
}

/* Counts the passes of atomic operations: those on one word are serialised; others in one sector
 * share a pass. */
static uint32_t passes_count(const uint64_t *a, uint32_t mask)
{
    uint32_t passes = 0, left = mask;
    while (left) {
        const uint64_t sector = a[__builtin_ctz(left)] / 32;
        uint32_t words[8] = {0}, most = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            const int i = __builtin_ctz(m);
            if (a[i] / 32 != sector)
                continue;
            const uint32_t n = ++words[a[i] / 4 % 8];
            most = n > most ? n : most;
            left &= ~(1u << i);
        }
        passes += most;
    }
    return passes;
}

/* Finds the lines of a request and their sectors. @return the number of lines. */
static uint32_t lines_of(const uint64_t *a, uint32_t mask, uint32_t size, uint64_t to[2 * VG_LANES])
{
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = a[__builtin_ctz(m)], end = at + size - 1;
        for (uint64_t sector = at / 32; sector <= end / 32; sector++) {
            const uint64_t line = sector / 4 << 4;
            uint32_t i = n;
            while (i > 0 && to[i - 1] >> 4 << 4 != line)
                i--;
            if (!i) {
                to[n++] = line;
                i = n;
            }
            to[i - 1] |= 1u << sector % 4;
        }
    }
    return n;
}

static void find_lines(struct sample_pattern *p, const uint64_t *a)
{
    const uint64_t line = a[__builtin_ctz(p->mask)] / LINE_BYTES << 4;
    p->lines = lines_of(a, p->mask, p->size, p->line);
    for (uint32_t i = 0; i < p->lines; i++)
        p->line[i] -= line;
    p->wavefronts = wavefronts_count(a, p->mask, p->size);
}

/* @return the pattern of an access. */
EACH_TARGET VECTOR_LOOPS static const struct sample_pattern *
pattern_of(struct vg_worker *w, const uint64_t a[VG_LANES], uint32_t mask, uint32_t size)
{
    const uint64_t first = a[__builtin_ctz(mask)];
    const uint32_t offset = first % LINE_BYTES;
    uint64_t relative[VG_LANES], odd = 0;
    for (int i = 0; i < VG_LANES; i++)
        relative[i] = mask >> i & 1 ? a[i] - first : 0;
    const uint64_t key = relative[1] + 5 * relative[VG_LANES / 2] + 25 * relative[VG_LANES - 1] +
                         7 * offset + size + mask;
    struct sample_pattern *p =
        &w->sampled[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SAMPLE_PATTERNS];
    for (int i = 0; i < VG_LANES; i++)
        odd |= p->relative[i] ^ relative[i];
    if (odd || p->mask != mask || p->size != size || p->offset != offset) {
        memcpy(p->relative, relative, sizeof relative);
        p->mask = mask;
        p->size = size;
        p->offset = offset;
        find_lines(p, a);
    }
    return p;
}

void sample_access(struct vg_warp *w, const struct ir_insn *in)
{
    struct sample_warp *to = w->sample;
    int kind = in->op == IR_LD         ? in->past_l1 ? LOAD_PAST_L1 : LOAD
               : in->op == IR_ST       ? STORE
               : in->op == IR_ATOM     ? ATOMIC
               : in->op == IR_CP_ASYNC ? LOAD
                                       : 0;
    if (!kind || to->full ||
        (in->op != IR_CP_ASYNC && in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_GENERIC))
        return;
    uint64_t a[VG_LANES];
    const uint32_t mask = addresses(w, in, a);
    const uint32_t size = in->op == IR_CP_ASYNC ? in->bytes : (uint32_t)in->bytes * in->vector;
    if (!mask)
        return;
    const struct sample_pattern *p = pattern_of(w->worker, a, mask, size);
    if (to->used + p->lines + 1 > SAMPLE_WORDS) {
        to->full = true;
        return;
    }
    const uint64_t site = in->op == IR_CP_ASYNC ? in->site - 1 : in->site;
    const uint64_t passes = kind == ATOMIC ? passes_count(a, mask) : 0;
    const uint64_t line = a[__builtin_ctz(mask)] / LINE_BYTES << 4;
    to->words[to->used++] = site << 32 | (uint64_t)p->lines << 24 | passes << 16 |
                            (uint64_t)p->wavefronts << 8 | (uint64_t)kind << 4 | 0xf;
    for (uint32_t i = 0; i < p->lines; i++)
        to->words[to->used++] = line + p->line[i];
}

/* ---- replay ---------------------------------------------------------------------------- */

struct cache_line {
    uint64_t number; /* plus 1; 0: empty */
    uint32_t sectors, used;
};

struct cache {
    struct cache_line *lines; /* [sets][WAYS] */
    uint32_t sets, clock;
};

/* A memory instruction's counts in the sample. */
struct site_sums {
    uint32_t requests, wavefronts, tags, sectors, missed, missed_requests, passes;
};

/* The lines that atomic operations change, in a table of fixed size; lines that find no free entry
 * are ignored. */
struct hot_line {
    uint64_t number; /* plus 1; 0: empty */
    uint32_t passes, block;
    bool of_several; /* changed by several blocks */
};
enum { HOT_LINES = 256 };

struct playback {
    struct cache cache;
    struct site_sums *sites;
    struct hot_line hot[HOT_LINES];
};

static struct cache_line *look_up(struct cache *c, uint64_t number)
{
    struct cache_line *set = &c->lines[(number ^ number / c->sets) % c->sets * WAYS], *oldest = set;
    c->clock++;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].number == number + 1) {
            set[i].used = c->clock;
            return &set[i];
        }
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    *oldest = (struct cache_line){.number = number + 1, .used = c->clock};
    return oldest;
}

static void note_atomic(struct playback *p, uint64_t line, uint32_t passes, uint32_t block)
{
    for (uint32_t i = 0; i < HOT_LINES; i++) {
        struct hot_line *h = &p->hot[(line + i) % HOT_LINES];
        if (h->number && h->number != line + 1)
            continue;
        h->of_several |= h->number && h->block != block;
        h->number = line + 1;
        h->block = block;
        h->passes += passes;
        return;
    }
}

/* Replays one request. @return its length in words */
static uint32_t play(struct playback *p, const uint64_t *words, uint32_t block)
{
    const uint64_t head = words[0];
    const uint32_t n = head >> 24 & 0xff, passes = head >> 16 & 0xff;
    const int kind = head >> 4 & 0xf;
    struct site_sums *s = &p->sites[head >> 32];
    const uint32_t missed_before = s->missed;
    s->requests++;
    s->wavefronts += head >> 8 & 0xff;
    s->passes += passes;
    s->tags += n;
    if (kind == ATOMIC && n == 1)
        note_atomic(p, words[1] >> 4, passes, block);
    for (uint32_t i = 1; i <= n; i++) {
        const uint64_t number = words[i] >> 4;
        const uint32_t wanted = words[i] & 0xf;
        s->sectors += (uint32_t)__builtin_popcount(wanted);
        if (kind != LOAD) {
            s->missed += (uint32_t)__builtin_popcount(wanted);
            continue;
        }
        struct cache_line *line = look_up(&p->cache, number);
        s->missed += (uint32_t)__builtin_popcount(wanted & ~line->sectors);
        line->sectors |= wanted;
    }
    s->missed_requests += s->missed > missed_before;
    return n + 1;
}

/* @return whether no warp has recorded anything, so that no cache is needed. */
static bool is_empty(const struct vg_sample *s)
{
    for (uint32_t i = 0; i < s->blocks * s->warps; i++)
        if (s->of[i].used)
            return false;
    return true;
}

static void play_all(const struct vg_sample *s, struct playback *p)
{
    const uint32_t warps = s->blocks * s->warps;
    uint32_t *at = calloc(warps + 1, sizeof *at);
    for (bool more = at != NULL; more;) {
        more = false;
        for (uint32_t i = 0; i < warps; i++) {
            const struct sample_warp *w = &s->of[i];
            if (at[i] >= w->used)
                continue;
            at[i] += play(p, &w->words[at[i]], i / s->warps);
            more = true;
        }
    }
    free(at);
}

/* @return the serialised atomic operations on the busiest line: of the whole grid if several blocks
 * of the sample share the line. */
static double atomic_queue(const struct playback *p, const struct vg_clock_facts *facts)
{
    double all = 0;
    const struct hot_line *most = &p->hot[0];
    for (uint32_t i = 0; i < HOT_LINES; i++) {
        all += p->hot[i].passes;
        if (p->hot[i].passes > most->passes)
            most = &p->hot[i];
    }
    if (!most->passes)
        return 0;
    return most->of_several ? facts->atomic_passes * most->passes / all : most->passes;
}

/* Adds a memory instruction's counts in the whole launch to the facts. */
static void add_site(const struct site_sums *s, const struct vg_site *all, const struct ir_insn *in,
                     struct sample_misses *misses, struct vg_clock_facts *facts)
{
    if (!all->requests)
        return;
    if (bulk_is_load(in)) { /* not through L1 */
        facts->l2_read_sectors += (double)all->sectors;
        return;
    }
    if (bulk_is_store(in)) {
        facts->l2_write_sectors += (double)all->sectors;
        return;
    }
    if (!s->requests) { /* not in the sample: assume the simplest case */
        struct site_sums plain = {
            .requests = 4, .wavefronts = 4, .tags = 4, .sectors = 1, .missed = 1};
        plain.missed_requests = 4;
        plain.passes = in->op == IR_ATOM ? 4 : 0;
        add_site(&plain, all, in, misses, facts);
        return;
    }
    const double scale = (double)all->requests / s->requests;
    facts->l1_wavefronts += s->wavefronts * scale;
    facts->l1_tags +=
        fmax(1, 0.75 + (double)s->tags / s->requests / TAGS_PER_CLOCK) * (double)all->requests;
    if (in->op == IR_ATOM) {
        facts->atomic_passes += s->passes * scale;
        return;
    }
    if (in->op == IR_ST) {
        facts->l2_write_sectors += (double)all->sectors;
        return;
    }
    facts->l2_read_sectors += (double)all->sectors * s->missed / s->sectors;
    misses->requests = (float)s->missed_requests / (float)s->requests;
    misses->sectors = (float)s->missed / fmaxf(1, (float)s->missed_requests);
}

void sample_play(const struct vg_sample *sample, const struct vg_launch *l, int resident,
                 const struct vg_site *sites, struct sample_misses *misses,
                 struct vg_clock_facts *facts)
{
    const struct vg_profile *p = &l->device->profile;
    const struct vg_module *m = l->module;
    const double shared = (double)(l->shared_bytes + p->shared_reserved_bytes) * resident;
    double bytes = fmax((double)p->l1_bytes - (l->shared_bytes ? shared : 0), 16 << 10);
    struct playback back = {.cache.sets = (uint32_t)(bytes / LINE_BYTES / WAYS)};
    const bool empty = is_empty(sample);
    const size_t lines = empty ? 1 : (size_t)back.cache.sets * WAYS;
    back.cache.lines = calloc(lines, sizeof *back.cache.lines);
    back.sites = calloc(m->ir.site_count + 1, sizeof *back.sites);
    if (back.cache.lines && back.sites) {
        play_all(sample, &back);
        const struct ir_function *f;
        for (size_t at = 0; (f = vg_code_next(l->kernel, &at));)
            for (size_t i = 0; i < f->insn_count; i++) {
                const struct ir_insn *in = &f->insns[i];
                const uint32_t site = in->op == IR_CP_ASYNC ? in->site - 1 : in->site;
                if (in->site)
                    add_site(&back.sites[site], &sites[site], in, &misses[site], facts);
            }
        facts->atomic_queue = empty ? 0 : atomic_queue(&back, facts);
    }
    free(back.cache.lines);
    free(back.sites);
}
