/* libFuzzer entry: treats any bytes as the requests of two hostile clients to a device process.
 *
 * The bytes are a list of requests, in a form whose mutations stay meaningful:
 *
 *     operation, client, payload, and for each of the seven arguments and the stream one byte:
 *         0..63     a value from a table
 *         64..127   a result of one of the last replies, or a value near it
 *         128..255  the next eight bytes, unchanged
 *
 * The windows contain a fat binary with two kernels, so that the fuzzer reaches loading, launching
 * and faults. A disconnected client reconnects. */
#include "vgpu/device/client_session.h"
#include "vgpu/exec/tests/test_gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2, RESULTS = 8, TAKE = 0xfe, RAW = 0xff, BLOCKS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const char ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n.global .align 4 .u32 g[64];\n"
    ".visible .entry touch(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p1;\n"
    ".reg .b32 %r<6>;\n.reg .b64 %q<4>;\n.shared .align 4 .b8 s[64];\n"
    "ld.param.u64 %q1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r5, %r3, %r4, %r2;\n"
    "st.shared.u32 [s], %r5;\nbar.sync 0;\nsetp.ge.u32 %p1, %r5, %r1;\n@%p1 bra end;\n"
    "mul.wide.u32 %q2, %r5, 4;\nadd.s64 %q3, %q1, %q2;\nld.global.u32 %r3, [%q3];\n"
    "add.u32 %r3, %r3, 1;\nst.global.u32 [%q3], %r3;\nend:\nret;\n}\n"
    ".visible .entry k()\n{\nret;\n}\n";

/* Writes a fat binary with the PTX: magic, version, lengths of the header and of the rest; one
 * entry. */
static size_t image_make(unsigned char *to)
{
    const size_t text = (sizeof ptx + 7) / 8 * 8;
    const uint32_t head[4] = {0xba55ed50, 16 << 16 | 1, (uint32_t)(64 + text), 0};
    uint32_t entry[16] = {0x101 << 16 | 1, 64, (uint32_t)text, 0, 0, 0, 9 << 16, 75};
    entry[10] = 0x11;
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, entry, sizeof entry);
    memset(to + sizeof head + sizeof entry, 0, text);
    memcpy(to + sizeof head + sizeof entry, ptx, sizeof ptx);
    return sizeof head + sizeof entry + text;
}

static struct session_shared shared;
static struct session *session[CLIENTS];
static int socket_of[CLIENTS], connections;
static uint64_t result[RESULTS];
static unsigned results;
static size_t image_bytes;

static void start(void)
{
    struct st_error err;
    if (shared.record)
        return;
    shared.cores = 1;
    shared.profile = test_gpu;
    shared.profile.global_bytes = 48 << 20; /* which a client can exhaust */
    pthread_mutex_init(&shared.running_lock, NULL);
    if (record_open(&shared.record, (const char *[RECORD_TABLES]){0}, true, &err))
        abort();
}

static void connect_client(int c)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        abort();
    socket_of[c] = pair[0];
    session[c] = session_open(&shared, pair[1], ++connections);
    if (!session[c])
        abort();
    image_bytes = image_make(session[c]->window);
}

static void disconnect_client(int c)
{
    session_close(session[c]);
    close(socket_of[c]);
    session[c] = NULL;
}

static void take(void)
{
    uint64_t bytes[RECORD_TABLES], lost;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    for (int c = 0; c < CLIENTS; c++)
        if (session[c])
            session_record(session[c]);
    if (!record_take(shared.record, file, bytes, &lost))
        abort();
    close(file);
}

