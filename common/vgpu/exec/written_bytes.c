/* Which bytes of global memory a launch changed: its memory is copied before, and compared after. A
 * byte that gets the value that it had is not noticed. Allocations that the launch also changed by
 * atomics do not count: kernels in several streams may add to the same words. */
#include "vgpu/exec/vg_device.h"

#include <stdlib.h>
#include <string.h>

/* The changed bytes of an allocation. */
struct vg_written {
    struct vg_written *next;
    uint64_t address;
    size_t bytes;
    uint32_t number;   /* of the allocation: another one may get the address */
    uint8_t changed[]; /* a bit per byte */
};

static bool is_kept(const struct vg_allocation *a)
{
    return a->live && !a->shared && !a->exported && !a->range && a->bytes;
}

uint64_t vg_contents_keep(struct vg_device *d, uint64_t most)
{
    struct vg_memory *m = &d->memory;
    uint64_t sum = 0;
    vg_contents_drop(d);
    if (m->used_bytes > most || !(d->kept = malloc(m->used_bytes + 1)))
        return 0;
    for (size_t i = 0; i < m->count; i++)
        if (is_kept(&m->list[i]) && sum + m->list[i].bytes <= m->used_bytes) {
            memcpy(d->kept + sum, vg_memory_host(m, m->list[i].address), m->list[i].bytes);
            sum += m->list[i].bytes;
        }
    return sum;
}

void vg_contents_drop(struct vg_device *d)
{
    free(d->kept);
    d->kept = NULL;
}

static struct vg_written *compare(const struct vg_allocation *a, const char *now,
                                  const char *before)
{
    struct vg_written *w = calloc(1, sizeof *w + a->bytes / 8 + 1);
    if (!w)
        return NULL;
    w->address = a->address;
    w->bytes = a->bytes;
    w->number = a->number;
    for (size_t i = 0; i < a->bytes; i++)
        w->changed[i / 8] |= (uint8_t)((now[i] != before[i]) << i % 8);
    return w;
}

struct vg_written *vg_written_find(struct vg_device *d)
{
    struct vg_memory *m = &d->memory;
    struct vg_written *first = NULL;
    uint64_t sum = 0;
    for (size_t i = 0; d->kept && i < m->count; i++) {
        const struct vg_allocation *a = &m->list[i];
        if (!is_kept(a) || sum + a->bytes > m->used_bytes)
            continue;
        if (a->stored_by == d->launches && a->changed_by != d->launches) {
            struct vg_written *w = compare(a, vg_memory_host(m, a->address), d->kept + sum);
            if (w) {
                w->next = first;
                first = w;
            }
        }
        sum += a->bytes;
    }
    return first;
}

bool vg_written_contains(const struct vg_written *w, uint64_t address)
{
    while (w && address - w->address >= w->bytes)
        w = w->next;
    const uint64_t at = w ? address - w->address : 0;
    return w && w->changed[at / 8] >> at % 8 & 1;
}

bool vg_written_within(const struct vg_device *d, const struct vg_written *w, uint64_t address,
                       uint64_t bytes)
{
    while (w && address - w->address >= w->bytes)
        w = w->next;
    const struct vg_allocation *a = w ? vg_memory_below(&d->memory, address) : NULL;
    if (!a || a->number != w->number)
        return false;
    const uint64_t first = address - w->address;
    for (uint64_t i = first; i < w->bytes && i - first < bytes; i++)
        if (w->changed[i / 8] >> i % 8 & 1)
            return true;
    return false;
}

bool vg_written_twice(const struct vg_written *w, const struct vg_written *other, uint64_t *address)
{
    for (; w; w = w->next)
        for (const struct vg_written *o = other; o; o = o->next) {
            if (o->address != w->address || o->number != w->number)
                continue;
            for (size_t i = 0; i < w->bytes && i < o->bytes; i++)
                if (w->changed[i / 8] & o->changed[i / 8] & 1 << i % 8) {
                    *address = w->address + i;
                    return true;
                }
        }
    return false;
}

/* A word counts as written if one of its bytes was changed. A few may have had the new value. */
static bool is_replaced(const struct vg_written *w)
{
    enum { SAME_MOST = 100 }; /* one in 100 */
    size_t kept = 0;
    for (size_t i = 0; i < w->bytes / 4; i++)
        kept += !(w->changed[i / 2] >> i % 2 * 4 & 0xf);
    return w->bytes >= 4 && kept <= w->bytes / 4 / SAME_MOST;
}

bool vg_written_over(const struct vg_device *d, const struct vg_written *w, uint64_t launch,
                     uint64_t *address)
{
    for (; w; w = w->next) {
        const struct vg_allocation *a = vg_memory_below(&d->memory, w->address);
        if (a && a->loaded_by == launch && is_replaced(w)) {
            *address = w->address;
            return true;
        }
    }
    return false;
}

void vg_written_hide(struct vg_device *d, const struct vg_written *w)
{
    for (; w; w = w->next) {
        uint8_t *shadow = vg_memory_tracked(d, w->address, w->bytes);
        for (size_t i = 0; shadow && i <= w->bytes / 8; i++)
            shadow[i] &= (uint8_t)~w->changed[i];
    }
}

void vg_written_show(struct vg_device *d, const struct vg_written *w)
{
    for (; w; w = w->next) {
        uint8_t *shadow = vg_memory_tracked(d, w->address, w->bytes);
        for (size_t i = 0; shadow && i <= w->bytes / 8; i++)
            shadow[i] |= w->changed[i];
    }
}

void vg_written_free(struct vg_written *w)
{
    while (w) {
        struct vg_written *next = w->next;
        free(w);
        w = next;
    }
}
