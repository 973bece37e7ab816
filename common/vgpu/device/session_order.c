/* The order in which the work of several streams runs.
 *
 * Usually each request is carried out at once, so all work runs in the order of the client's calls.
 * A GPU may run streams that do not wait for each other in any order. If the owner demands another
 * order, launches, fills and asynchronous copies are kept until the client makes a request that is
 * not about streams; then they run stream by stream, or the streams take turns. A kernel in the
 * legacy default stream is kept, too, unless other work is kept in a stream that this stream orders.
 * If a copy or kernel does not wait for work of another stream, some results are wrong, or a kernel
 * reads memory that a copy has not written yet.
 *
 * The virtual clock is only right in the order of the calls. */
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

struct kept {
    bool is_done, is_legacy, is_blocking; /* in the legacy default stream; in one that it orders */
    int before, recorded;                 /* requests that must be done first, or NONE */
    struct vp_request request;
    unsigned char payload[];
};

/* @return whether memory that a request names is inside an allocation. */
static bool is_inside(struct session *s, uint64_t address, uint64_t width, uint64_t height,
                      uint64_t pitch)
{
    const struct allocation *a = session_allocation_below(s, address);
    const uint64_t room = a ? a->bytes - (address - a->address) : 0;
    return session_rectangle(width, height, pitch) && a && address - a->address < a->bytes &&
           width <= room && (height <= 1 || (pitch && height - 1 <= (room - width) / pitch));
}

static bool can_wait(struct session *s, const struct exchange *x)
{
    const uint64_t *a = x->request.a;
    switch (x->request.op) {
    case VP_LAUNCH:
    case VP_EVENT_RECORD:
    case VP_STREAM_WAIT:
        return true;
    case VP_FILL:
        return is_inside(s, a[0], a[2], a[3], a[4]);
    case VP_COPY_SHARED:
    case VP_COPY_DEVICE:
        return a[6] & VP_ASYNC && is_inside(s, a[0], a[2], a[3], a[4]) &&
               is_inside(s, a[1], a[2], a[3], a[5]);
    default:
        return false;
    }
}

/* Whether the legacy default stream orders a request and kept ones. */
static bool is_ordered_by_legacy(const struct session_order *o, const struct tl_stream *stream)
{
    for (int i = 0; i < o->count; i++)
        if (stream->is_legacy ? o->kept[i]->is_blocking : stream->blocking && o->kept[i]->is_legacy)
            return true;
    return false;
}

bool session_order_keep(struct session *s, struct exchange *x, session_handler *handle)
{
    struct session_order *const o = &s->order;
    if (s->shared->order == VG_ORDER_CALLS || !x->stream || !can_wait(s, x))
        return false;
    const struct tl_stream *const stream = &x->stream->time;
    if ((stream->is_legacy && x->request.op != VP_LAUNCH) || is_ordered_by_legacy(o, stream))
        return false;
    if (x->request.op == VP_LAUNCH && (x->reply.error = session_launch_check(s, x)) != VP_OK)
        return true;
    if (o->count == SESSION_KEPT_MOST)
        session_order_settle(s);
    struct kept *k = calloc(1, sizeof *k + x->request.payload_bytes);
    if (!k)
        return false;
    k->before = k->recorded = NONE;
    k->is_legacy = stream->is_legacy;
    k->is_blocking = stream->blocking && !stream->is_legacy;
    k->request = x->request;
    memcpy(k->payload, x->payload, x->request.payload_bytes);
    for (int i = 0; i < o->count; i++) {
        const struct vp_request *r = &o->kept[i]->request;
        if (k->is_legacy ? o->kept[i]->is_legacy : r->stream == k->request.stream)
            k->before = i;
        if (k->request.op == VP_STREAM_WAIT && r->op == VP_EVENT_RECORD &&
            r->a[0] == k->request.a[0])
            k->recorded = i;
    }
    o->kept[o->count++] = k;
    o->handle = handle;
    return true;
}

bool session_order_need_not_wait(enum vp_op op)
{
    return vp_treatment(op) & VP_AT_ONCE || op == VP_ALLOC || op == VP_STREAM_INFO;
}

bool session_order_is_behind(const struct session *s, const struct vp_request *query)
{
    const bool of_event = query->op == VP_EVENT_QUERY;
    for (int i = 0; i < s->order.count; i++) {
        const struct kept *k = s->order.kept[i];
        if (!k->is_done &&
            (of_event ? k->request.op == VP_EVENT_RECORD && k->request.a[0] == query->a[0]
                      : k->request.stream == query->stream))
            return true;
    }
    return false;
}

static bool is_done(const struct session_order *o, int i)
{
    return i == NONE || o->kept[i]->is_done;
}

/* @return whether a stream comes before another in the order that the owner demands. */
static bool is_earlier(const struct session *s, uint64_t stream, uint64_t other)
{
    const uint64_t last = s->order.last_stream;
    if (s->shared->order == VG_ORDER_LAST_STREAM)
        return stream > other;
    if (s->shared->order == VG_ORDER_TURNS && (stream > last) != (other > last))
        return stream > last;
    return stream < other;
}

/* @return the request to be carried out next, or NULL. */
static struct kept *next(struct session *s)
{
    struct session_order *o = &s->order;
    struct kept *best = NULL;
    for (int i = 0; i < o->count; i++) {
        struct kept *k = o->kept[i];
        if (!k->is_done && is_done(o, k->before) && is_done(o, k->recorded) &&
            (!best || is_earlier(s, k->request.stream, best->request.stream)))
            best = k;
    }
    if (best)
        o->last_stream = best->request.stream;
    return best;
}

void session_order_settle(struct session *s)
{
    static struct exchange x; /* static, because it is large */
    for (struct kept *k; !s->sticky && !s->interrupted && (k = next(s)) != NULL;) {
        memset(&x.reply, 0, sizeof x.reply);
        x.request = k->request;
        memcpy(x.payload, k->payload, k->request.payload_bytes);
        x.payload[k->request.payload_bytes] = '\0';
        x.reply_fd = -1;
        x.replied = true;
        k->is_done = true;
        const int error = s->order.handle(s, &x);
        if (error && !s->sticky)
            s->sticky = error;
    }
    session_order_drop(s);
}

enum vg_lateness session_copy_is_late(void *context, uint64_t address)
{
    const struct session *const s = context;
    for (int i = 0; i < s->order.count; i++) {
        const struct kept *k = s->order.kept[i];
        const uint64_t *a = k->request.a, from_start = address - a[0];
        const uint64_t row = a[4] && a[3] > 1 ? from_start / a[4] : 0;
        if (!k->is_done && k->request.stream != s->running_on &&
            (k->request.op == VP_COPY_SHARED || k->request.op == VP_COPY_DEVICE) &&
            address >= a[0] && row < a[3] && from_start - row * a[4] < a[2])
            return VG_LATE;
    }
    return session_races_is_hidden(s, address) ? VG_UNORDERED : VG_NOT_LATE;
}

void session_order_drop(struct session *s)
{
    while (s->order.count)
        free(s->order.kept[--s->order.count]);
}
