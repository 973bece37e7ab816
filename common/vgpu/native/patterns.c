#include "vgpu/native/patterns.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 512, PLACES = 1024 };

/* Of a worker. Not thrown away before a third is free when code begins: code that needs more than that
 * at once gets shapes that are good for nothing. */
struct patterns {
    uint32_t count;
    uint16_t at[PLACES]; /* 1 + index, 0: free */
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

static bool is_same(const struct vg_shape *s, const uint64_t *relative, uint32_t mask, uint32_t size)
{
    if (s->mask != mask || s->size != size)
        return false;
    uint64_t odd = 0;
    for (int i = 0; i < VG_LANES; i++)
        odd |= s->relative[i] ^ relative[i];
    return odd == 0;
}

static uint32_t place_of(const uint64_t *relative, uint32_t mask, uint32_t size)
{
    uint64_t h = mask * UINT64_C(0x9e3779b97f4a7c15) + size;
    for (int i = 0; i < VG_LANES; i++)
        h += relative[i] * (UINT64_C(0xd1342543de82ef95) + 2 * (uint64_t)i * UINT64_C(0x632be59bd9b4e019));
    return (uint32_t)(h >> 40) % PLACES;
}

struct native_pattern patterns_find(const struct vg_handlers *handlers, struct vg_worker *worker,
                                    uint32_t mask, uint32_t size, const uint64_t values[32])
{
    struct patterns *const p = patterns_of(worker);
    const uint64_t lead = values[__builtin_ctz(mask)];
    uint64_t relative[VG_LANES] __attribute__((aligned(64)));
    for (int i = 0; i < VG_LANES; i++)
        relative[i] = mask >> i & 1 ? values[i] - lead : 0;
    uint32_t place = place_of(relative, mask, size);
    for (; p->at[place]; place = (place + 1) % PLACES) {
        struct vg_shape *s = &p->of[p->at[place] - 1];
        if (is_same(s, relative, mask, size))
            return (struct native_pattern){s, lead};
    }
    if (p->count == PATTERNS)
        return (struct native_pattern){&p->useless, lead};
    struct vg_shape *s = &p->of[p->count++];
    handlers->learn(s, relative, mask, size);
    p->at[place] = (uint16_t)p->count;
    return (struct native_pattern){s, lead};
}
