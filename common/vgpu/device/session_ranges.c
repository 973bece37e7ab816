/* Memory without an address, and reserved ranges of addresses into which a client maps it (virtual
 * memory management in the driver API). Memory is a file, so it may be mapped several times, and
 * clients may share it: the key of a descriptor that the client exports names the memory. A memory
 * lives as long as a handle or a mapping refers to it. A grading has only one client and no need for
 * this, so all is refused there. Errors are those of an H200. */
#include "base/array_room.h"
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* Memory, which handles of several clients may name. */
struct memory {
    int fd;
    size_t bytes;
    unsigned users;  /* handles */
    uint64_t key[2]; /* of its exports; 0: never exported */
    bool is_written; /* it was mapped before, or others may write to it: it counts as initialised */
    uint64_t properties; /* enum vp_memory_property */
};

/* A client's handle of memory. */
struct memory_handle {
    struct memory *memory;
    unsigned references; /* of the client: cuMemCreate(), cuMemRetainAllocationHandle(), ... */
    unsigned mappings;
};

struct mapping {
    uint64_t offset, handle;
    size_t bytes;
    enum vg_rights rights;
};

struct range {
    uint64_t address;
    size_t bytes;
    struct mapping *mappings; /* sorted by offset */
    size_t count;
};

/* ---- handles --------------------------------------------------------------------------------- */

static void memory_free(struct session *s, struct memory *m)
{
    if (--m->users)
        return;
    for (size_t i = 0; i < s->shared->memory_count; i++)
        if (s->shared->memories[i] == m)
            s->shared->memories[i--] = s->shared->memories[--s->shared->memory_count];
    close(m->fd);
    free(m);
}

/* Forgets a handle that nothing uses. */
static void handle_settle(struct session *s, uint64_t number)
{
    struct memory_handle *h = handles_get(&s->memories, number);
    if (!h || h->references || h->mappings)
        return;
    handles_remove(&s->memories, number);
    vg_memory_discharge(s->device, h->memory->bytes);
    memory_free(s, h->memory);
    free(h);
}

/* Gives the client a handle of memory, which then has one more user. */
static int handle_give(struct session *s, struct exchange *x, struct memory *m)
{
    struct memory_handle *h = calloc(1, sizeof *h);
    if (!h || !vg_memory_charge(s->device, m->bytes)) {
        free(h);
        return VP_OUT_OF_MEMORY;
    }
    *h = (struct memory_handle){.memory = m, .references = 1};
    x->reply.r[0] = handles_add(&s->memories, h);
    if (!x->reply.r[0]) {
        vg_memory_discharge(s->device, m->bytes);
        free(h);
        return VP_OUT_OF_MEMORY;
    }
    m->users++;
    return VP_OK;
}

static int create(struct session *s, struct exchange *x, size_t bytes, uint64_t properties)
{
    if (!bytes || bytes % VG_RANGE_UNIT)
        return VP_INVALID_VALUE;
    struct memory *m = calloc(1, sizeof *m);
    if (!m || !ARRAY_ROOM(s->shared->memories, s->shared->memory_count)) {
        free(m);
        return VP_OUT_OF_MEMORY;
    }
    *m = (struct memory){
        .fd = memfd_create("vgpu-memory", MFD_CLOEXEC), .bytes = bytes, .properties = properties};
    int error =
        m->fd < 0 || ftruncate(m->fd, (off_t)bytes) ? VP_OUT_OF_MEMORY : handle_give(s, x, m);
    if (error) {
        if (m->fd >= 0)
            close(m->fd);
        free(m);
        return error;
    }
    s->shared->memories[s->shared->memory_count++] = m;
    return VP_OK;
}

static int release(struct session *s, uint64_t number)
{
    struct memory_handle *h = handles_get(&s->memories, number);
    if (!h || !h->references)
        return VP_INVALID_VALUE;
    h->references--;
    handle_settle(s, number);
    return VP_OK;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static struct range *range_around(const struct session *s, uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < s->range_count; i++) {
        struct range *r = &s->ranges[i];
        const uint64_t offset = address - r->address;
        if (offset < r->bytes && bytes <= r->bytes - offset)
            return r;
    }
    return NULL;
}

