#include "vgpu/device/client_session.h"

#include "vgpu/device/descriptors.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool session_reply(struct session *s, struct exchange *x)
{
    if (x->replied)
        return true;
    x->replied = true;
    struct iovec parts[2] = {{&x->reply, sizeof x->reply},
                             {x->reply_payload, x->reply.payload_bytes}};
    /* A client that does not read its replies must not block other clients. */
    ssize_t sent = descriptor_send(s->fd, parts, 2, x->reply_fd, MSG_DONTWAIT);
    if (x->reply_fd >= 0)
        close(x->reply_fd);
    return sent >= 0;
}

int session_error(struct session *s, enum st_code code, const struct st_error *err,
                  const char *doing)
{
    if (code == ST_OK)
        return VP_OK;
    struct st_error shown = *err, plain;
    st_fail(&plain, code, "%s", "");
    if (strcmp(shown.hint, plain.hint) == 0) /* the default hint is not for users of programs */
        shown.hint[0] = '\0';
    if (code == ST_NO_MEMORY)
        st_detail(&shown, ST_HINT, "this virtual %s has %zu MiB; free memory that is not needed",
                  s->shared->profile.product, s->shared->profile.global_bytes >> 20);
    if (doing)
        say_error(doing, &shown);
    return code == ST_NO_MEMORY ? VP_OUT_OF_MEMORY : VP_INVALID_VALUE;
}

void session_trace_work(struct session *s, const char *kind, const char *name, uint64_t stream,
                        struct tl_span span, double bytes, const char *host_memory)
{
    record_trace(s->shared->record, &(struct record_row){.kind = kind,
                                                         .name = name,
                                                         .client = s->number,
                                                         .stream = stream,
                                                         .span = span,
                                                         .bytes = bytes,
                                                         .host_memory = host_memory});
}

void session_trace_call(struct session *s, const char *api, double start_ns, uint64_t stream,
                        int error)
{
    record_trace(s->shared->record, &(struct record_row){.kind = "api",
                                                         .name = api,
                                                         .client = s->number,
                                                         .stream = stream,
                                                         .span = {start_ns, s->time.host_ns},
                                                         .bytes = -1,
                                                         .error = error});
}
