/* Tests that the device process survives clients that send wrong requests. */
#include "base/rng.h"
#include "vgpu/device/handles.h"
#include "vgpu/device/tests/client.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(server, .init = device_start, .fini = device_end, .timeout = 120);

Test(server, two_clients_have_memory_of_their_own)
{
    int a = client(), b = client();
    uint64_t p = allocate(a, 1000, VP_OK);
    struct vp_request q = {.op = VP_FREE, .a = {p}};
    cr_assert_eq(ask(b, &q, NULL, NULL), VP_INVALID_VALUE, "not b's");
    cr_assert_eq(ask(a, &q, NULL, NULL), VP_OK);
    close(a);
    close(b);
}

Test(server, more_memory_than_the_profile_has_is_refused)
{
    int fd = client();
    allocate(fd, UINT64_C(9) << 30, VP_OUT_OF_MEMORY);
    allocate(fd, UINT64_MAX, VP_OUT_OF_MEMORY);
    allocate(fd, 1 << 20, VP_OK);
    close(fd);
}

Test(server, shared_memory_has_the_limit_of_the_process)
{
    const uint64_t part = 16 << 20;
    int a = client(), b = client();
    struct vp_request q = {.op = VP_ALLOC_SHARED, .a = {part, 1}, .api = "cudaMallocManaged"};
    struct vp_reply reply;
    vg_process_limit(&device, 3 * part);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(ask(i % 2 ? a : b, &q, NULL, &reply), VP_OK);
    cr_assert_eq(ask(a, &q, NULL, NULL), VP_OUT_OF_MEMORY, "all clients' together");
    cr_assert(strstr(device_said(), "the limit of page-locked and managed memory is 48 MiB"));
    cr_assert_eq(ask_op(b, VP_FREE, reply.r[0], VP_MEMORY_MANAGED), VP_OK);
    cr_assert_eq(ask(a, &q, NULL, NULL), VP_OK);
    close(a);
    for (int i = 0; i < 3; i++) /* the device notices a client's end between two requests */
        ask_op(b, VP_FENCE, 0);
    cr_assert_eq(ask(b, &q, NULL, NULL), VP_OK, "memory of a client that has ended does not count");
    close(b);
}

Test(server, malformed_packets_end_the_connection_only)
{
    struct vp_request q = {.op = VP_ALLOC};
    int fd = client();
    cr_assert_eq(send(fd, &q, 10, 0), 10);
    char byte;
    cr_assert_eq(recv(fd, &byte, 1, 0), 0, "too short");
    close(fd);
    fd = client();
    q.op = 4711;
    cr_assert_eq(ask(fd, &q, NULL, NULL), -1, "no such operation");
    close(fd);
    fd = client();
    q.op = VP_KERNEL;
    q.payload_bytes = 77;
    cr_assert_eq(ask(fd, &q, NULL, NULL), -1, "a payload that was not sent");
    close(fd);
    is_alive();
}

Test(server, wrong_descriptors_at_the_door_are_closed)
{
    int fds[2];
    cr_assert_eq(pipe(fds), 0);
    door_send(fds[0]);
    cr_assert_eq(send(device.door, "xyz", 3, 0), 3);
    close(fds[0]);
    is_alive();
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(write(fds[1], "x", 1), -1);
    cr_assert_eq(errno, EPIPE, "the device has closed its copy");
    close(fds[1]);
}

Test(server, a_client_may_die_in_the_middle_of_a_copy)
{
    for (int i = 0; i < 20; i++) {
        int fd = client();
        struct vp_request q = {.op = VP_COPY_IN,
                               .a = {allocate(fd, 4 << 20, VP_OK), 4 << 20, 1, 0, 0, 0, 0}};
        cr_assert_eq(send(fd, &q, sizeof q, 0), (ssize_t)sizeof q);
        close(fd);
    }
    is_alive();
}

Test(server, a_client_that_never_reads_does_not_stop_the_others)
{
    int fd = client();
    struct vp_request q = {.op = VP_CALL};
    while (send(fd, &q, sizeof q, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
    is_alive();
    close(fd);
}

Test(server, any_arguments_get_an_answer)
{
    struct rng r = rng_make(6, 0);
    const uint64_t special[] = {0,
                                1,
                                2,
                                7,
                                4096,
                                VP_WINDOW_BYTES,
                                UINT64_MAX,
                                UINT64_MAX - 1,
                                VG_GLOBAL_BASE,
                                INT64_MAX,
                                UINT64_C(1) << 32,
                                0x100};
    int fd = client(), hang_ups = 0;
    uint64_t p = allocate(fd, 5000, VP_OK);
    static char payload[2000];
    for (int i = 0; i < 30000; i++) {
        struct vp_request q = {.op = (uint16_t)rng_range(&r, 0, VP_OPS - 1),
                               .payload_bytes = (uint32_t)rng_range(&r, 0, 3) * 500,
                               .stream = special[rng_range(&r, 0, 11)]};
        for (int k = 0; k < VP_ARGUMENTS; k++) {
            int how = rng_range(&r, 0, 3);
            q.a[k] = how == 0   ? rng_u64(&r)
                     : how == 1 ? p + (uint64_t)rng_range(&r, -10, 5010)
                                : special[rng_range(&r, 0, 11)];
        }
        /* Limits sizes: a valid but huge allocation or fat binary only takes time and memory. */
        if (q.op == VP_ALLOC_SHARED || q.op == VP_MODULE_DATA)
            q.a[q.op == VP_MODULE_DATA ? 2 : 0] %= 100000;
        if (ask(fd, &q, payload, NULL) < 0) {
            hang_ups++;
            close(fd);
            fd = client();
            p = allocate(fd, 5000, VP_OK);
        }
    }
    close(fd);
    is_alive();
    cr_assert_lt(hang_ups, 5, "well-formed packets do not end a connection: %d", hang_ups);
}

Test(handles, without_end_come_to_one)
{
    struct handles table = {.base = 0x100};
    int object;
    for (size_t i = 0; i < HANDLES_MAX; i++)
        cr_assert_eq(handles_add(&table, &object), 0x100 + i);
    cr_assert_eq(handles_add(&table, &object), 0);
    cr_assert_eq(handles_remove(&table, 0x105), &object);
    cr_assert_eq(handles_add(&table, &object), 0x100 + HANDLES_MAX, "no number is used twice");
    cr_assert_eq(handles_add(&table, &object), 0);
    handles_clear(&table, NULL);
}