/* Makes the device show the range's mappings. */
static int range_show(struct session *s, const struct range *r, const char *api)
{
    struct st_error err;
    struct vg_piece *piece = malloc((r->count + 1) * sizeof *piece);
    if (!piece)
        return VP_OUT_OF_MEMORY;
    for (size_t i = 0; i < r->count; i++)
        piece[i] =
            (struct vg_piece){r->mappings[i].offset, r->mappings[i].bytes, r->mappings[i].rights};
    enum st_code code = vg_range_show(s->device, r->address, piece, r->count, &err);
    free(piece);
    return code ? session_error(s, code, &err, api) : VP_OK;
}

static int reserve(struct session *s, struct exchange *x, size_t bytes, size_t alignment)
{
    struct st_error err;
    struct range r = {.bytes = bytes};
    if (!bytes || bytes % VG_RANGE_UNIT || alignment & (alignment - 1))
        return VP_INVALID_VALUE;
    if (!ARRAY_ROOM(s->ranges, s->range_count))
        return VP_OUT_OF_MEMORY;
    enum st_code code = vg_range_reserve(s->device, bytes, alignment, &r.address, &err);
    if (code)
        return session_error(s, code, &err, x->request.api);
    s->ranges[s->range_count++] = r;
    x->reply.r[0] = r.address;
    return VP_OK;
}

