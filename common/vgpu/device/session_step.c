/* Requests in order, and requests that arrive while a kernel waits for the host.
 *
 * A kernel may wait for a flag in memory that the host shares, and the host may set the flag after
 * other calls. Meanwhile the device runs the kernel, and a call that waited for the kernel's end
 * would wait for ever. So the worker that checks on the host answers calls that need not wait;
 * their work is done after the kernel, in order. */
#include "vgpu/device/client_session.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    HOST_PATIENCE_S = 10, /* for another thread of the client while one waits for the kernel */
    DEFERRED_MOST = 1024, /* launches and other requests that wait; as on hardware, further ones
                             block */
    ANSWERED_MOST = 64,   /* requests answered per check */
};

struct deferred {
    struct deferred *next;
    struct vp_request request;
    unsigned char payload[];
};

static bool defer(struct session *s, const struct exchange *x)
{
    const size_t bytes = x->request.payload_bytes;
    struct deferred *d = calloc(1, sizeof *d + bytes), **last = &s->deferred;
    if (!d)
        return false;
    d->request = x->request;
    memcpy(d->payload, x->payload, bytes);
    while (*last)
        last = &(*last)->next;
    *last = d;
    s->deferred_count++;
    return true;
}

static bool deferred_take(struct session *s, struct exchange *x)
{
    struct deferred *d = s->deferred;
    if (!d)
        return false;
    memset(&x->reply, 0, sizeof x->reply);
    x->request = d->request;
    memcpy(x->payload, d->payload, d->request.payload_bytes);
    x->payload[d->request.payload_bytes] = '\0';
    x->reply_fd = -1;
    x->replied = true;
    s->deferred = d->next;
    s->deferred_count--;
    free(d);
    return true;
}

/* @return whether work before the queried event, or in the queried stream, waits for the kernel. */
static bool is_behind(const struct session *s, const struct exchange *x)
{
    const bool of_event = x->request.op == VP_EVENT_QUERY;
    for (const struct deferred *d = s->deferred; d; d = d->next)
        if (of_event ? d->request.op == VP_EVENT_RECORD && d->request.a[0] == x->request.a[0]
                     : d->request.op != VP_CALL && d->request.stream == x->request.stream)
            return true;
    return session_order_is_behind(s, &x->request) ||
           (!of_event && x->request.stream == s->running_on);
}

static bool need_not_wait(enum vp_op op)
{
    return vp_treatment(op) & VP_AT_ONCE || op == VP_LAUNCH || op == VP_EVENT_RECORD ||
           op == VP_STREAM_WAIT;
}

/* Answers a request that need not wait for the kernel. @return false: the client is gone */
static bool answer(struct session *s, struct exchange *x)
{
    switch (x->request.op) {
    case VP_STREAM_QUERY:
    case VP_EVENT_QUERY:
    case VP_LAUNCH:
    case VP_EVENT_RECORD:
    case VP_STREAM_WAIT:
    case VP_CALL:
        break;
    default:
        return session_carry_out(s, x); /* does not depend on running kernels */
    }
    const bool asks = x->request.op == VP_STREAM_QUERY || x->request.op == VP_EVENT_QUERY;
    int error = session_look_up(s, x);
    if (!error && asks)
        error = is_behind(s, x) ? VP_NOT_READY : VP_OK;
    else if (!error && x->request.op == VP_LAUNCH)
        error = session_launch_check(s, x);
    if (!error && !asks && !defer(s, x))
        error = VP_OUT_OF_MEMORY;
    x->reply.error = error;
    return session_reply(s, x);
}

static bool peek(const struct session *s, struct vp_request *next)
{
    return recv(s->fd, next, sizeof *next, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof *next;
}

/* Records that a request of the client waits for the kernel. */
static void note_pending(struct session *s, const struct vp_request *r, uint32_t look)
{
    s->pending_since_s = r->alone ? -1 : clock_now_s();
    s->pending_look = look;
    memset(s->pending_api, 0, sizeof s->pending_api);
    for (size_t i = 0; i + 1 < sizeof r->api && r->api[i] > ' ' && r->api[i] <= '~'; i++)
        s->pending_api[i] = r->api[i];
    if (!s->pending_api[0])
        strcpy(s->pending_api, "a CUDA call");
}

static const char *host_waits(void *context, uint32_t look)
{
    static struct exchange exchange;
    struct session *s = context;
    struct vp_request next = {0};
    bool waits = false;
    pthread_mutex_lock(&s->shared->running_lock);
    for (int i = 0; s->pending_since_s == 0 && i < ANSWERED_MOST && peek(s, &next); i++) {
        if (need_not_wait((enum vp_op)next.op) && s->deferred_count < DEFERRED_MOST) {
            if (!session_read(s, &exchange) || !answer(s, &exchange))
                shutdown(s->fd, SHUT_RDWR); /* interrupts the kernel */
            continue;
        }
        note_pending(s, &next, look);
    }
    if (s->pending_since_s != 0 && s->pending_look != look)
        waits = s->pending_since_s < 0 || clock_now_s() > s->pending_since_s + HOST_PATIENCE_S;
    pthread_mutex_unlock(&s->shared->running_lock);
    return waits ? s->pending_api : NULL;
}

static struct exchange exchange; /* static, because it is large; only one is used at a time */

static void watch_host(struct session *s)
{
    if (!s->device)
        return;
    vg_host_set(s->device, host_waits, s);
    vg_progress_set(s->device, s->shared->progress);
}

/* Carries out the requests that were answered while a kernel ran. */
static bool deferred_carry_out(struct session *s)
{
    bool connected = true;
    while (deferred_take(s, &exchange))
        if (!s->interrupted)
            connected &= session_carry_out(s, &exchange);
    return connected;
}

bool session_step(struct session *s)
{
    if (!session_read(s, &exchange))
        return false;
    if (exchange.replied)
        return true;
    watch_host(s);
    const bool connected = session_carry_out(s, &exchange);
    return deferred_carry_out(s) && connected;
}

bool session_idle(struct session *s)
{
    watch_host(s);
    session_order_settle(s);
    return deferred_carry_out(s);
}
