#include "vgpu/native/patterns.h"

#include "vgpu/exec/handlers.h"
#include "vgpu/exec/workers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 512, PLACES = 1024 };

/* The patterns of a worker. They are dropped if less than a third of their space is free when
 * native code begins. If code finds more patterns than fit, it gets a shape of no kind, for which
 * accesses take the slow path. */
struct patterns {
    uint32_t count;
    uint16_t at[PLACES]; /* 1 + index in `of`; 0: free */
    struct vg_shape useless;
    struct vg_shape of[PATTERNS];
};

static struct patterns *patterns_of(struct vg_worker *worker)
{
    if (!worker->patterns) {
        worker->patterns = aligned_alloc(64, sizeof *worker->patterns);
        if (!worker->patterns)
            abort();
        memset(worker->patterns, 0, offsetof(struct patterns, of));
        worker->patterns->useless.kind = VG_SHAPE_KINDS;
    }
    return worker->patterns;
}

void patterns_begin(struct vg_worker *worker)
{
    struct patterns *p = patterns_of(worker);
    if (p->count < PATTERNS / 3 * 2)
        return;
    p->count = 0;
    memset(p->at, 0, sizeof p->at);
}

typedef uint64_t lanes_8 __attribute__((vector_size(64), may_alias));
typedef uint64_t lanes_4 __attribute__((vector_size(32), may_alias));
typedef uint64_t lane_64 __attribute__((may_alias));
typedef uint32_t lane_32 __attribute__((may_alias));

/* Inlined in both variants of native_pattern(), so that each compiles it for its instruction
 * set. */
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS bool is_same(const struct vg_shape *s, const lanes_8 relative[4], uint32_t mask,
                    uint32_t size)
{
    const lanes_8 *const known = (const lanes_8 *)(const void *)s->relative;
    lanes_8 odd = {0};
    for (int k = 0; k < 4; k++)
        odd |= known[k] ^ relative[k];
    uint64_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= odd[i];
    return any == 0 && s->mask == mask && s->size == size;
}

ALWAYS uint32_t place_of(const lanes_8 relative[4], uint32_t mask, uint32_t size)
{
    const lanes_8 h = relative[0] ^ relative[1] << 7 ^ relative[2] << 13 ^ relative[3] << 22;
    const lanes_4 low = __builtin_shufflevector(h, h, 0, 1, 2, 3),
                  high = __builtin_shufflevector(h, h, 4, 5, 6, 7), x = low + (high << 3) + high;
    const uint64_t sum =
        (x[0] + 3 * x[1]) + 5 * (x[2] + 3 * x[3]) + size + mask * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(sum * UINT64_C(0xd1342543de82ef95) >> 50) % PLACES;
}

static struct vg_shape *learn(struct vg_worker *worker, struct patterns *p, uint32_t place,
                              const lanes_8 relative[4], uint32_t mask, uint32_t size)
{
    if (p->count == PATTERNS)
        return &p->useless;
    struct vg_shape *s = &p->of[p->count++];
    worker->device->handlers->learn(s, (const uint64_t *)(const void *)relative, mask, size);
    p->at[place] = (uint16_t)p->count;
    return s;
}

/* @param relative  distance of each lane from the first; 0 for inactive lanes */
ALWAYS const struct vg_shape *find(struct vg_worker *worker, uint32_t mask, uint32_t size,
                                   const lanes_8 relative[4])
{
    struct patterns *const p = worker->patterns;
    uint32_t place = place_of(relative, mask, size);
    for (; p->at[place]; place = (place + 1) % PLACES) {
        struct vg_shape *s = &p->of[p->at[place] - 1];
        if (is_same(s, relative, mask, size))
            return s;
    }
    return learn(worker, p, place, relative, mask, size);
}

/* ---- called by native code, with the lanes in vector registers ------------------------------- */

ALWAYS struct native_pattern find_64(struct vg_worker *w, uint32_t mask, uint32_t size,
                                     const lane_64 values[32])
{
    const uint64_t lead = values[__builtin_ctz(mask)];
    uint64_t relative[VG_LANES] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < VG_LANES; i++)
        relative[i] = (values[i] - lead) & (0 - (uint64_t)(mask >> i & 1));
    return (struct native_pattern){find(w, mask, size, (const lanes_8 *)(const void *)relative),
                                   lead};
}

/* 32-bit addresses wrap: a lane below the first one has a small negative distance, not about 4
 * GiB. */
ALWAYS struct native_pattern find_32(struct vg_worker *w, uint32_t mask, uint32_t size,
                                     const lane_32 values[32])
{
    const uint32_t lead = values[__builtin_ctz(mask)];
    uint64_t relative[VG_LANES] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < VG_LANES; i++)
        relative[i] =
            (uint64_t)(int64_t)(int32_t)(values[i] - lead) & (0 - (uint64_t)(mask >> i & 1));
    return (struct native_pattern){find(w, mask, size, (const lanes_8 *)(const void *)relative),
                                   lead};
}

#define ENTRY(NAME, TARGET, FIND, TYPE, VECTOR, PARAMETERS, ...)                                   \
    static __attribute__((target(TARGET), optimize("O3"))) struct native_pattern NAME(             \
        struct vg_worker *w, uint32_t mask, uint32_t size, PARAMETERS) {                           \
        const VECTOR parts[] = {__VA_ARGS__};                                                      \
        return FIND(w, mask, size, (const TYPE *)(const void *)parts);                             \
    }
#define TWO(V)   V a, V b
#define FOUR(V)  V a, V b, V c, V d
#define EIGHT(V) V a, V b, V c, V d, V e, V f, V g, V h
#define AVX512   "avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"
#define AVX2     "avx2,fma"
ENTRY(pattern_wide_avx512, AVX512, find_64, lane_64, lanes_8, FOUR(lanes_8), a, b, c, d)
ENTRY(pattern_narrow_avx512, AVX512, find_32, lane_32, lanes_8, TWO(lanes_8), a, b)
ENTRY(pattern_wide_avx2, AVX2, find_64, lane_64, lanes_4, EIGHT(lanes_4), a, b, c, d, e, f, g, h)
ENTRY(pattern_narrow_avx2, AVX2, find_32, lane_32, lanes_4, FOUR(lanes_4), a, b, c, d)

uintptr_t patterns_entry(bool avx512, bool is_wide)
{
    if (avx512)
        return is_wide ? (uintptr_t)pattern_wide_avx512 : (uintptr_t)pattern_narrow_avx512;
    return is_wide ? (uintptr_t)pattern_wide_avx2 : (uintptr_t)pattern_narrow_avx2;
}