/* Sends a packet, lets the device handle it, and reads the reply. */
static void exchange(int c, const void *packet, size_t bytes)
{
    static struct {
        struct vp_reply fixed;
        unsigned char payload[VP_PAYLOAD_MAX];
    } reply;
    char control[64];
    struct iovec part = {&reply, sizeof reply};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (send(socket_of[c], packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)bytes)
        return;
    if (!session_step(session[c])) {
        disconnect_client(c);
        connect_client(c);
        return;
    }
    ssize_t got = recvmsg(socket_of[c], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int fd;
    if (header && header->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
        close(fd);
    }
    if (got < (ssize_t)sizeof reply.fixed)
        abort(); /* every request that is not malformed must be answered */
    if (reply.fixed.error == 0 && reply.fixed.r[0])
        result[results++ % RESULTS] = reply.fixed.r[0];
}

struct input {
    const uint8_t *at, *end;
};

static uint8_t byte_of(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t value_of(struct input *in)
{
    static const uint64_t table[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     16,
                                     32,
                                     64,
                                     100,
                                     256,
                                     0x100,
                                     0x101,
                                     4096,
                                     49152,
                                     65535,
                                     65536,
                                     VP_WINDOW_BYTES,
                                     VP_WINDOW_BYTES - 1,
                                     VP_WINDOW_BYTES + 1,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 1,
                                     (UINT64_C(32) << 32) + 1,
                                     (UINT64_C(1) << 32) + 32,
                                     UINT64_C(1) << 46,
                                     INT64_MAX,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     VG_GLOBAL_BASE,
                                     VG_SHARED_BASE,
                                     VG_LOCAL_BASE,
                                     VP_ADDRESS_END};
    uint8_t code = byte_of(in);
    if (code < 64)
        return code % 64 < sizeof table / sizeof *table ? table[code] : image_bytes;
    if (code < 128)
        return result[code % RESULTS] + (uint64_t)(int64_t)((code - 64) / RESULTS - 4);
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | byte_of(in);
    return value;
}

/* Makes the payload that an operation expects, or any bytes. @return its length. */
static size_t payload_of(struct input *in, uint8_t how, unsigned char *to)
{
    static const char *const names[] = {"touch", "k", "g"};
    if (how == 0)
        return 0;
    if (how <= 3) {
        memcpy(to, names[how - 1], strlen(names[how - 1]));
        return strlen(names[how - 1]);
    }
    if (how == 4) { /* parameters of touch() */
        uint64_t p = value_of(in), n = value_of(in);
        memcpy(to, &p, 8);
        memcpy(to + 8, &n, 4);
        return 12;
    }
    size_t n = how;
    for (size_t i = 0; i < n; i++)
        to[i] = byte_of(in);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = {data, data + bytes};
    static struct {
        struct vp_request fixed;
        unsigned char payload[256];
    } packet;
    start();
    memset(result, 0, sizeof result);
    results = 0;
    for (int c = 0; c < CLIENTS; c++)
        connect_client(c);
    while (in.at < in.end) {
        uint8_t op = byte_of(&in), c = byte_of(&in) % CLIENTS, how = byte_of(&in);
        if (op == TAKE) {
            take();
        } else if (op == RAW) {
            size_t n = how < in.end - in.at ? how : (size_t)(in.end - in.at);
            exchange(c, in.at, n);
            in.at += n;
        } else {
            memset(&packet, 0, sizeof packet);
            packet.fixed.op = op % (VP_OPS + 1);
            packet.fixed.stream = value_of(&in);
            for (int i = 0; i < VP_ARGUMENTS; i++)
                packet.fixed.a[i] = value_of(&in);
            packet.fixed.api[0] = how & 1 ? 'f' : '\0';
            packet.fixed.payload_bytes = (uint32_t)payload_of(&in, how, packet.payload);
            /* Limits the grid: a huge grid is not a fault of the device, but takes long. */
            uint64_t *a = packet.fixed.a;
            if (op % (VP_OPS + 1) == VP_LAUNCH &&
                (double)(uint32_t)a[1] * (double)(a[1] >> 32) * (double)(uint32_t)a[2] > BLOCKS_MAX)
                a[1] = (a[1] & 7) | (uint64_t)1 << 32, a[2] = (a[2] & ~UINT64_C(0xffffffff)) | 1;
            exchange(c, &packet, sizeof packet.fixed + packet.fixed.payload_bytes);
        }
    }
    for (int c = 0; c < CLIENTS; c++)
        disconnect_client(c);
    take();
    return 0;
}
