/* The connection to the device process: one per process, opened at the first use, with one request
 * at a time. */
#include "vgpu/cudart/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    bool tried; /* tried to connect; a failure is final and not tried again */
    int fd;
    pid_t owner; /* a forked child has no context, as with the real runtime */
    unsigned char *window;
    struct vg_profile profile;
    cudaError_t failure;
} connection = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .fd = -1};

static _Thread_local int lock_depth;
static bool exiting; /* the program is in exit() */
static bool runtime_is_used;
_Thread_local const char *rt_driver_call;

bool rt_runtime_is_used(void)
{
    return runtime_is_used;
}

void rt_lock(void)
{
    pthread_mutex_lock(&connection.lock);
    lock_depth++;
}

void rt_unlock(void)
{
    lock_depth--;
    pthread_mutex_unlock(&connection.lock);
}

unsigned char *rt_window(void)
{
    return connection.window;
}

bool rt_connected(void)
{
    return connection.fd >= 0 && connection.owner == getpid() && !exiting;
}

void rt_say_once(bool *said, const char *format, ...)
{
    char line[1024];
    if (*said)
        return;
    *said = true;
    int at = snprintf(line, sizeof line, "virtual GPU: ");
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + at, sizeof line - (size_t)at - 1, format, args);
    va_end(args);
    size_t bytes = (size_t)(at + n) < sizeof line - 2 ? (size_t)(at + n) : sizeof line - 2;
    line[bytes++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, bytes);
    (void)ignored;
}

static _Thread_local int64_t thread_number = -1;
static pthread_key_t thread_key;

static void thread_ends(void *ignored)
{
    (void)ignored;
    if (rt_connected())
        rt_request(VP_THREAD_END, "", 0);
}

static void thread_key_make(void)
{
    if (pthread_key_create(&thread_key, thread_ends))
        thread_key = PTHREAD_KEYS_MAX;
}

/* @return the number of the calling thread, whose end will be reported. */
static uint32_t number_of_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_uint last;
    if (thread_number < 0 && (gettid() == getpid() || rt_queue_is_own_thread()))
        thread_number = 0; /* host functions share the main thread's time */
    if (thread_number < 0) {
        thread_number = ++last;
        pthread_once(&once, thread_key_make);
        pthread_setspecific(thread_key, &last);
    }
    return (uint32_t)thread_number;
}

/* @return the stream for which cudaStreamPerThread stands: the device process has one, for the main
 * thread; each other thread has a stream of its own. */
static uint64_t stream_of_thread(void)
{
    static _Thread_local uint64_t own;
    if (own)
        return own;
    own = HANDLE(cudaStreamPerThread);
    struct call c = rt_call(VP_STREAM_CREATE, "", 0, cudaStreamDefault, 0);
    if (gettid() != getpid() && !rt_exchange(&c))
        own = c.reply.r[0];
    return own;
}

struct call rt_call_with(enum vp_op op, const char *api, uint64_t stream,
                         const uint64_t arguments[VP_ARGUMENTS])
{
    if (stream == HANDLE(cudaStreamPerThread))
        stream = stream_of_thread();
    struct call c = {.request = {.op = (uint16_t)op,
                                 .alone = __libc_single_threaded != 0,
                                 .thread = number_of_thread(),
                                 .stream = stream},
                     .fd = -1};
    memcpy(c.request.a, arguments, sizeof c.request.a);
    const bool is_call = *api != '\0';
    runtime_is_used |= is_call && !rt_driver_call;
    snprintf(c.request.api, sizeof c.request.api, "%s",
             is_call && rt_driver_call ? rt_driver_call : api);
    return c;
}

/* Reads a packet, and a descriptor if one comes with it. */
static bool receive_reply(int socket, struct call *c)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec parts[2] = {{&c->reply, sizeof c->reply}, {c->reply_payload, c->reply_room}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = c->reply_payload ? 2 : 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&c->fd, CMSG_DATA(header), sizeof(int));
    return got >= (ssize_t)sizeof c->reply;
}

static bool is_door(int fd)
{
    int type = 0, domain = 0;
    socklen_t bytes = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX;
}

/* Requests the door's descriptor from the socket with this name. @return the descriptor, or -1 */
static int door_ask(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(name) < VP_NAME_MAX ? strlen(name) : VP_NAME_MAX;
    memcpy(address.sun_path + 1, name, length);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    struct call c = {.fd = -1};
    struct ucred peer;
    socklen_t peer_bytes = sizeof peer;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, bytes) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0 && peer.uid == geteuid())
        receive_reply(fd, &c);
    if (fd >= 0)
        close(fd);
    if (c.fd >= 0 && is_door(c.fd))
        return c.fd;
    if (c.fd >= 0)
        close(c.fd);
    return -1;
}

