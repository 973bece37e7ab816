/* Reads a request, looks up its objects, executes, traces and answers it. */
#include "vgpu/device/client_session.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool session_read(struct session *s, struct exchange *x)
{
    memset(&x->request, 0, sizeof x->request);
    memset(&x->reply, 0, sizeof x->reply);
    x->reply_fd = -1;
    x->replied = false;
    struct iovec parts[2] = {{&x->request, sizeof x->request}, {x->payload, VP_PAYLOAD_MAX}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = recvmsg(s->fd, &message, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return x->replied = true;
    if (got <= 0)
        return false;
    size_t fixed = sizeof x->request;
    if ((size_t)got < fixed || (message.msg_flags & MSG_TRUNC) || x->request.op >= VP_OPS ||
        x->request.payload_bytes != (size_t)got - fixed) {
        say("client %d sent a malformed request and is disconnected", s->number);
        return false;
    }
    x->payload[x->request.payload_bytes] = '\0';
    x->request.api[sizeof x->request.api - 1] = '\0';
    for (char *c = x->request.api; *c; c++) /* users see this name */
        if (*c < ' ' || *c > '~')
            *c = '?';
    return true;
}

static session_handler *const handlers[VP_OPS] = {
#define OP(name, treatment, arguments, results) op_##name,
    VP_MAP(OP)
#undef OP
};

static bool is_copy(const struct exchange *x)
{
    return x->request.op == VP_COPY_IN || x->request.op == VP_COPY_OUT;
}

/* Writes the row of a call whose copy the client did not finish. */
static void abandoned_copy_trace(struct session *s)
{
    if (s->copying.api[0])
        session_trace_call(s, s->copying.api, s->copying.start_ns, 0, VP_OK);
    s->copying.api[0] = '\0';
}

/* Writes the row of a call. A copy of many pieces is one call: the first piece has its name, the
 * last piece ends it. */
static void request_trace(struct session *s, const struct exchange *x, double start_ns)
{
    if (!is_copy(x)) {
        if (x->request.api[0])
            session_trace_call(s, x->request.api, start_ns, x->request.stream, x->reply.error);
        return;
    }
    if (x->request.api[0]) {
        abandoned_copy_trace(s);
        memcpy(s->copying.api, x->request.api, sizeof s->copying.api);
        s->copying.start_ns = start_ns;
    }
    bool last = x->request.a[5] || x->reply.error;
    if (last && s->copying.api[0]) {
        session_trace_call(s, s->copying.api, s->copying.start_ns, x->request.stream,
                           x->reply.error);
        s->copying.api[0] = '\0';
    }
}

/* @return the stream with a number, or NULL. */
static struct stream *session_stream(struct session *s, uint64_t number)
{
    if (number <= 1)
        return &s->legacy;
    return number == 2 ? &s->per_thread : handles_get(&s->streams, number);
}

int session_look_up(struct session *s, struct exchange *x)
{
    const unsigned treatment = vp_treatment((enum vp_op)x->request.op);
    if (!s->device)
        return VP_NO_DEVICE;
    if (s->sticky && !(treatment & VP_SURVIVES))
        return s->sticky;
    x->stream = session_stream(s, x->request.stream);
    x->event = handles_get(&s->events, x->request.a[0]);
    if ((treatment & VP_STREAM && !x->stream) || (treatment & VP_EVENT && !x->event))
        return VP_INVALID_HANDLE;
    return VP_OK;
}

static int execute(struct session *s, struct exchange *x)
{
    const bool moves = s->device && vp_treatment((enum vp_op)x->request.op) & VP_MOVES;
    if (moves)
        session_shared_look(s, true);
    int error = session_look_up(s, x);
    if (!error)
        error = handlers[x->request.op](s, x);
    if (moves)
        session_shared_look(s, false);
    return error;
}

bool session_carry_out(struct session *s, struct exchange *x)
{
    const unsigned treatment = vp_treatment((enum vp_op)x->request.op);
    const int outer = session_thread_enter(s, x);
    session_host_meter(s, x);
    session_races_request(s, x);
    double start_ns = s->time.host_ns;
    if (!is_copy(x)) {
        session_copies_settle(s);
        abandoned_copy_trace(s);
    }
    if (x->request.api[0] || treatment & VP_IS_CALL) {
        timeline_call(&s->time);
        if (x->request.op == VP_EVENT_RECORD)
            timeline_recorded(&s->time);
    }
    x->reply.error = session_look_up(s, x);
    if (x->reply.error || !session_order_keep(s, x, execute)) {
        if (s->order.count && !session_order_need_not_wait((enum vp_op)x->request.op))
            session_order_settle(s);
        x->reply.error = execute(s, x);
    }
    if (treatment & VP_SYNCS) {
        session_printf_collect(s);
        if (s->printed_bytes > s->printed_taken)
            x->reply.flags |= VP_PRINTF_PENDING;
    }
    request_trace(s, x, start_ns);
    session_thread_set(s, outer);
    return session_reply(s, x);
}
