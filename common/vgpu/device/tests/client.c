#include "vgpu/device/tests/client.h"

#include "vgpu/device/descriptors.h"
#include "vgpu/device/server.h"
#include "vgpu/gpus/gpu_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct vg_process device;
static int said;

void device_start(void)
{
    int door[2], control[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, door), 0);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
    said = memfd_create("said", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        static struct session_shared shared;
        struct st_error err;
        close(door[1]);
        close(control[1]);
        dup2(said, STDERR_FILENO);
        shared.cores = 1;
        shared.charges_host = true;
        if (vg_profile_read(&shared.profile, "common/vgpu/gpus", "rtx-4060-laptop", &err) ||
            record_open(&shared.record, (const char *[RECORD_TABLES]){0}, true, &err) ||
            server_run(&shared, door[0], control[0], &err))
            _exit(9);
        record_close(shared.record);
        exit(0);
    }
    close(door[0]);
    close(control[0]);
    device = (struct vg_process){.pid = pid, .door = door[1], .control = control[1]};
    char ready;
    cr_assert_eq(recv(device.door, &ready, 1, 0), 1);
}

void device_end(void)
{
    int status;
    close(device.door);
    close(device.control);
    cr_assert_eq(waitpid(device.pid, &status, 0), device.pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x: %s", status,
              device_said());
    close(said);
}

const char *device_said(void)
{
    static char text[1 << 16];
    static off_t read_to;
    ssize_t n = pread(said, text, sizeof text - 1, read_to);
    text[n > 0 ? n : 0] = '\0';
    read_to += n > 0 ? n : 0;
    return text;
}

void door_send(int fd)
{
    cr_assert_eq(descriptor_send(device.door, &(struct iovec){"C", 1}, 1, fd, 0), 1);
}

int client(void)
{
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    door_send(pair[1]);
    close(pair[1]);
    return pair[0];
}

int ask_fd(int fd, struct vp_request *q, const void *payload, struct vp_reply *reply, int *passed)
{
    static unsigned char room[VP_PAYLOAD_MAX];
    struct iovec out[2] = {{q, sizeof *q}, {(void *)payload, q->payload_bytes}};
    struct iovec in[2] = {{reply, sizeof *reply}, {room, sizeof room}};
    *passed = -1;
    if (descriptor_send(fd, out, payload ? 2 : 1, -1, 0) < 0)
        return -1;
    return descriptor_receive(fd, in, 2, passed, 0) < (ssize_t)sizeof *reply ? -1 : reply->error;
}

int ask(int fd, struct vp_request *q, const void *payload, struct vp_reply *reply)
{
    struct vp_reply unused;
    int passed, error = ask_fd(fd, q, payload, reply ? reply : &unused, &passed);
    if (passed >= 0)
        close(passed);
    return error;
}

unsigned char *client_window(int fd)
{
    struct vp_request q = {.op = VP_HELLO, .a = {VP_VERSION}};
    struct vp_reply reply;
    int passed;
    cr_assert_eq(ask_fd(fd, &q, NULL, &reply, &passed), VP_OK);
    void *at = mmap(NULL, VP_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0);
    cr_assert_neq(at, MAP_FAILED);
    close(passed);
    return at;
}

uint64_t allocate(int fd, uint64_t bytes, int want)
{
    struct vp_request q = {.op = VP_ALLOC, .a = {bytes}, .api = "cudaMalloc"};
    struct vp_reply reply;
    cr_assert_eq(ask(fd, &q, NULL, &reply), want);
    return reply.r[0];
}

int client_load(int fd, const void *image, size_t bytes, uint64_t *module)
{
    unsigned char *window = client_window(fd);
    memcpy(window, image, bytes);
    munmap(window, VP_WINDOW_BYTES);
    int error = ask_op(fd, VP_MODULE_DATA, 0, bytes, bytes);
    struct vp_reply reply;
    if (!error)
        error = ask(fd, &(struct vp_request){.op = VP_MODULE_LOAD}, NULL, &reply);
    *module = reply.r[0];
    return error;
}

uint64_t client_kernel(int fd, uint64_t module, const char *name)
{
    struct vp_request q = {.op = VP_KERNEL, .a = {module}, .payload_bytes = (uint32_t)strlen(name)};
    struct vp_reply reply;
    cr_assert_eq(ask(fd, &q, name, &reply), VP_OK);
    return reply.r[0];
}

void is_alive(void)
{
    int fd = client();
    cr_assert_neq(allocate(fd, 100, VP_OK), 0);
    close(fd);
}
