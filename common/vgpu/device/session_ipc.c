/* Memory and events of a client that other clients use. All clients' devices are in this process,
 * so shared memory is mapped into both devices. A handle is two random words, so a client can only
 * use a handle that it was given. Clients have separate clocks: another client's event orders work,
 * because the device executes requests one by one, but does not change the clock. A grading has
 * only one client, so sharing is refused. */
#include "base/array_room.h"
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define EVENT_NO_TIMING    2u /* cudaEventDisableTiming */
#define EVENT_INTERPROCESS 4u /* cudaEventInterprocess */

struct ipc_export {
    uint64_t key[2];
    const struct session *owner;
    struct vg_exported memory; /* 0 bytes: an event */
    uint64_t event;
};

static struct ipc_export *export_find(const struct session *s, const uint64_t key[2])
{
    for (size_t i = 0; i < s->shared->export_count; i++) {
        struct ipc_export *e = &s->shared->exports[i];
        if (e->key[0] == key[0] && e->key[1] == key[1])
            return e;
    }
    return NULL;
}

static struct ipc_export *export_of(const struct session *s, uint64_t address, uint64_t event)
{
    for (size_t i = 0; i < s->shared->export_count; i++) {
        struct ipc_export *e = &s->shared->exports[i];
        if (e->owner == s && e->event == event && address >= e->memory.address &&
            (event || address - e->memory.address < e->memory.bytes))
            return e;
    }
    return NULL;
}

static int export_add(struct session *s, struct exchange *x, struct ipc_export e)
{
    struct session_shared *shared = s->shared;
    if (getrandom(e.key, sizeof e.key, 0) != sizeof e.key ||
        !ARRAY_ROOM(shared->exports, shared->export_count)) {
        if (e.memory.bytes)
            close(e.memory.fd);
        return VP_OUT_OF_MEMORY;
    }
    e.key[0] |= 1; /* never 0 */
    shared->exports[shared->export_count++] = e;
    x->reply.r[0] = e.key[0];
    x->reply.r[1] = e.key[1];
    return VP_OK;
}

void session_exports_end(struct session *s, uint64_t address)
{
    struct session_shared *shared = s->shared;
    for (size_t i = shared->export_count; i-- > 0;) {
        struct ipc_export *e = &shared->exports[i];
        if (e->owner != s || (address && (e->memory.address != address || !e->memory.bytes)))
            continue;
        if (e->memory.bytes)
            close(e->memory.fd);
        *e = shared->exports[--shared->export_count];
    }
}

static int get_memory(struct session *s, struct exchange *x, uint64_t address)
{
    struct st_error err;
    struct ipc_export e = {.owner = s};
    const struct ipc_export *before = export_of(s, address, 0);
    if (before) {
        x->reply.r[0] = before->key[0];
        x->reply.r[1] = before->key[1];
        return VP_OK;
    }
    enum st_code code = vg_memory_export(s->device, address, &e.memory, &err);
    if (code)
        return code == ST_NOT_FOUND ? VP_INVALID_VALUE
                                    : session_error(s, code, &err, x->request.api);
    return export_add(s, x, e);
}

static struct allocation *imported_before(struct session *s, uint64_t key)
{
    for (size_t i = 0; i < s->allocation_count; i++)
        if (s->allocations[i].imported == key)
            return &s->allocations[i];
    return NULL;
}

static int open_memory(struct session *s, struct exchange *x, const uint64_t key[2])
{
    struct st_error err;
    const struct ipc_export *e = export_find(s, key);
    if (!e || !e->memory.bytes)
        return VP_INVALID_HANDLE;
    if (e->owner == s) /* as on hardware */
        return VP_INVALID_CONTEXT;
    struct allocation *before = imported_before(s, key[0]);
    if (before) {
        before->opened++;
        x->reply.r[0] = before->address;
        return VP_OK;
    }
    struct allocation a = {
        .bytes = e->memory.bytes, .kind = VP_MEMORY_DEVICE, .imported = key[0], .opened = 1};
    enum st_code code = vg_memory_import(s->device, &e->memory, &a.address, &err);
    if (code)
        return session_error(s, code, &err, x->request.api);
    if (!session_allocation_add(s, a)) {
        vg_memory_free(s->device, a.address, &err);
        return VP_OUT_OF_MEMORY;
    }
    x->reply.r[0] = a.address;
    return VP_OK;
}

static int close_memory(struct session *s, uint64_t address)
{
    struct st_error err;
    struct allocation *a = session_allocation_at(s, address);
    if (!a || !a->imported)
        return VP_INVALID_VALUE;
    if (--a->opened)
        return VP_OK;
    vg_memory_free(s->device, address, &err);
    session_allocation_remove(s, a);
    return VP_OK;
}

static int get_event(struct session *s, struct exchange *x, uint64_t number)
{
    const struct event *event = handles_get(&s->events, number);
    if (!event)
        return VP_INVALID_HANDLE;
    if (!(event->flags & EVENT_INTERPROCESS))
        return VP_INVALID_VALUE;
    const struct ipc_export *before = export_of(s, 0, number);
    if (!before)
        return export_add(s, x, (struct ipc_export){.owner = s, .event = number});
    x->reply.r[0] = before->key[0];
    x->reply.r[1] = before->key[1];
    return VP_OK;
}

static int open_event(struct session *s, struct exchange *x, const uint64_t key[2])
{
    const struct ipc_export *e = export_find(s, key);
    if (!e || !e->event)
        return VP_INVALID_HANDLE;
    if (e->owner == s)
        return VP_INVALID_CONTEXT;
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return VP_OUT_OF_MEMORY;
    event->flags = EVENT_NO_TIMING; /* such an event cannot be exported again */
    x->reply.r[0] = handles_add(&s->events, event);
    if (x->reply.r[0])
        return VP_OK;
    free(event);
    return VP_OUT_OF_MEMORY;
}

SESSION_OP(IPC)
{
    const uint64_t *a = x->request.a;
    if (s->shared->owned)
        return VP_NOT_SUPPORTED;
    switch ((enum vp_ipc)a[0]) {
    case VP_IPC_GET:
        return get_memory(s, x, a[1]);
    case VP_IPC_OPEN:
        return open_memory(s, x, a + 1);
    case VP_IPC_CLOSE:
        return close_memory(s, a[1]);
    case VP_IPC_GET_EVENT:
        return get_event(s, x, a[1]);
    case VP_IPC_OPEN_EVENT:
        return open_event(s, x, a + 1);
    default:
        return VP_INVALID_VALUE;
    }
}
