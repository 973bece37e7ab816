/* Copies of rows, and copies that arrive as late as their streams permit.
 *
 * An asynchronous copy of page-locked memory ends when work that waits for it begins. If the copy
 * were made at once, a kernel that forgot to wait would compute the right result here, but not on
 * a GPU. So such a copy is kept, and made when
 *
 *     - a later request of its stream, or of a stream that is ordered with it, begins
 *     - a stream or the host waits for an event that was recorded after it
 *     - the host waits for its stream, or makes any request that is not about streams
 *
 * This applies to clients whose tensors are in host memory: there, overlapping copies and kernels
 * is the exercise. */
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1024 }; /* as on hardware, further ones wait */

struct late_copy {
    struct late_copy *next;
    uint64_t number; /* counts from 1 */
    uint64_t stream;
    bool blocking;
    uint64_t a[VP_ARGUMENTS];
};

bool session_rectangle(uint64_t width, uint64_t height, uint64_t pitch)
{
    const uint64_t limit = UINT64_C(1) << 46;
    return width <= limit && pitch <= limit && height <= limit && (height <= 1 || width <= pitch) &&
           (height == 0 || pitch == 0 || height <= limit / pitch);
}

void session_rows_join(uint64_t *width, uint64_t *height, uint64_t pitch)
{
    if (*height < 2 || *width != pitch)
        return;
    *width *= *height;
    *height = 1;
}

int session_copy_rows(struct session *s, const uint64_t *a, const char *api)
{
    uint64_t to = a[0], from = a[1], width = a[2], height = a[3], to_pitch = a[4], pitch = a[5];
    if (!session_rectangle(width, height, pitch) || !session_rectangle(width, height, to_pitch))
        return VP_INVALID_VALUE;
    if (pitch == to_pitch)
        session_rows_join(&width, &height, pitch);
    for (uint64_t row = 0; row < height && width; row++) {
        struct st_error err;
        enum st_code code =
            vg_memory_copy(s->device, to + row * to_pitch, from + row * pitch, width, &err);
        if (code)
            return session_error(s, code, &err, api);
    }
    return VP_OK;
}

/* ---- late copies ----------------------------------------------------------------------------- */

static bool is_inside(struct session *s, uint64_t address, uint64_t width, uint64_t height,
                      uint64_t pitch)
{
    const struct allocation *a = session_allocation_below(s, address);
    const uint64_t room = a ? a->bytes - (address - a->address) : 0;
    return session_rectangle(width, height, pitch) && a && address - a->address < a->bytes &&
           width <= room && (height <= 1 || (pitch && height - 1 <= (room - width) / pitch));
}

/* Makes the kept copies up to one number that are ordered with a stream; NULL: with all. */
static void arrive(struct session *s, const struct stream *stream, uint64_t number, uint64_t last)
{
    struct late_copy **at = &s->late;
    bool is_made = false;
    while (*at) {
        struct late_copy *const copy = *at;
        const bool is_ordered =
            !stream || copy->stream == number || (copy->blocking && stream->time.is_legacy);
        if (!is_ordered || copy->number > last) {
            at = &copy->next;
            continue;
        }
        *at = copy->next;
        if (!is_made) /* what the client has written is not what copies bring */
            session_shared_look(s, true);
        is_made = true;
        const int error = session_copy_rows(s, copy->a, "cudaMemcpyAsync");
        if (error)
            s->sticky = error;
        s->late_count--;
        free(copy);
    }
    if (is_made)
        session_shared_look(s, false);
}

bool session_copy_keep(struct session *s, const struct exchange *x)
{
    const uint64_t *a = x->request.a;
    if (!s->shared->host_tensors || !(a[6] & VP_ASYNC) || x->stream->time.is_legacy ||
        !is_inside(s, a[0], a[2], a[3], a[4]) || !is_inside(s, a[1], a[2], a[3], a[5]))
        return false;
    if (s->late_count == KEPT_MOST)
        arrive(s, NULL, 0, UINT64_MAX);
    struct late_copy *copy = calloc(1, sizeof *copy), **last = &s->late;
    if (!copy)
        return false;
    s->late_count++;
    copy->number = ++s->late_number;
    copy->stream = x->request.stream;
    copy->blocking = x->stream->time.blocking;
    memcpy(copy->a, a, sizeof copy->a);
    while (*last)
        last = &(*last)->next;
    *last = copy;
    return true;
}

void session_copies_arrive(struct session *s, const struct exchange *x)
{
    const struct event *const event = x->event;
    switch (x->request.op) {
    case VP_CALL:
    case VP_ALLOC:
    case VP_KERNEL:
    case VP_KERNEL_INFO:
    case VP_OCCUPANCY:
    case VP_STREAM_CREATE:
    case VP_STREAM_INFO:
    case VP_EVENT_CREATE:
    case VP_EVENT_ELAPSED:
    case VP_EVENT_RECORD:
    case VP_STREAM_QUERY:
    case VP_EVENT_QUERY:
        return;
    case VP_LAUNCH:
    case VP_COPY_DEVICE:
    case VP_COPY_SHARED:
    case VP_FILL:
    case VP_STREAM_SYNC:
        arrive(s, x->stream, x->request.stream, UINT64_MAX);
        return;
    case VP_STREAM_WAIT:
    case VP_EVENT_SYNC:
        if (event && event->recorded)
            arrive(s, &event->of, event->stream, event->after);
        return;
    default:
        arrive(s, NULL, 0, UINT64_MAX);
    }
}

bool session_copy_is_late(void *context, uint64_t address)
{
    const struct session *const s = context;
    for (const struct late_copy *c = s->late; c; c = c->next) {
        const uint64_t from_start = address - c->a[0];
        const uint64_t row = c->a[4] && c->a[3] > 1 ? from_start / c->a[4] : 0;
        if (address >= c->a[0] && row < c->a[3] && from_start - row * c->a[4] < c->a[2])
            return true;
    }
    return false;
}

void session_copies_done(struct session *s, const struct exchange *x)
{
    if (x->request.op == VP_STREAM_QUERY)
        arrive(s, x->stream, x->request.stream, UINT64_MAX);
    else
        arrive(s, &x->event->of, x->event->stream, x->event->after);
}

void session_copies_drop(struct session *s)
{
    for (struct late_copy *next; s->late; s->late = next) {
        next = s->late->next;
        free(s->late);
    }
    s->late_count = 0;
}
