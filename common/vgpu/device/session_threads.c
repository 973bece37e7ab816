/* The virtual time of each thread of the host.
 *
 * Several threads may make calls at the same time, each for a stream of its own. With one time for
 * all, a call that waits would delay the other threads, and the delay would depend on the machine. A
 * thread begins at the main thread's time. The main thread may have waited for a thread that has
 * ended, and so it is not earlier than that thread. Pools of threads do not end: if the main thread
 * uses the legacy default stream, or waits for the device, it is not earlier than any thread. */
#include "vgpu/device/client_session.h"

void session_thread_set(struct session *s, int thread)
{
    if (thread == s->thread)
        return;
    s->threads[s->thread].ns = s->time.host_ns;
    s->time.host_ns = s->threads[thread].ns;
    s->thread = thread;
}

/* @return the index of a thread; that of the main thread if there are too many. */
static int find(struct session *s, uint32_t number)
{
    int i = 0;
    while (i <= s->thread_count && s->threads[i].number != number)
        i++;
    if (i <= s->thread_count)
        return i;
    if (i == SESSION_THREADS_MOST)
        return 0;
    const double ns = s->thread == 0 ? s->time.host_ns : s->threads[0].ns;
    s->threads[i] = (struct host_thread){.number = number, .ns = ns};
    s->thread_count = i;
    return i;
}

static bool waits_for_all(const struct exchange *x)
{
    const enum vp_op op = (enum vp_op)x->request.op;
    return op == VP_DEVICE_SYNC || op == VP_RESET || op == VP_FREE ||
           (x->request.stream <= 1 && (op == VP_LAUNCH || op == VP_EVENT_RECORD ||
                                       op == VP_STREAM_SYNC || op == VP_COPY_OUT));
}

/* Removes threads that have ended. @pre the timeline has the main thread's time */
static void forget_ended(struct session *s)
{
    for (int i = 1; i <= s->thread_count;) {
        if (!s->threads[i].is_ended) {
            i++;
            continue;
        }
        timeline_host_until(&s->time, s->threads[i].ns);
        s->threads[i] = s->threads[s->thread_count--];
    }
}

int session_thread_enter(struct session *s, const struct exchange *x)
{
    const int outer = s->thread;
    if (outer == 0)
        forget_ended(s);
    session_thread_set(s, find(s, x->request.thread));
    for (int i = 1; s->thread == 0 && i <= s->thread_count && waits_for_all(x); i++)
        timeline_host_until(&s->time, s->threads[i].ns);
    return outer;
}

SESSION_OP(THREAD_END)
{
    (void)x;
    s->threads[s->thread].is_ended = s->thread != 0;
    return VP_OK;
}
