#include "vgpu/native/shapes.h"

#include "vgpu/exec/handlers.h"
#include "vgpu/exec/workers.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 512, PLACES = 1024, RECENT = 256 };
enum { WIDE, NARROW, WIDTHS }; /* addresses of 64 and of 32 bits */

/* The shapes of a worker. They are dropped if less than a third of their space is free when
 * native code begins. If code finds more shapes than fit, it gets a shape of no kind, for which
 * accesses take the slow path. */
struct shapes {
    uint32_t count;
    uint16_t at[PLACES]; /* 1 + index in `of`; 0: free */
    /* the shapes found last, see recent_place() */
    const struct vg_shape *recent[WIDTHS][RECENT];
    const struct vg_shape *last[WIDTHS]; /* the last one in which lane 0 took part */
    struct vg_shape useless;
    struct vg_shape of[SHAPES];
};

static void forget(struct shapes *p)
{
    p->count = 0;
    memset(p->at, 0, sizeof p->at);
    for (int i = 0; i < WIDTHS * RECENT; i++)
        p->recent[i / RECENT][i % RECENT] = &p->useless;
    p->last[WIDE] = p->last[NARROW] = &p->useless;
}

static struct shapes *shapes_of(struct vg_worker *worker)
{
    if (!worker->native_shapes) {
        worker->native_shapes = aligned_alloc(64, sizeof *worker->native_shapes);
        if (!worker->native_shapes)
            abort();
        worker->native_shapes->useless = (struct vg_shape){.kind = VG_SHAPE_KINDS};
        forget(worker->native_shapes);
    }
    return worker->native_shapes;
}

void shapes_begin(struct vg_worker *worker)
{
    struct shapes *p = shapes_of(worker);
    if (p->count >= SHAPES / 3 * 2)
        forget(p);
}

typedef uint64_t lanes_8 __attribute__((vector_size(64), may_alias));
typedef uint64_t lanes_4 __attribute__((vector_size(32), may_alias));
typedef uint32_t words_16 __attribute__((vector_size(64), may_alias));
typedef uint32_t words_8 __attribute__((vector_size(32), may_alias));
typedef uint64_t lane_64 __attribute__((may_alias));
typedef uint32_t lane_32 __attribute__((may_alias));

/* Inlined in both variants of native_shape(), so that each compiles it for its instruction
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

static struct vg_shape *learn(struct vg_worker *worker, struct shapes *p, uint32_t place,
                              const lanes_8 relative[4], uint32_t mask, uint32_t size)
{
    if (p->count == SHAPES)
        return &p->useless;
    struct vg_shape *s = &p->of[p->count++];
    worker->device->handlers->learn(s, (const uint64_t *)(const void *)relative, mask, size);
    p->at[place] = (uint16_t)p->count;
    return s;
}

/* @return where a shape is in `recent`. */
ALWAYS uint32_t recent_place(uint32_t sum, uint32_t mask, uint32_t size)
{
    return (vg_shape_hash(sum, mask, size) >> 24) % RECENT;
}

/* @param relative  distance of each lane from the first; 0 for inactive lanes */
ALWAYS const struct vg_shape *find(struct vg_worker *worker, uint32_t mask, uint32_t size,
                                   const uint64_t *lanes)
{
    struct shapes *const p = worker->native_shapes;
    const lanes_8 *const relative = (const lanes_8 *)(const void *)lanes;
    uint32_t place = place_of(relative, mask, size);
    for (; p->at[place]; place = (place + 1) % PLACES)
        if (is_same(&p->of[p->at[place] - 1], relative, mask, size))
            return &p->of[p->at[place] - 1];
    return learn(worker, p, place, relative, mask, size);
}

/* ---- called by native code, with the lanes in vector registers ------------------------------- */

ALWAYS struct native_shape find_64(struct vg_worker *w, uint32_t mask, uint32_t size,
                                   const lane_64 values[32])
{
    const uint64_t lead = values[__builtin_ctz(mask)];
    uint64_t relative[VG_LANES] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < VG_LANES; i++)
        relative[i] = (values[i] - lead) & (0 - (uint64_t)(mask >> i & 1));
    return (struct native_shape){find(w, mask, size, relative), lead};
}

/* 32-bit addresses wrap: a lane below the first one has a small negative distance, not about 4
 * GiB. */
ALWAYS struct native_shape find_32(struct vg_worker *w, uint32_t mask, uint32_t size,
                                   const lane_32 values[32])
{
    const uint32_t lead = values[__builtin_ctz(mask)];
    uint64_t relative[VG_LANES] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < VG_LANES; i++)
        relative[i] =
            (uint64_t)(int64_t)(int32_t)(values[i] - lead) & (0 - (uint64_t)(mask >> i & 1));
    return (struct native_shape){find(w, mask, size, relative), lead};
}

/* Most look-ups find the last shape again, or a recent one, without a variable in memory. The
 * processor guesses which, and so need not wait for the addresses. In both, lane 0 takes part. NONE
 * is whether a vector is zero, SUM the sum of its elements; KNOWN are a known shape's distances, and
 * WANT the lanes that count. */
