#include "vgpu/native/saved.h"

#include <string.h>

static void settle_32(uint32_t *to, const struct saved_register *r, const char *saved,
                      uint32_t mask)
{
    uint32_t base = 0, none[VG_LANES] = {0};
    const uint32_t *lanes = none;
    if (r->has_base)
        memcpy(&base, saved + r->base, sizeof base);
    if (r->has_lanes)
        lanes = (const uint32_t *)(const void *)(saved + r->lanes);
    for (uint32_t i = 0; i < VG_LANES; i++)
        to[i] = mask >> i & 1 ? base + lanes[i] : to[i];
}

static void settle_64(uint64_t *to, const struct saved_register *r, const char *saved,
                      uint32_t mask)
{
    uint64_t base = 0, none[VG_LANES] = {0};
    const uint64_t *lanes = none;
    if (r->has_base)
        memcpy(&base, saved + r->base, sizeof base);
    if (r->has_lanes)
        lanes = (const uint64_t *)(const void *)(saved + r->lanes);
    for (uint32_t i = 0; i < VG_LANES; i++)
        to[i] = mask >> i & 1 ? base + lanes[i] : to[i];
}

static inline __attribute__((always_inline)) void settle_all(struct vg_warp *w,
                                                             const struct native_saved *as)
{
    for (uint32_t i = 0; i < as->count; i++) {
        const struct saved_register *r = &as->of[i];
        char *const to = w->regs + r->offset;
        if (r->bits == 64) {
            settle_64((uint64_t *)(void *)to, r, w->saved, w->mask);
        } else if (r->bits == 32) {
            settle_32((uint32_t *)(void *)to, r, w->saved, w->mask);
        } else {
            uint32_t bits, old;
            memcpy(&bits, w->saved + r->base, sizeof bits);
            memcpy(&old, to, sizeof old);
            bits = (old & ~w->mask) | (bits & w->mask);
            memcpy(to, &bits, sizeof bits);
        }
    }
}

/* Once for each instruction set. */
__attribute__((target_clones("arch=skylake-avx512", "avx2", "default"), optimize("O3"))) void
saved_settle_as(struct vg_warp *w, const struct native_saved *as)
{
    settle_all(w, as);
}

void saved_settle(struct vg_warp *w)
{
    const struct native_saved *as = w->saved_as;
    w->saved_as = NULL;
    saved_settle_as(w, as);
}
