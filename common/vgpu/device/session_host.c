/* The host's work between its calls, for an owner that times it: the processor time of the client's
 * process, starting at its first recorded event. Linux counts it, so a client cannot forge it.
 *
 * Modelled times must not depend on the machine, and every program needs some time to make its
 * calls. So some time is free: HOST_FREE_NS at the start, more with each request. Only time beyond
 * that advances the virtual clock. */
#include "vgpu/device/client_session.h"

#include <math.h>
#include <sys/socket.h>
#include <time.h>

#define HOST_FREE_NS         20e6
#define HOST_REQUEST_FREE_NS 100e3
#define HOST_BYTE_FREE_NS    2 /* free time per byte, for copying from or to the window */

/* @return false: the connected process has ended. */
static bool used_ns(const struct session *s, double *ns)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    struct timespec used;
    clockid_t clock;
    if (getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.pid <= 0 ||
        clock_getcpuclockid(peer.pid, &clock) || clock_gettime(clock, &used))
        return false;
    *ns = 1e9 * (double)used.tv_sec + (double)used.tv_nsec;
    return true;
}

void session_host_meter(struct session *s, const struct exchange *x)
{
    struct host_meter *m = &s->host;
    const bool is_copy = x->request.op == VP_COPY_IN || x->request.op == VP_COPY_OUT;
    double now_ns;
    if (!s->shared->charges_host || (!m->is_on && x->request.op != VP_EVENT_RECORD) ||
        !used_ns(s, &now_ns))
        return;
    if (!m->is_on) {
        *m = (struct host_meter){.is_on = true, .free_ns = HOST_FREE_NS, .seen_ns = now_ns};
        return;
    }
    if (x->request.op == VP_FREE && session_is_host_tensor(s, x->request.a[0])) {
        m->is_on = false; /* the run has ended: the harness has copied y to the grader's memory */
        return;
    }
    const double copied_ns =
        is_copy ? HOST_BYTE_FREE_NS * fmin((double)x->request.a[1] * (double)x->request.a[2],
                                           (double)VP_WINDOW_BYTES)
                : 0;
    const double spent_ns = now_ns - m->seen_ns;
    m->seen_ns = now_ns;
    m->spent_ns += spent_ns;
    m->free_ns += HOST_REQUEST_FREE_NS + copied_ns - spent_ns;
    if (m->free_ns < 0) {
        m->charged_ns -= m->free_ns;
        timeline_host_until(&s->time, s->time.host_ns - m->free_ns);
        m->free_ns = 0;
    }
    /* the client processes the copied bytes after this request */
    m->free_ns = fmin(m->free_ns, HOST_FREE_NS) + copied_ns;
}

void session_host_settle(struct session *s)
{
    const struct host_meter m = s->host;
    s->host = (struct host_meter){.is_on = false};
    if (m.charged_ns > 0)
        say("the program itself used %.0f ms of processor time between its CUDA calls; %.0f ms of it are added to the modelled time (%.0f ms are free)",
            m.spent_ns * 1e-6, m.charged_ns * 1e-6, HOST_FREE_NS * 1e-6);
}