/* Sends one end of a new socket pair through the door. */
static int door_enter(int door)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -1;
    int bytes = 1 << 18;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &pair[1], sizeof(int));
    struct iovec part = {"C", 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t sent = sendmsg(door, &message, MSG_NOSIGNAL);
    close(pair[1]);
    /* not a standard descriptor: a program without standard streams would print to it */
    const int mine = sent == 1 ? fcntl(pair[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    close(pair[0]);
    return mine;
}

static bool send_request(const struct call *c)
{
    struct iovec parts[2] = {{(void *)&c->request, sizeof c->request},
                             {(void *)c->payload, c->request.payload_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent;
    do
        sent = sendmsg(connection.fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof c->request + c->request.payload_bytes);
}

/* If the device fails to answer once, it is regarded as gone. */
static cudaError_t device_gone(void)
{
    static bool said;
    rt_say_once(&said, "the device process has ended");
    close(connection.fd);
    connection.fd = -1;
    return connection.failure = cudaErrorDevicesUnavailable;
}

cudaError_t rt_send(const struct call *c)
{
    return send_request(c) ? cudaSuccess : device_gone();
}

cudaError_t rt_receive(struct call *c)
{
    return receive_reply(connection.fd, c) ? (cudaError_t)c->reply.error : device_gone();
}

/* Sends a request and receives its reply. @pre the lock is held */
static cudaError_t exchange(struct call *c)
{
    const cudaError_t error = rt_send(c);
    return error ? error : rt_receive(c);
}

static cudaError_t hello(void)
{
    struct call c = rt_call(VP_HELLO, "", 0, VP_VERSION);
    c.reply_payload = &connection.profile;
    c.reply_room = sizeof connection.profile;
    cudaError_t error = exchange(&c);
    if (error)
        return error;
    if (c.fd < 0 || c.reply.payload_bytes != sizeof connection.profile)
        return cudaErrorInitializationError;
    void *at = mmap(NULL, VP_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
    close(c.fd);
    if (at == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    connection.window = at;
    return cudaSuccess;
}

/* Runs before the program's own handlers, which were registered earlier: at exit nothing is
 * unregistered, so that a program can end while a kernel runs. */
static void at_exit(void)
{
    exiting = true;
}

/* Connects at the first call. */
static cudaError_t connect_first(void)
{
    if (connection.tried)
        return connection.owner == getpid() ? connection.failure : cudaErrorInitializationError;
    connection.tried = true;
    connection.owner = getpid();
    atexit(at_exit);
    const char *variable = getenv(VP_DOOR_VARIABLE);
    if (!variable) {
        static bool said;
        rt_say_once(&said, "the program was not started on a virtual GPU (hint: vgpu-run PROGRAM)");
        return connection.failure = cudaErrorNoDevice;
    }
    /* the parent process may have closed the inherited descriptor */
    const bool inherited = is_door(atoi(variable));
    const char *name = getenv(VP_NAME_VARIABLE);
    const int door = inherited ? atoi(variable) : name ? door_ask(name) : -1;
    connection.fd = door_enter(door);
    if (!inherited && door >= 0)
        close(door);
    if (connection.fd < 0) {
        static bool said;
        rt_say_once(&said, "cannot reach the device process: %s", strerror(errno));
        return connection.failure = cudaErrorNoDevice;
    }
    return connection.failure = hello();
}

void rt_printf_take(const struct call *c)
{
    if (!(c->reply.flags & VP_PRINTF_PENDING))
        return;
    rt_lock();
    for (uint64_t left = 1; left > 0 && rt_connected();) {
        struct call take = rt_call(VP_PRINTF_TAKE, "", 0);
        if (exchange(&take) != cudaSuccess || take.reply.r[0] > VP_WINDOW_BYTES)
            break;
        /* Prints to the program's stdout, so that the program's and the kernels' lines stay in
         * order. */
        fwrite(connection.window, 1, take.reply.r[0], stdout);
        left = take.reply.r[1];
    }
    rt_unlock();
}

cudaError_t rt_exchange(struct call *c)
{
    static bool said;
    char text[RT_SOURCE_TEXT];
    if (rt_source_changed(text))
        rt_say_once(&said, "%s", text);
    if (lock_depth == 0) /* otherwise a queued host function could wait for the lock held here */
        rt_queue_drain();
    rt_lock();
    cudaError_t error = connect_first();
    if (error == cudaSuccess) {
        error = exchange(c);
        if (c->request.op != VP_COPY_OUT) /* the copy's data is still in the window */
            rt_printf_take(c);
    }
    rt_unlock();
    return error;
}

cudaError_t rt_request_with(enum vp_op op, const char *api, uint64_t stream,
                            const uint64_t arguments[VP_ARGUMENTS])
{
    struct call c = rt_call_with(op, api, stream, arguments);
    return rt_exchange(&c);
}

const struct vg_profile *rt_profile(void)
{
    rt_lock();
    cudaError_t error = connect_first();
    rt_unlock();
    return error == cudaSuccess ? &connection.profile : NULL;
}