static int range_free(struct session *s, uint64_t address, size_t bytes)
{
    struct range *r = range_around(s, address, bytes);
    if (!r || r->address != address || r->bytes != bytes || r->count)
        return VP_INVALID_VALUE;
    vg_range_free(s->device, address);
    free(r->mappings);
    *r = s->ranges[--s->range_count];
    return VP_OK;
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* @return the index of the first mapping that ends after an offset. */
static size_t mapping_after(const struct range *r, uint64_t offset)
{
    size_t i = 0;
    while (i < r->count && r->mappings[i].offset + r->mappings[i].bytes <= offset)
        i++;
    return i;
}

static const struct mapping *mapping_at(const struct session *s, uint64_t address,
                                        const struct range **range)
{
    const struct range *r = *range = range_around(s, address, 1);
    const size_t i = r ? mapping_after(r, address - r->address) : 0;
    return r && i < r->count && r->mappings[i].offset <= address - r->address ? &r->mappings[i]
                                                                              : NULL;
}

/* Marks the memory as initialised wherever this client has mapped it. */
static void mark_all(struct session *s, struct memory *m)
{
    m->is_written = true;
    for (size_t i = 0; i < s->range_count; i++)
        for (size_t k = 0; k < s->ranges[i].count; k++) {
            const struct mapping *p = &s->ranges[i].mappings[k];
            const struct memory_handle *h = handles_get(&s->memories, p->handle);
            if (h && h->memory == m)
                vg_range_mark(s->device, s->ranges[i].address + p->offset, p->bytes);
        }
}

static int map(struct session *s, struct exchange *x, uint64_t address, size_t bytes, size_t offset,
               uint64_t number)
{
    struct st_error err;
    struct range *r = range_around(s, address, bytes);
    struct memory_handle *h = handles_get(&s->memories, number);
    if (!r || !h || !bytes || (address | bytes) % VG_RANGE_UNIT)
        return VP_INVALID_VALUE;
    if (offset || bytes != h->memory->bytes)
        return VP_NOT_SUPPORTED;
    const struct mapping new = {address - r->address, number, bytes, VG_NO_ACCESS};
    const size_t at = mapping_after(r, new.offset);
    if (at < r->count && r->mappings[at].offset < new.offset + bytes)
        return VP_INVALID_VALUE; /* occupied */
    if (!ARRAY_ROOM(r->mappings, r->count))
        return VP_OUT_OF_MEMORY;
    if (h->mappings)
        mark_all(s, h->memory);
    enum st_code code =
        vg_range_map(s->device, address, bytes, h->memory->fd, h->memory->is_written, &err);
    if (code)
        return session_error(s, code, &err, x->request.api);
    h->memory->is_written = true; /* for its next mapping */
    h->mappings++;
    memmove(&r->mappings[at + 1], &r->mappings[at], (r->count - at) * sizeof new);
    r->mappings[at] = new;
    r->count++;
    return range_show(s, r, x->request.api);
}

/* @return whether an area contains only whole mappings, from @p first to before @p end. */
static bool whole_mappings(const struct range *r, uint64_t offset, size_t bytes, size_t *first,
                           size_t *end)
{
    *first = mapping_after(r, offset);
    for (*end = *first; *end < r->count && r->mappings[*end].offset < offset + bytes; ++*end)
        if (r->mappings[*end].offset < offset ||
            r->mappings[*end].offset + r->mappings[*end].bytes > offset + bytes)
            return false;
    return true;
}

static int unmap(struct session *s, struct exchange *x, uint64_t address, size_t bytes)
{
    struct range *r = range_around(s, address, bytes);
    size_t first, end;
    if (!r || !bytes || (address | bytes) % VG_RANGE_UNIT ||
        !whole_mappings(r, address - r->address, bytes, &first, &end))
        return VP_INVALID_VALUE;
    for (size_t i = first; i < end; i++) {
        const struct mapping *p = &r->mappings[i];
        struct memory_handle *h = handles_get(&s->memories, p->handle);
        vg_range_unmap(s->device, r->address + p->offset, p->bytes);
        h->mappings--;
        handle_settle(s, p->handle);
    }
    memmove(&r->mappings[first], &r->mappings[end], (r->count - end) * sizeof *r->mappings);
    r->count -= end - first;
    timeline_host_until(&s->time, s->time.all_end_ns);
    timeline_learn(&s->time, TL_ALL);
    return range_show(s, r, x->request.api);
}

static int set_rights(struct session *s, struct exchange *x, uint64_t address, size_t bytes,
                      uint64_t rights)
{
    struct range *r = range_around(s, address, bytes);
    size_t first, end, mapped = 0;
    if (!r || !bytes || rights < VG_NO_ACCESS || rights > VG_READ_WRITE ||
        !whole_mappings(r, address - r->address, bytes, &first, &end))
        return VP_INVALID_VALUE;
    for (size_t i = first; i < end; i++)
        mapped += r->mappings[i].bytes;
    if (mapped != bytes)
        return VP_INVALID_VALUE;
    for (size_t i = first; i < end; i++)
        r->mappings[i].rights = (enum vg_rights)rights;
    return range_show(s, r, x->request.api);
}

/* ---- facts about an address or handle ---------------------------------------------------------- */

static int look(struct session *s, struct exchange *x, uint64_t address, bool retain)
{
    const struct range *r;
    const struct mapping *p = mapping_at(s, address, &r);
    if (!p)
        return VP_INVALID_VALUE;
    x->reply.r[0] = p->handle;
    x->reply.r[1] = p->rights;
    x->reply.r[2] = r->address + p->offset;
    x->reply.r[3] = p->bytes;
    if (retain)
        ((struct memory_handle *)handles_get(&s->memories, p->handle))->references++;
    return VP_OK;
}

int session_ranges_pointer(struct session *s, struct exchange *x)
{
    const struct range *r;
    const struct mapping *p = mapping_at(s, x->request.a[0], &r);
    if (p) {
        x->reply.r[0] = VP_MEMORY_DEVICE;
        x->reply.r[1] = r->address + p->offset;
        x->reply.r[2] = p->bytes;
    }
    return VP_OK;
}

static int properties(struct session *s, struct exchange *x, uint64_t number)
{
    const struct memory_handle *h = handles_get(&s->memories, number);
    if (!h)
        return VP_INVALID_VALUE;
    x->reply.r[0] = h->memory->bytes;
    x->reply.r[1] = h->memory->properties;
    return VP_OK;
}

/* ---- other clients ----------------------------------------------------------------------------- */

static int export(struct session *s, struct exchange *x, uint64_t number)
{
    const struct memory_handle *h = handles_get(&s->memories, number);
    if (!h || !(h->memory->properties & VP_MAY_EXPORT))
        return VP_INVALID_VALUE;
    uint64_t *key = h->memory->key;
    if (!key[0] && getrandom(key, sizeof h->memory->key, 0) != sizeof h->memory->key)
        return VP_OUT_OF_MEMORY;
    key[0] |= 1; /* never 0 */
    mark_all(s, h->memory);
    for (size_t i = 0; i < s->range_count; i++) {
        const int error = range_show(s, &s->ranges[i], x->request.api);
        if (error)
            return error;
    }
    x->reply.r[0] = key[0];
    x->reply.r[1] = key[1];
    return VP_OK;
}

static int import(struct session *s, struct exchange *x, const uint64_t key[2])
{
    for (size_t i = 0; i < s->shared->memory_count; i++) {
        struct memory *m = s->shared->memories[i];
        if (key[0] && m->key[0] == key[0] && m->key[1] == key[1])
            return handle_give(s, x, m);
    }
    return VP_INVALID_VALUE;
}

/* ---- a client's end ---------------------------------------------------------------------------- */

size_t session_ranges_bytes(const struct session *s)
{
    size_t bytes = 0;
    for (size_t i = 0; i < s->memories.n; i++) {
        const struct memory_handle *h = s->memories.objects[i];
        bytes += h ? h->memory->bytes : 0;
    }
    return bytes;
}

size_t session_ranges_leaks(struct session *s, size_t most)
{
    size_t leaks = 0;
    for (size_t i = 0; i < s->range_count; i++) {
        const struct range *r = &s->ranges[i];
        if (leaks++ < most)
            say("    range of %zu bytes at 0x%llx: %scuMemAddressFree() is missing", r->bytes,
                (unsigned long long)r->address, r->count ? "cuMemUnmap() or " : "");
    }
    for (size_t i = 0; i < s->memories.n; i++) {
        const struct memory_handle *h = s->memories.objects[i];
        if (h && h->references && leaks++ < most)
            say("    handle 0x%llx of %zu bytes of memory: cuMemRelease() is missing",
                (unsigned long long)(s->memories.base + i), h->memory->bytes);
    }
    return leaks;
}

void session_ranges_end(struct session *s)
{
    for (size_t i = 0; i < s->range_count; i++)
        free(s->ranges[i].mappings);
    free(s->ranges);
    s->ranges = NULL;
    s->range_count = 0;
    for (size_t i = 0; i < s->memories.n; i++) {
        struct memory_handle *h = s->memories.objects[i];
        if (h)
            memory_free(s, h->memory);
    }
    handles_clear(&s->memories, free);
}

SESSION_OP(RANGE)
{
    const uint64_t *a = x->request.a;
    if (s->shared->owned)
        return VP_NOT_SUPPORTED;
    switch ((enum vp_range)a[0]) {
    case VP_RANGE_RESERVE:
        return reserve(s, x, a[1], a[2]);
    case VP_RANGE_FREE:
        return range_free(s, a[1], a[2]);
    case VP_RANGE_CREATE:
        return create(s, x, a[1], a[2]);
    case VP_RANGE_RELEASE:
        return release(s, a[1]);
    case VP_RANGE_MAP:
        return map(s, x, a[1], a[2], a[3], a[4]);
    case VP_RANGE_UNMAP:
        return unmap(s, x, a[1], a[2]);
    case VP_RANGE_RIGHTS:
        return set_rights(s, x, a[1], a[2], a[3]);
    case VP_RANGE_LOOK:
        return look(s, x, a[1], a[2] != 0);
    case VP_RANGE_PROPERTIES:
        return properties(s, x, a[1]);
    case VP_RANGE_EXPORT:
        return export(s, x, a[1]);
    case VP_RANGE_IMPORT:
        return import(s, x, a + 1);
    default:
        return VP_INVALID_VALUE;
    }
}
