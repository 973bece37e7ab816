/* Streams and events, which exist only on the virtual clock. */
#include "vgpu/device/client_session.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_NON_BLOCKING 1u /* cudaStreamNonBlocking */
#define EVENT_NO_TIMING     2u /* cudaEventDisableTiming */

/* @return the time at which all work that a stream waits for has ended. */
static double stream_end(struct session *s, const struct stream *stream)
{
    if (stream->time.is_legacy && s->time.blocking_end_ns > s->time.legacy_end_ns)
        return s->time.blocking_end_ns;
    return stream->time.is_legacy ? s->time.legacy_end_ns : stream->time.end_ns;
}

SESSION_OP(STREAM_CREATE)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return VP_OUT_OF_MEMORY;
    stream->flags = x->request.a[0];
    stream->priority = x->request.a[1];
    stream->time.blocking = !(x->request.a[0] & STREAM_NON_BLOCKING);
    x->reply.r[0] = handles_add(&s->streams, stream);
    if (x->reply.r[0])
        return VP_OK;
    free(stream);
    return VP_OUT_OF_MEMORY;
}

SESSION_OP(STREAM_DESTROY)
{
    struct stream *stream = handles_remove(&s->streams, x->request.stream);
    free(stream);
    return stream ? VP_OK : VP_INVALID_HANDLE;
}

SESSION_OP(STREAM_SYNC)
{
    timeline_host_until(&s->time, stream_end(s, x->stream));
    timeline_learn(&s->time, timeline_after(&s->time, &x->stream->time));
    return VP_OK;
}

/* Answers a query. Kept requests run after the answer, because their kernels may wait for the
 * host. @param noted  work that has ended if the answer is yes */
static int query(struct session *s, struct exchange *x, double ns, uint64_t noted)
{
    if (!session_order_is_behind(s, &x->request)) {
        if (!timeline_query(&s->time, ns))
            return VP_NOT_READY;
        timeline_learn(&s->time, noted);
        return VP_OK;
    }
    x->reply.error = VP_NOT_READY;
    session_reply(s, x);
    session_order_settle(s);
    return VP_NOT_READY;
}

SESSION_OP(STREAM_QUERY)
{
    return query(s, x, stream_end(s, x->stream), timeline_after(&s->time, &x->stream->time));
}

SESSION_OP(STREAM_WAIT)
{
    if (x->event->recorded) {
        timeline_work(&s->time, &x->stream->time, x->event->after);
        timeline_wait(&s->time, &x->stream->time, x->event->ns);
    }
    return VP_OK;
}

SESSION_OP(STREAM_INFO)
{
    (void)s;
    x->reply.r[0] = x->stream->flags;
    x->reply.r[1] = x->stream->priority;
    return VP_OK;
}

SESSION_OP(EVENT_CREATE)
{
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return VP_OUT_OF_MEMORY;
    event->flags = x->request.a[0];
    x->reply.r[0] = handles_add(&s->events, event);
    if (x->reply.r[0])
        return VP_OK;
    free(event);
    return VP_OUT_OF_MEMORY;
}

SESSION_OP(EVENT_DESTROY)
{
    struct event *event = handles_remove(&s->events, x->request.a[0]);
    free(event);
    return event ? VP_OK : VP_INVALID_HANDLE;
}

SESSION_OP(EVENT_RECORD)
{
    if (!session_proof_host_begin(&s->proof, s->device))
        return VP_OUT_OF_MEMORY;
    x->event->recorded = true;
    x->event->ns = timeline_record(&s->time, &x->stream->time);
    x->event->after = timeline_after(&s->time, &x->stream->time);
    return VP_OK;
}

SESSION_OP(EVENT_SYNC)
{
    if (x->event->recorded) {
        timeline_host_until(&s->time, x->event->ns);
        timeline_learn(&s->time, x->event->after);
    }
    return VP_OK;
}

SESSION_OP(EVENT_QUERY)
{
    return query(s, x, x->event->recorded ? x->event->ns : 0,
                 x->event->recorded ? x->event->after : 0);
}

SESSION_OP(EVENT_ELAPSED)
{
    const struct event *from = x->event, *to = handles_get(&s->events, x->request.a[1]);
    if (!to || !from->recorded || !to->recorded || ((from->flags | to->flags) & EVENT_NO_TIMING))
        return VP_INVALID_HANDLE;
    if (from->ns > s->time.host_ns || to->ns > s->time.host_ns)
        return VP_NOT_READY;
    timeline_learn(&s->time, from->after | to->after);
    double ms = (to->ns - from->ns) * 1e-6;
    memcpy(&x->reply.r[0], &ms, sizeof ms);
    return VP_OK;
}

SESSION_OP(DEVICE_SYNC)
{
    (void)x;
    timeline_host_until(&s->time, s->time.all_end_ns);
    timeline_learn(&s->time, TL_ALL);
    return VP_OK;
}
