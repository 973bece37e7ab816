/* The look-up of a pattern with the lanes in vector registers, as native code passes them: 64 bytes wide
 * for AVX-512, 32 for AVX2. */
#include "vgpu/native/patterns.h"

#include <string.h>

typedef uint64_t wide __attribute__((vector_size(64)));
typedef uint64_t narrow __attribute__((vector_size(32)));

/* Addresses of 32 bits wrap: a lane below the first one is less by a few bytes, not more by 4 GiB. */
static struct native_pattern find_32(struct vg_worker *w, uint32_t mask, uint32_t size,
                                     const uint32_t values[32])
{
    const uint32_t lead = values[__builtin_ctz(mask)];
    uint64_t far[VG_LANES] __attribute__((aligned(64)));
    for (int i = 0; i < VG_LANES; i++)
        far[i] = (uint64_t)(int64_t)(int32_t)(values[i] - lead);
    struct native_pattern p = patterns_find(w->device->handlers, w, mask, size, far);
    p.lead = lead;
    return p;
}

static struct native_pattern find_64(struct vg_worker *w, uint32_t mask, uint32_t size,
                                     const uint64_t values[32])
{
    return patterns_find(w->device->handlers, w, mask, size, values);
}

#define ENTRY(NAME, TARGET, FIND, TYPE, VECTOR, PARAMETERS, ...)                                   \
    static __attribute__((target(TARGET))) struct native_pattern NAME(                             \
        struct vg_worker *w, uint32_t mask, uint32_t size, PARAMETERS)                             \
    {                                                                                              \
        const VECTOR parts[] = {__VA_ARGS__};                                                      \
        return FIND(w, mask, size, (const TYPE *)(const void *)parts);                             \
    }
#define TWO(V)   V a, V b
#define FOUR(V)  V a, V b, V c, V d
#define EIGHT(V) V a, V b, V c, V d, V e, V f, V g, V h
#define AVX512   "avx512f"
#define AVX2     "avx2"
ENTRY(pattern_wide_avx512, AVX512, find_64, uint64_t, wide, FOUR(wide), a, b, c, d)
ENTRY(pattern_narrow_avx512, AVX512, find_32, uint32_t, wide, TWO(wide), a, b)
ENTRY(pattern_wide_avx2, AVX2, find_64, uint64_t, narrow, EIGHT(narrow), a, b, c, d, e, f, g, h)
ENTRY(pattern_narrow_avx2, AVX2, find_32, uint32_t, narrow, FOUR(narrow), a, b, c, d)

uintptr_t patterns_entry(bool avx512, bool is_wide)
{
    if (avx512)
        return is_wide ? (uintptr_t)pattern_wide_avx512 : (uintptr_t)pattern_narrow_avx512;
    return is_wide ? (uintptr_t)pattern_wide_avx2 : (uintptr_t)pattern_narrow_avx2;
}