#define IS_SHAPE(S, KNOWN, WANT, VECTOR, NONE)                                                     \
    ({                                                                                             \
        const VECTOR *const known = (const VECTOR *)(const void *)(S)->KNOWN,                      \
                            *const want = (const VECTOR *)(const void *)(S)->WANT;                 \
        VECTOR odd = {0};                                                                          \
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)                                  \
            odd |= ((parts[k] - lead) ^ known[k]) & want[k];                                       \
        NONE(odd) && (S)->mask == mask && (S)->size == size;                                       \
    })
#define COMPILED(TARGET) __attribute__((target(TARGET), optimize("O3")))
#define ENTRY(NAME, TARGET, FIND, WIDTH, KNOWN, WANT, TYPE, VECTOR, NONE, SUM, LANES, ...)         \
    COMPILED(TARGET)                                                                               \
    static __attribute__((noinline)) struct native_shape NAME##_search(                            \
        struct vg_worker *w, uint32_t mask, uint32_t size, uint32_t place, LANES)                  \
    {                                                                                              \
        const VECTOR parts[] = {__VA_ARGS__};                                                      \
        const TYPE *const lanes = (const TYPE *)(const void *)parts;                               \
        const struct vg_shape **const recent = &w->native_shapes->recent[WIDTH][place];            \
        const TYPE lead = lanes[__builtin_ctz(mask)];                                              \
        if (!IS_SHAPE(*recent, KNOWN, WANT, VECTOR, NONE))                                         \
            *recent = FIND(w, mask, size, lanes).shape;                                            \
        if (mask & 1)                                                                              \
            w->native_shapes->last[WIDTH] = *recent;                                               \
        return (struct native_shape){*recent, lead};                                               \
    }                                                                                              \
    COMPILED(TARGET)                                                                               \
    static struct native_shape NAME(struct vg_worker *w, uint32_t mask, uint32_t size, LANES) {    \
        const VECTOR parts[] = {__VA_ARGS__};                                                      \
        struct shapes *const p = w->native_shapes;                                                 \
        const TYPE lead = parts[0][0];                                                             \
        const struct vg_shape *s = p->last[WIDTH];                                                 \
        if (IS_SHAPE(s, KNOWN, WANT, VECTOR, NONE))                                                \
            return (struct native_shape){s, lead};                                                 \
        VECTOR all = parts[0];                                                                     \
        for (size_t k = 1; k < sizeof parts / sizeof *parts; k++)                                  \
            all += parts[k];                                                                       \
        const uint32_t place = recent_place((uint32_t)(SUM(all) - VG_LANES * lead), mask, size);   \
        s = p->recent[WIDTH][place];                                                               \
        if (!(mask & 1) || !IS_SHAPE(s, KNOWN, WANT, VECTOR, NONE))                                \
            return NAME##_search(w, mask, size, place, __VA_ARGS__);                               \
        p->last[WIDTH] = s;                                                                        \
        return (struct native_shape){s, lead};                                                     \
    }
#define NONE_256(V)   _mm256_testz_si256((__m256i)(V), (__m256i)(V))
#define NONE_512(V)   (_mm512_test_epi64_mask((__m512i)(V), (__m512i)(V)) == 0)
#define SUM_64_512(V) (uint64_t) _mm512_reduce_add_epi64((__m512i)(V))
#define SUM_32_512(V) (uint32_t) _mm512_reduce_add_epi32((__m512i)(V))
#define ADDED(ADD, V)                                                                              \
    ADD(_mm256_castsi256_si128((__m256i)(V)), _mm256_extracti128_si256((__m256i)(V), 1))
#define TWICE(OF, V) OF(V, V)
#define SUM_64_256(V)                                                                              \
    (uint64_t) _mm_cvtsi128_si64(_mm_add_epi64(                                                    \
        ADDED(_mm_add_epi64, V), TWICE(_mm_unpackhi_epi64, ADDED(_mm_add_epi64, V))))
#define SUM_32_256(V)                                                                              \
    (uint32_t)                                                                                     \
        _mm_cvtsi128_si32(TWICE(_mm_hadd_epi32, TWICE(_mm_hadd_epi32, ADDED(_mm_add_epi32, V))))
#define TWO(V)   V a, V b
#define FOUR(V)  V a, V b, V c, V d
#define EIGHT(V) V a, V b, V c, V d, V e, V f, V g, V h
#define AVX512   "avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"
#define AVX2     "avx2,fma"
ENTRY(shape_wide_avx512, AVX512, find_64, WIDE, relative, want, lane_64, lanes_8, NONE_512,
      SUM_64_512, FOUR(lanes_8), a, b, c, d)
ENTRY(shape_narrow_avx512, AVX512, find_32, NARROW, relative_32, want_32, lane_32, words_16,
      NONE_512, SUM_32_512, TWO(words_16), a, b)
ENTRY(shape_wide_avx2, AVX2, find_64, WIDE, relative, want, lane_64, lanes_4, NONE_256, SUM_64_256,
      EIGHT(lanes_4), a, b, c, d, e, f, g, h)
ENTRY(shape_narrow_avx2, AVX2, find_32, NARROW, relative_32, want_32, lane_32, words_8, NONE_256,
      SUM_32_256, FOUR(words_8), a, b, c, d)

uintptr_t shapes_entry(bool avx512, bool is_wide)
{
    if (avx512)
        return is_wide ? (uintptr_t)shape_wide_avx512 : (uintptr_t)shape_narrow_avx512;
    return is_wide ? (uintptr_t)shape_wide_avx2 : (uintptr_t)shape_narrow_avx2;
}
