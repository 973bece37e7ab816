/* Streams and events: all of it is bookkeeping on the virtual clock. */
#include "vgpu/device/session.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_NON_BLOCKING 1u /* cudaStreamNonBlocking */
#define EVENT_NO_TIMING     2u /* cudaEventDisableTiming */

struct stream *session_stream(struct session *s, uint64_t number, bool *is_legacy)
{
    *is_legacy = number <= 1;
    if (number <= 1)
        return &s->legacy;
    return number == 2 ? &s->per_thread : handles_get(&s->streams, number);
}

/* When all that a stream waits for has ended. */
static double stream_end(struct session *s, const struct stream *stream, bool is_legacy)
{
    if (is_legacy && s->time.blocking_end_ns > s->time.legacy_end_ns)
        return s->time.blocking_end_ns;
    return is_legacy ? s->time.legacy_end_ns : stream->time.end_ns;
}

SESSION_OP(op_stream_create)
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

SESSION_OP(op_stream_destroy)
{
    struct stream *stream = handles_remove(&s->streams, x->request.stream);
    free(stream);
    return stream ? VP_OK : VP_INVALID_HANDLE;
}

SESSION_OP(op_stream_sync)
{
    bool is_legacy;
    struct stream *stream = session_stream(s, x->request.stream, &is_legacy);
    if (!stream)
        return VP_INVALID_HANDLE;
    timeline_host_until(&s->time, stream_end(s, stream, is_legacy));
    return VP_OK;
}

SESSION_OP(op_stream_query)
{
    bool is_legacy;
    struct stream *stream = session_stream(s, x->request.stream, &is_legacy);
    if (!stream)
        return VP_INVALID_HANDLE;
    return timeline_query(&s->time, stream_end(s, stream, is_legacy)) ? VP_OK : VP_NOT_READY;
}

SESSION_OP(op_stream_wait)
{
    bool is_legacy;
    struct stream *stream = session_stream(s, x->request.stream, &is_legacy);
    struct event *event = handles_get(&s->events, x->request.a[0]);
    if (!stream || !event)
        return VP_INVALID_HANDLE;
    if (event->recorded)
        timeline_wait(&s->time, &stream->time, is_legacy, event->ns);
    return VP_OK;
}

SESSION_OP(op_stream_info)
{
    bool is_legacy;
    struct stream *stream = session_stream(s, x->request.stream, &is_legacy);
    if (!stream)
        return VP_INVALID_HANDLE;
    x->reply.r[0] = stream->flags;
    x->reply.r[1] = stream->priority;
    return VP_OK;
}

SESSION_OP(op_event_create)
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

SESSION_OP(op_event_destroy)
{
    struct event *event = handles_remove(&s->events, x->request.a[0]);
    free(event);
    return event ? VP_OK : VP_INVALID_HANDLE;
}

SESSION_OP(op_event_record)
{
    bool is_legacy;
    struct stream *stream = session_stream(s, x->request.stream, &is_legacy);
    struct event *event = handles_get(&s->events, x->request.a[0]);
    if (!stream || !event)
        return VP_INVALID_HANDLE;
    event->recorded = true;
    event->ns = timeline_record(&s->time, &stream->time, is_legacy);
    return VP_OK;
}

SESSION_OP(op_event_sync)
{
    struct event *event = handles_get(&s->events, x->request.a[0]);
    if (!event)
        return VP_INVALID_HANDLE;
    if (event->recorded)
        timeline_host_until(&s->time, event->ns);
    return VP_OK;
}

SESSION_OP(op_event_query)
{
    struct event *event = handles_get(&s->events, x->request.a[0]);
    if (!event)
        return VP_INVALID_HANDLE;
    return !event->recorded || timeline_query(&s->time, event->ns) ? VP_OK : VP_NOT_READY;
}

SESSION_OP(op_event_elapsed)
{
    struct event *from = handles_get(&s->events, x->request.a[0]);
    struct event *to = handles_get(&s->events, x->request.a[1]);
    if (!from || !to)
        return VP_INVALID_HANDLE;
    if (!from->recorded || !to->recorded || ((from->flags | to->flags) & EVENT_NO_TIMING))
        return VP_INVALID_HANDLE;
    if (from->ns > s->time.host_ns || to->ns > s->time.host_ns)
        return VP_NOT_READY;
    double ms = (to->ns - from->ns) * 1e-6;
    memcpy(&x->reply.r[0], &ms, sizeof ms);
    return VP_OK;
}

SESSION_OP(op_device_sync)
{
    (void)x;
    timeline_host_until(&s->time, s->time.all_end_ns);
    return VP_OK;
}
