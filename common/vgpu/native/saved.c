#include "vgpu/native/saved.h"

#include "base/clones.h"
#include "vgpu/exec/vg_warp.h"

#include <string.h>

/* The copies in variables let the compiler make vector loops: `to` could be the memory of r. */
#define SETTLE(BITS, VALUE)                                                                        \
    static inline __attribute__((always_inline)) void settle_##BITS(                               \
        uint##BITS##_t *restrict to, const struct saved_register *r, const char *saved,            \
        uint32_t mask)                                                                             \
    {                                                                                              \
        static const uint##BITS##_t none[VG_LANES];                                                \
        const uint##BITS##_t *const lanes =                                                        \
            r->has_lanes ? (const uint##BITS##_t *)(const void *)(saved + r->lanes) : none;        \
        const uint32_t least_nan = r->any_nan ? 0x7f800001 : UINT32_MAX;                           \
        uint##BITS##_t base = 0;                                                                   \
        if (r->has_base)                                                                           \
            memcpy(&base, saved + r->base, sizeof base);                                           \
        for (uint32_t i = 0; i < VG_LANES; i++) {                                                  \
            const uint##BITS##_t v = base + lanes[i];                                              \
            to[i] = mask >> i & 1 ? VALUE : to[i];                                                 \
        }                                                                                          \
        (void)least_nan;                                                                           \
    }
SETTLE(32, (v & 0x7fffffff) >= least_nan ? 0x7fffffff : v)
SETTLE(64, v)

static inline __attribute__((always_inline)) void
settle_all(struct vg_warp *w, const struct native_saved *as, const char *room)
{
    for (uint32_t i = 0; i < as->count; i++) {
        const struct saved_register *r = &as->of[i];
        char *const to = w->regs + r->offset;
        if (r->bits == 64) {
            settle_64((uint64_t *)(void *)to, r, room, w->mask);
        } else if (r->bits == 32) {
            settle_32((uint32_t *)(void *)to, r, room, w->mask);
        } else {
            uint32_t bits, old;
            memcpy(&bits, room + r->base, sizeof bits);
            memcpy(&old, to, sizeof old);
            bits = (old & ~w->mask) | (bits & w->mask);
            memcpy(to, &bits, sizeof bits);
        }
    }
}

EACH_TARGET VECTOR_LOOPS void saved_settle_as(struct vg_warp *w, const struct native_saved *as,
                                              const char *room)
{
    settle_all(w, as, room);
}

void saved_settle(struct vg_warp *w)
{
    const struct native_saved *as = w->saved_as;
    w->saved_as = NULL;
    if (as)
        saved_settle_as(w, as, w->saved);
}

/* ---- entering -------------------------------------------------------------------------------- */

#define ENTER(BITS)                                                                                \
    static inline __attribute__((always_inline)) uint##BITS##_t enter_##BITS(                      \
        const struct saved_register *r, const uint##BITS##_t *from, char *room, uint32_t mask)     \
    {                                                                                              \
        const uint##BITS##_t base = r->has_base ? from[__builtin_ctz(mask)] : 0;                   \
        uint##BITS##_t odd = 0;                                                                    \
        if (r->has_base)                                                                           \
            memcpy(room + r->base, &base, sizeof base);                                            \
        if (r->has_lanes) {                                                                        \
            uint##BITS##_t *to = (uint##BITS##_t *)(void *)(room + r->lanes);                      \
            for (uint32_t i = 0; i < VG_LANES; i++)                                                \
                to[i] = from[i] - base;                                                            \
            return 0;                                                                              \
        }                                                                                          \
        for (uint32_t i = 0; i < VG_LANES; i++)                                                    \
            odd |= mask >> i & 1 ? from[i] ^ base : 0;                                             \
        return odd;                                                                                \
    }
ENTER(32)
ENTER(64)

static inline bool enter_predicate(const struct saved_register *r, const void *from, char *room,
                                   uint32_t mask)
{
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    const bool odd = r->uniform && (bits & mask) && (bits & mask) != mask;
    if (r->uniform)
        bits = bits & mask ? ~0u : 0;
    memcpy(room + r->base, &bits, sizeof bits);
    return odd;
}

EACH_TARGET VECTOR_LOOPS bool saved_enter(struct vg_warp *w, const struct native_saved *as,
                                          char *room)
{
    for (uint32_t i = 0; i < as->count; i++) {
        const struct saved_register *r = &as->of[i];
        const void *from = w->regs + r->offset;
        const bool odd = r->bits == 64   ? enter_64(r, from, room, w->mask) != 0
                         : r->bits == 32 ? enter_32(r, from, room, w->mask) != 0
                                         : enter_predicate(r, from, room, w->mask);
        if (odd)
            return false;
    }
    return true;
}
