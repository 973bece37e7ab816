/* The list of a client's allocations, sorted by address. */
#include "base/array_room.h"
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>

/* @return the index of the first allocation after an address. */
static size_t allocation_after(const struct session *s, uint64_t address)
{
    size_t lo = 0, hi = s->allocation_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->allocations[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool session_allocation_add(struct session *s, struct allocation a)
{
    if (!ARRAY_ROOM(s->allocations, s->allocation_count))
        return false;
    size_t at = allocation_after(s, a.address);
    memmove(&s->allocations[at + 1], &s->allocations[at],
            (s->allocation_count - at) * sizeof *s->allocations);
    s->allocations[at] = a;
    s->allocation_count++;
    return true;
}

struct allocation *session_allocation_below(struct session *s, uint64_t address)
{
    const size_t after = allocation_after(s, address);
    return after ? &s->allocations[after - 1] : NULL;
}

struct allocation *session_allocation_at(struct session *s, uint64_t address)
{
    struct allocation *a = session_allocation_below(s, address);
    return a && a->address == address ? a : NULL;
}

void session_allocation_remove(struct session *s, struct allocation *a)
{
    free(a->seen);
    s->shared->mapped_bytes -= a->mapped_bytes;
    s->allocation_count--;
    memmove(a, a + 1, (size_t)(s->allocations + s->allocation_count - a) * sizeof *a);
}

bool session_is_host_tensor(struct session *s, uint64_t address)
{
    const struct allocation *a = session_allocation_at(s, address);
    return a && a->is_tensor;
}
