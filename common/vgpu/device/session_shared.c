/* The table of a client's work: copies, fills, and changes of memory that the client shares with the
 * device. */
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

void session_copy_record(struct session *s, const char *kind, uint64_t to, uint64_t from,
                         double bytes)
{
    char place[2][128] = {"", ""};
    if (!record_wants_work(s->shared->record) || bytes == 0)
        return;
    vg_address_name(s->device, to, place[0], sizeof place[0]);
    vg_address_name(s->device, from, place[1], sizeof place[1]);
    record_work_copy(s->shared->record, kind, place[0], place[1], bytes);
}

/* @return how many bytes of an allocation are in pages changed since the last check. */
static size_t changed_bytes(struct session *s, struct allocation *a)
{
    static const unsigned char zeros[PAGE_BYTES];
    size_t changed = 0;
    for (size_t at = 0; at < a->bytes; at += PAGE_BYTES) {
        unsigned char now[PAGE_BYTES];
        struct st_error err;
        const size_t bytes = a->bytes - at < PAGE_BYTES ? a->bytes - at : PAGE_BYTES;
        if (vg_memory_read(s->device, now, a->address + at, bytes, &err) ||
            memcmp(now, a->seen ? a->seen + at : zeros, bytes) == 0)
            continue;
        changed += bytes;
        if (!a->seen)
            a->seen = calloc(1, a->bytes);
        if (a->seen)
            memcpy(a->seen + at, now, bytes);
    }
    return changed;
}

void session_shared_look(struct session *s, bool by_client)
{
    for (size_t i = 0; record_wants_work(s->shared->record) && i < s->allocation_count; i++) {
        struct allocation *a = &s->allocations[i];
        const size_t changed = a->mapped_bytes && !a->is_tensor ? changed_bytes(s, a) : 0;
        if (by_client)
            session_copy_record(s, "copy_shared", a->address, 0, (double)changed);
    }
}
