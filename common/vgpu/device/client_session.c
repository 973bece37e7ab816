#include "vgpu/device/client_session.h"
#include "vgpu/device/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static bool window_make(struct session *s)
{
    s->window_fd = memfd_create("vgpu-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->window_fd < 0 || ftruncate(s->window_fd, (off_t)VP_WINDOW_BYTES))
        return false;
    /* Sealed, or a client could shrink it under us and kill the device with SIGBUS. */
    if (fcntl(s->window_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return false;
    void *at = mmap(NULL, VP_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->window_fd, 0);
    s->window = at == MAP_FAILED ? NULL : at;
    return s->window != NULL;
}

static enum st_code context_open(struct session *s, struct st_error *err)
{
    timeline_start(&s->time, &s->shared->profile);
    s->legacy = (struct stream){.time = {.blocking = true, .is_legacy = true}};
    s->per_thread = (struct stream){.time.blocking = true};
    s->modules.base = s->kernels.base = 1;
    s->streams.base = s->events.base = 0x100;
    s->sticky = VP_OK;
    s->moved_bytes[0] = s->moved_bytes[1] = 0;
    enum st_code code = vg_device_open(&s->device, &s->shared->profile, s->shared->cores, err);
    if (!code)
        vg_device_seed(s->device, s->shared->seed);
    if (!code)
        vg_device_engine_set(s->device, s->shared->engine, s->shared->find_translator);
    if (!code && record_wants_work(s->shared->record))
        vg_blocks_keep(s->device);
    return code;
}

void session_record(struct session *s)
{
    session_copies_settle(s);
    if (s->device)
        record_device(s->shared->record, s->device, &s->told,
                      s->interrupted ? s->faults_printed : SIZE_MAX);
}

static void context_close(struct session *s)
{
    session_record(s);
    vg_device_close(s->device);
    s->device = NULL;
    free(s->told.counts);
    s->told = (struct record_told){0};
    s->faults_printed = 0;
    handles_clear(&s->kernels, free);
    handles_clear(&s->modules, free); /* the core's part goes with its device */
    handles_clear(&s->streams, free);
    handles_clear(&s->events, free);
    for (size_t i = 0; i < s->allocation_count; i++)
        free(s->allocations[i].seen);
    free(s->allocations);
    s->allocations = NULL;
    s->allocation_count = s->allocation_room = 0;
    free(s->image);
    s->image = NULL;
    s->image_bytes = 0;
    session_units_free(s);
}

struct session *session_open(struct session_shared *shared, int fd, int number)
{
    struct session *s = calloc(1, sizeof *s);
    struct st_error err;
    if (!s) {
        close(fd);
        return NULL;
    }
    s->shared = shared;
    s->fd = fd;
    s->number = number;
    s->window_fd = -1;
    if (!window_make(s)) {
        say("no memory for a client's copy window: %s", strerror(errno));
    } else if (context_open(s, &err) != ST_OK) {
        say_error("cannot open a device", &err);
    } else {
        return s;
    }
    session_close(s);
    return NULL;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    context_close(s);
    if (s->printed_bytes > s->printed_taken)
        say("%zu bytes that kernels printed were not shown: the program ended without synchronising (hint: call cudaDeviceSynchronize() after the last launch)",
            s->printed_bytes - s->printed_taken);
    free(s->printed);
    session_deferred_clear(s);
    if (s->window)
        munmap(s->window, VP_WINDOW_BYTES);
    if (s->window_fd >= 0)
        close(s->window_fd);
    close(s->fd);
    free(s);
}

SESSION_OP(HELLO)
{
    if (x->request.a[0] != VP_VERSION) {
        say("the program's libcudart.so.13 and the device process are of different versions (hint: build both again)");
        return VP_NO_DEVICE;
    }
    memcpy(x->reply_payload, &s->shared->profile, sizeof s->shared->profile);
    x->reply.payload_bytes = sizeof s->shared->profile;
    x->reply_fd = fcntl(s->window_fd, F_DUPFD_CLOEXEC, 3);
    return VP_OK;
}

SESSION_OP(RESET)
{
    (void)x;
    struct st_error err;
    /* As on real hardware, it waits for all work. */
    double now = s->time.host_ns > s->time.all_end_ns ? s->time.host_ns : s->time.all_end_ns;
    bool broken = s->sticky != VP_OK;
    context_close(s);
    enum st_code code = context_open(s, &err);
    s->time.host_ns = now;
    if (broken) /* as on real hardware: a process whose kernel faulted gets no second context */
        s->sticky = VP_UNAVAILABLE;
    return code ? session_error(s, code, &err, "cannot reset the device") : VP_OK;
}

SESSION_OP(CALL)
{
    (void)s, (void)x;
    return VP_OK;
}

SESSION_OP(FENCE)
{
    (void)s, (void)x;
    return VP_OK;
}

/* Collects what kernels have printed since the last time. */
static void printf_collect(struct session *s)
{
    size_t bytes = 0;
    char *text = s->device ? vg_printf_take(s->device, &bytes) : NULL;
    if (bytes > VG_PRINT_BYTES_MAX)
        say("kernels printed more than %zu MiB: the rest is lost", VG_PRINT_BYTES_MAX >> 20);
    if (s->printed_bytes - s->printed_taken > VG_PRINT_BYTES_MAX)
        bytes = 0; /* of a client that does not take it */
    if (text && bytes) {
        if (s->printed_taken) {
            memmove(s->printed, s->printed + s->printed_taken, s->printed_bytes - s->printed_taken);
            s->printed_bytes -= s->printed_taken;
            s->printed_taken = 0;
        }
        char *more = realloc(s->printed, s->printed_bytes + bytes);
        if (more) {
            memcpy(more + s->printed_bytes, text, bytes);
            s->printed = more;
            s->printed_bytes += bytes;
        }
    }
    free(text);
}

SESSION_OP(PRINTF_TAKE)
{
    printf_collect(s);
    size_t left = s->printed_bytes - s->printed_taken;
    size_t now = left < VP_WINDOW_BYTES ? left : VP_WINDOW_BYTES;
    if (now)
        memcpy(s->window, s->printed + s->printed_taken, now);
    s->printed_taken += now;
    x->reply.r[0] = now;
    x->reply.r[1] = left - now;
    return VP_OK;
}

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
    for (char *c = x->request.api; *c; c++) /* it is shown to people */
        if (*c < ' ' || *c > '~')
            *c = '?';
    return true;
}

static const struct {
    int (*handle)(struct session *, struct exchange *);
    unsigned treatment;
} ops[VP_OPS] = {
#define OP(name, treatment, arguments, results) {op_##name, treatment},
    VP_MAP(OP)
#undef OP
};

static bool is_copy(const struct exchange *x)
{
    return x->request.op == VP_COPY_IN || x->request.op == VP_COPY_OUT;
}

/* Ends the call of a copy that the client did not finish. */
static void abandoned_copy_trace(struct session *s)
{
    if (s->copying.api[0])
        session_trace_call(s, s->copying.api, s->copying.start_ns, 0, VP_OK);
    s->copying.api[0] = '\0';
}

/* The row of a call. A copy of many pieces is one call, which its first piece names and its last
 * piece ends. */
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

/* The stream of a number, NULL if there is none. */
static struct stream *session_stream(struct session *s, uint64_t number)
{
    if (number <= 1)
        return &s->legacy;
    return number == 2 ? &s->per_thread : handles_get(&s->streams, number);
}

int session_look_up(struct session *s, struct exchange *x)
{
    const unsigned treatment = ops[x->request.op].treatment;
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

bool session_carry_out(struct session *s, struct exchange *x)
{
    const unsigned treatment = ops[x->request.op].treatment;
    const bool moves = s->device && treatment & VP_MOVES;
    double start_ns = s->time.host_ns;
    if (!is_copy(x)) {
        session_copies_settle(s);
        abandoned_copy_trace(s);
    }
    if (x->request.api[0] || treatment & VP_IS_CALL)
        timeline_call(&s->time);
    if (moves)
        session_shared_look(s, true);
    x->reply.error = session_look_up(s, x);
    if (!x->reply.error)
        x->reply.error = ops[x->request.op].handle(s, x);
    if (moves)
        session_shared_look(s, false);
    if (treatment & VP_SYNCS) {
        printf_collect(s);
        if (s->printed_bytes > s->printed_taken)
            x->reply.flags |= VP_PRINTF_PENDING;
    }
    request_trace(s, x, start_ns);
    return session_reply(s, x);
}

bool session_step(struct session *s)
{
    static struct exchange exchange; /* large, and requests are handled one at a time */
    if (!session_read(s, &exchange))
        return false;
    if (exchange.replied)
        return true;
    bool connected = session_carry_out(s, &exchange);
    if (s->interrupted)
        session_deferred_clear(s);
    while (session_deferred_take(s, &exchange))
        connected &= session_carry_out(s, &exchange);
    return connected;
}
