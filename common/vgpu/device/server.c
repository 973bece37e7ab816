/* The loop, and the watcher thread.
 *
 * The loop waits in poll() for the door and all clients and handles one request after the other;
 * kernels run inside the loop. The watcher is a second thread that wakes a few times per second: it
 * interrupts a kernel whose client has hung up, and on SIGTERM it writes the records and ends the
 * process, even if the loop is in a kernel. */
#include "vgpu/device/server.h"
#include "vgpu/device/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WATCH_INTERVAL_NS 200000000L
#define PATIENCE_TICKS    25 /* ticks of the watcher in which an interrupted kernel must end */

enum { KEPT_MS = 300 }; /* how long kept requests wait for another request */

struct server {
    struct session_shared *shared;
    struct session *clients[SERVER_CLIENTS_MAX];
    size_t n;
    int door, control, wake, next_number;
    atomic_bool stop;  /* the loop must end: SIGTERM */
    atomic_bool ended; /* the loop has ended: the watcher must end */
};

static bool hung_up(int fd)
{
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

/* Interrupts the running kernel if its client has disconnected. @return whether it did. */
static bool interrupt_orphan(struct server *server)
{
    bool orphan = false;
    pthread_mutex_lock(&server->shared->running_lock);
    struct session *running = server->shared->running;
    if (running && (atomic_load(&server->stop) || hung_up(running->fd))) {
        running->interrupted = true;
        vg_interrupt(running->device);
        orphan = true;
    }
    pthread_mutex_unlock(&server->shared->running_lock);
    return orphan;
}

static void *watch(void *context)
{
    struct server *server = context;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    for (int impatience = 0; !atomic_load(&server->ended);) {
        struct timespec interval = {.tv_nsec = WATCH_INTERVAL_NS};
        if (sigtimedwait(&set, NULL, &interval) == SIGTERM) {
            atomic_store(&server->stop, true);
            ssize_t ignored = write(server->wake, &(uint64_t){1}, 8);
            (void)ignored;
        }
        impatience = interrupt_orphan(server) || atomic_load(&server->stop) ? impatience + 1 : 0;
        if (impatience > PATIENCE_TICKS) {
            record_write(server->shared->record, NULL);
            _exit(1);
        }
    }
    return NULL;
}

/* Receives a client through the door: its message must have exactly one descriptor, a seqpacket
 * socket. */
static int client_receive(struct server *server, bool *closed)
{
    char byte;
    int fd;
    ssize_t got = descriptor_receive(server->door, &(struct iovec){&byte, 1}, 1, &fd, MSG_DONTWAIT);
    *closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    int type = 0, domain = 0;
    socklen_t length = sizeof type;
    if (fd >= 0 && (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) ||
                    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) ||
                    type != SOCK_SEQPACKET || domain != AF_UNIX)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void client_add(struct server *server, int fd)
{
    if (server->n == SERVER_CLIENTS_MAX) {
        say("too many clients: at most %d at a time", SERVER_CLIENTS_MAX);
        close(fd);
        return;
    }
    int bytes = 1 << 18;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct session *s = session_open(server->shared, fd, ++server->next_number);
    if (s)
        server->clients[server->n++] = s;
}

static void set_seed(struct server *server, uint64_t seed)
{
    server->shared->seed = seed;
    for (size_t i = 0; i < server->n; i++)
        if (server->clients[i]->device)
            vg_device_seed(server->clients[i]->device, seed);
}

/* Carries out an order of the owner, or answers its request for the records. @return false if the
 * owner has disconnected. */
static bool control_step(struct server *server)
{
    char what;
    ssize_t got = recv(server->control, &what, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got == 1 && what >= VP_CONTROL_STREAMS && what < VP_CONTROL_STREAMS + VG_ORDERS) {
        server->shared->order = (enum vg_stream_order)(what - VP_CONTROL_STREAMS);
        return true;
    }
    if (got == 1 && what >= VP_CONTROL_BLOCKS && what < VP_CONTROL_BLOCKS + VG_BLOCK_ORDERS) {
        static const uint64_t seeds[VG_BLOCK_ORDERS] = {0, 1, VG_SEED_ONE_BY_ONE};
        set_seed(server, seeds[what - VP_CONTROL_BLOCKS]);
        return true;
    }
    if (got != 1 || what != VP_CONTROL_TAKE)
        return false;
    for (size_t i = 0; i < server->n; i++)
        session_record(server->clients[i]);
    struct vp_control_reply reply = {0};
    int file = memfd_create("vgpu-records", MFD_CLOEXEC);
    bool good =
        file >= 0 && record_take(server->shared->record, file, reply.bytes, &reply.lost) &&
        descriptor_send(server->control, &(struct iovec){&reply, sizeof reply}, 1, file, 0) > 0;
    if (file >= 0)
        close(file);
    return good;
}

static bool is_wanted(const struct server *server)
{
    if (atomic_load(&server->stop))
        return false;
    return server->control >= 0 || server->door >= 0 || server->n > 0;
}

/* @return whether any client has requests that were answered and not carried out. */
static bool is_work_kept(const struct server *server)
{
    for (size_t i = 0; i < server->n; i++)
        if (server->clients[i]->order.count)
            return true;
    return false;
}

static void loop(struct server *server)
{
    while (is_wanted(server)) {
        struct pollfd set[SERVER_CLIENTS_MAX + 3];
        size_t n = server->n;
        for (size_t i = 0; i < n; i++)
            set[i] = (struct pollfd){.fd = server->clients[i]->fd, .events = POLLIN};
        set[n] = (struct pollfd){.fd = server->door, .events = POLLIN};
        set[n + 1] = (struct pollfd){.fd = server->wake, .events = POLLIN};
        set[n + 2] = (struct pollfd){.fd = server->control, .events = POLLIN};
        const int ready = poll(set, n + 3, is_work_kept(server) ? KEPT_MS : -1);
        if (ready < 0 && errno != EINTR)
            return;
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            struct session *s = server->clients[i];
            if ((set[i].revents && !session_step(s)) || (ready == 0 && !session_idle(s)))
                session_close(s);
            else
                server->clients[kept++] = s;
        }
        server->n = kept;
        bool closed = false;
        int fd = set[n].revents ? client_receive(server, &closed) : -1;
        if (fd >= 0)
            client_add(server, fd);
        if (closed) {
            close(server->door);
            server->door = -1;
        }
        if (set[n + 2].revents && !control_step(server))
            return; /* the owner has disconnected */
    }
}

enum st_code server_run(struct session_shared *shared, int door, int control, struct st_error *err)
{
    struct server server = {
        .shared = shared, .door = door, .control = control, .wake = eventfd(0, EFD_CLOEXEC)};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_mutex_init(&shared->running_lock, NULL);
    pthread_t watcher;
    if (server.wake < 0 || pthread_create(&watcher, NULL, watch, &server))
        return st_fail_errno(err, errno, "cannot start the device process");
    if (send(door, "R", 1, MSG_NOSIGNAL) == 1)
        loop(&server);
    while (server.n > 0)
        session_close(server.clients[--server.n]);
    if (server.door >= 0)
        close(server.door);
    if (server.control >= 0)
        close(server.control);
    atomic_store(&server.ended, true);
    pthread_kill(watcher, SIGTERM);
    pthread_join(watcher, NULL);
    close(server.wake);
    return ST_OK;
}
