/* Waits for the runner's replies, as session.c explains: on the reply channel, the output and the
 * process together. */
#include "grader/session/session_parts.h"

#include "base/clock.h"
#include "base/patience.h"
#include "base/printable.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { LOOK_INTERVAL_MS = 100 };

/* Whether all processes together use more memory than one process may. */
static bool is_too_much(struct gr_session *s)
{
    if (s->host->device == RUNNER_ON_GPU) /* plus the driver's memory */
        return false;
    const size_t tensors = gr_session_has_host_tensors(s) ? 2 * s->arena->bytes : s->arena->bytes;
    gr_box_usage(&s->box, tensors, &s->processes, &s->memory_bytes);
    return s->memory_bytes > gr_box_memory_limit();
}

/* Part of the reply may be the student's text, which is printed. */
static void make_printable(struct runner_reply *reply)
{
    const struct runner_reply as_sent = *reply;
    reply->text[0] = '\0';
    if (memchr(as_sent.text, '\0', sizeof as_sent.text))
        text_printable(reply->text, sizeof reply->text, as_sent.text);
}

enum gr_heard gr_session_hear(struct gr_session *s, double limit_s, double work_s, uint64_t nonce,
                              struct runner_reply *reply)
{
    struct patience patience = patience_begin(limit_s);
    work_s += vg_process_work_s(&s->device);
    s->worked_long = false;
    for (;;) {
        const double passed_s = clock_now_s() - patience.looked_s;
        if (s->host->given_up && atomic_load(s->host->given_up))
            return GR_HEARD_CLOSED;
        if (passed_s > fmin(patience.left_s, 1e-3 * LOOK_INTERVAL_MS)) {
            s->worked_long = s->device.pid > 0 && vg_process_work_s(&s->device) > work_s;
            if (!patience_lasts(&patience) || s->worked_long)
                return GR_HEARD_NOTHING;
            if (is_too_much(s))
                return GR_HEARD_TOO_MUCH;
        }
        int wait_ms = (int)(1000 * fmin(patience.left_s, 1e-3 * LOOK_INTERVAL_MS)) + 1;
        struct pollfd on[3] = {{.fd = s->channel, .events = POLLIN},
                               {.fd = s->pipe, .events = POLLIN},
                               {.fd = s->box.pidfd, .events = POLLIN}};
        if (poll(on, 3, wait_ms) < 0 && errno != EINTR)
            return GR_HEARD_CLOSED;
        if (on[1].revents)
            gr_session_drain(s);
        if (on[0].revents) {
            ssize_t n = recv(s->channel, reply, sizeof *reply, MSG_DONTWAIT);
            if (n == sizeof *reply && reply->nonce == nonce) {
                make_printable(reply);
                return GR_HEARD_REPLY;
            }
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                /* The channel is closed: wait briefly for the process to end. */
                struct pollfd end = {.fd = s->box.pidfd, .events = POLLIN};
                return poll(&end, 1, 500) > 0 ? GR_HEARD_END : GR_HEARD_CLOSED;
            }
        } else if (on[2].revents) {
            return GR_HEARD_END;
        }
    }
}
