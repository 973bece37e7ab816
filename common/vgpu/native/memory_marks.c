/* Does the work of runs_marked() and mark_runs() in the interpreter (ops_memory_warp.inc) without
 * vector registers: saving native code's vector registers would take longer than this work. All
 * accesses are of whole words, so at least half a byte of the shadow changes. */
#include "vgpu/exec/access_sites.h"
#include "vgpu/exec/vg_memory.h"

#define SCALAR __attribute__((target("general-regs-only")))
#define CALLED __attribute__((used, visibility("hidden"))) SCALAR

/* volatile, so that the compiler does not turn a loop into memset(), which uses vector registers */
typedef volatile uint64_t __attribute__((aligned(1), may_alias)) eight_marks;

enum { LOW_WORD = 0x0f, HIGH_WORD = 0xf0, BOTH_WORDS = 0xff };

/* (not static, since only assembly refers to them; the result fills the whole register that native
 * code reads) */
uint32_t native_range_marked(const struct vg_site *site, uint64_t at, uint64_t end);
uint32_t native_runs_marked(const struct vg_site *site, const struct vg_shape *s, uint64_t first);
void native_mark_runs(const struct vg_site *site, const struct vg_shape *s, uint64_t first);

CALLED uint32_t native_range_marked(const struct vg_site *site, uint64_t at, uint64_t end)
{
    const uint8_t *const shadow = site->allocation->shadow;
    at -= site->allocation->address;
    end -= site->allocation->address;
    if (at & 4) {
        if ((shadow[at / 8] & HIGH_WORD) != HIGH_WORD)
            return false;
        at += 4;
    }
    for (; end - at >= 64; at += 64)
        if (*(const eight_marks *)(shadow + at / 8) != UINT64_MAX)
            return false;
    for (; end - at >= 8; at += 8)
        if (shadow[at / 8] != BOTH_WORDS)
            return false;
    return at == end || (shadow[at / 8] & LOW_WORD) == LOW_WORD;
}

CALLED uint32_t native_runs_marked(const struct vg_site *site, const struct vg_shape *s,
                                   uint64_t first)
{
    for (uint32_t i = 0; i < s->run_count; i++) {
        const uint64_t at = first + (uint64_t)s->runs[i].start;
        if (!native_range_marked(site, at, at + s->runs[i].bytes))
            return false;
    }
    return true;
}

/* Atomic, since two workers may mark the two words of a byte at the same time. */
SCALAR static void mark_word(uint8_t *shadow, uint8_t bits)
{
    if ((__atomic_load_n(shadow, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(shadow, bits, __ATOMIC_RELAXED);
}

SCALAR static void mark_range(uint8_t *shadow, uint64_t at, uint64_t end)
{
    if (at & 4) {
        mark_word(shadow + at / 8, HIGH_WORD);
        at += 4;
    }
    for (; end - at >= 64; at += 64)
        *(eight_marks *)(shadow + at / 8) = UINT64_MAX;
    for (; end - at >= 8; at += 8)
        *(volatile uint8_t *)(shadow + at / 8) = BOTH_WORDS;
    if (at < end)
        mark_word(shadow + at / 8, LOW_WORD);
}

CALLED void native_mark_runs(const struct vg_site *site, const struct vg_shape *s, uint64_t first)
{
    struct vg_allocation *const a = site->allocation;
    if (!__atomic_load_n(&a->touched, __ATOMIC_RELAXED))
        __atomic_store_n(&a->touched, true, __ATOMIC_RELAXED);
    first -= a->address;
    for (uint32_t i = 0; i < s->run_count; i++) {
        const uint64_t at = first + (uint64_t)s->runs[i].start;
        mark_range(a->shadow, at, at + s->runs[i].bytes);
    }
}
