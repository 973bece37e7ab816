/* Tests the order of streams, and the virtual time of the host's threads. */
#include "vgpu/device/tests/client.h"
#include "vgpu/fatbin/tests/image.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(streams, .init = device_start, .fini = device_end, .timeout = 120);

enum { BYTES = 64 };

static uint64_t make(int fd, enum vp_op op, uint64_t flags)
{
    struct vp_reply reply;
    cr_assert_eq(ask(fd, &(struct vp_request){.op = (uint16_t)op, .a = {flags}}, NULL, &reply),
                 VP_OK);
    return reply.r[0];
}

static int ask_in(int fd, enum vp_op op, uint64_t stream, const uint64_t a[VP_ARGUMENTS])
{
    struct vp_request q = {.op = (uint16_t)op, .stream = stream};
    memcpy(q.a, a, sizeof q.a);
    return ask(fd, &q, NULL, NULL);
}

#define in_stream(fd, op, stream, ...)                                                             \
    cr_assert_eq(ask_in(fd, op, stream, (const uint64_t[VP_ARGUMENTS]){__VA_ARGS__}), VP_OK)

/* Clears @p seen's source, sets it to 7 in one stream, and copies it in another. @return what was
 * copied */
static unsigned char copied(int fd, enum vg_stream_order order, bool waits)
{
    unsigned char *const window = client_window(fd);
    const uint64_t from = allocate(fd, BYTES, VP_OK), to = allocate(fd, BYTES, VP_OK);
    const uint64_t first = make(fd, VP_STREAM_CREATE, 1), second = make(fd, VP_STREAM_CREATE, 1);
    const uint64_t event = make(fd, VP_EVENT_CREATE, 0);
    in_stream(fd, VP_FILL, 0, from, 1, BYTES, 1, BYTES);
    vg_process_order(&device, (struct vg_order){order, VG_BLOCKS_BY_NUMBER});
    is_alive(); /* the device has read the order */
    in_stream(fd, VP_FILL, first, from, 7, BYTES, 1, BYTES);
    in_stream(fd, VP_EVENT_RECORD, first, event);
    if (waits)
        in_stream(fd, VP_STREAM_WAIT, second, event);
    in_stream(fd, VP_COPY_DEVICE, second, to, from, BYTES, 1, BYTES, BYTES, VP_ASYNC);
    in_stream(fd, VP_COPY_OUT, 0, to, BYTES, 1, BYTES, 0, 1);
    vg_process_order(&device, (struct vg_order){VG_ORDER_CALLS, VG_BLOCKS_BY_NUMBER});
    is_alive();
    return window[0];
}

Test(streams, work_that_waits_for_no_other_stream_may_run_first)
{
    int fd = client();
    cr_assert_eq(copied(fd, VG_ORDER_CALLS, false), 7);
    cr_assert_eq(copied(fd, VG_ORDER_FIRST_STREAM, false), 7);
    cr_assert_eq(copied(fd, VG_ORDER_LAST_STREAM, false), 1, "the copy runs before the fill");
    cr_assert_eq(copied(fd, VG_ORDER_LAST_STREAM, true), 7, "it waits for an event");
    close(fd);
}

/* Copies 7s in a stream, and stores an address over them with a kernel in the legacy default stream.
 * @return whether the 7s remained */
static bool copy_was_last(enum vg_stream_order order, uint64_t flags)
{
    static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry store(.param .u64 p) {\n.reg .b64 %q<2>;\n"
                              "ld.param.u64 %q1, [p];\nst.global.u64 [%q1], %q1;\nret;\n}\n";
    int fd = client();
    struct image image;
    uint64_t module;
    image_start(&image);
    image_add(&image, FATBIN_PTX, 75, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    cr_assert_eq(client_load(fd, image.bytes, image.n, &module), VP_OK);
    free(image.bytes);
    unsigned char *const window = client_window(fd);
    const uint64_t from = allocate(fd, BYTES, VP_OK), to = allocate(fd, BYTES, VP_OK);
    const uint64_t stream = make(fd, VP_STREAM_CREATE, flags);
    struct vp_request q = {.op = VP_LAUNCH,
                           .a = {client_kernel(fd, module, "store"), 1 | UINT64_C(1) << 32,
                                 1 | UINT64_C(1) << 32, 1 | UINT64_C(1) << 32},
                           .payload_bytes = 8};
    in_stream(fd, VP_FILL, 0, from, 7, BYTES, 1, BYTES);
    vg_process_order(&device, (struct vg_order){order, VG_BLOCKS_BY_NUMBER});
    is_alive();
    in_stream(fd, VP_COPY_DEVICE, stream, to, from, BYTES, 1, BYTES, BYTES, VP_ASYNC);
    cr_assert_eq(ask(fd, &q, &to, NULL), VP_OK);
    in_stream(fd, VP_COPY_OUT, 0, to, BYTES, 1, BYTES, 0, 1);
    vg_process_order(&device, (struct vg_order){VG_ORDER_CALLS, VG_BLOCKS_BY_NUMBER});
    is_alive();
    const bool last = memcmp(window, "\7\7\7\7\7\7\7\7", 8) == 0;
    close(fd);
    return last;
}

Test(streams, the_default_stream_does_not_wait_for_non_blocking_ones)
{
    enum { BLOCKING, NON_BLOCKING };
    cr_expect_not(copy_was_last(VG_ORDER_CALLS, NON_BLOCKING));
    cr_expect_not(copy_was_last(VG_ORDER_LAST_STREAM, NON_BLOCKING));
    cr_expect(copy_was_last(VG_ORDER_FIRST_STREAM, NON_BLOCKING), "the kernel runs first");
    cr_expect_not(copy_was_last(VG_ORDER_FIRST_STREAM, BLOCKING), "the kernel waits");
}

Test(streams, kept_work_runs_without_a_further_call)
{
    int fd = client(), memory;
    struct vp_reply reply;
    struct vp_request q = {.op = VP_ALLOC_SHARED, .a = {BYTES, 1}, .api = "cudaMallocManaged"};
    cr_assert_eq(ask_fd(fd, &q, NULL, &reply, &memory), VP_OK);
    const uint64_t managed = reply.r[0], stream = make(fd, VP_STREAM_CREATE, 1);
    vg_process_order(&device, (struct vg_order){VG_ORDER_LAST_STREAM, VG_BLOCKS_BY_NUMBER});
    is_alive();
    in_stream(fd, VP_FILL, stream, managed, 7, BYTES, 1, BYTES);
    unsigned char byte = 0;
    for (int i = 0; i < 600 && byte != 7; i++) {
        usleep(100000);
        cr_assert_eq(pread(memory, &byte, 1, 0), 1);
    }
    cr_assert_eq(byte, 7);
    close(memory);
    close(fd);
}

/* Two threads copy in opposite directions, and wait. @return the time of both in ms */
static double two_copies(int fd, const uint32_t thread[2], bool first_ends)
{
    const uint64_t large = 64 << 20, memory = allocate(fd, large, VP_OK);
    const uint64_t start = make(fd, VP_EVENT_CREATE, 0), end = make(fd, VP_EVENT_CREATE, 0);
    struct vp_request q = {.op = VP_ALLOC_SHARED, .a = {large, 0}, .api = "cudaMallocHost"};
    struct vp_reply reply;
    double ms;
    cr_assert_eq(ask(fd, &q, NULL, &reply), VP_OK);
    const uint64_t host = reply.r[0];
    in_stream(fd, VP_EVENT_RECORD, 0, start);
    for (int i = 0; i < 2; i++) {
        q = (struct vp_request){.op = VP_COPY_SHARED,
                                .thread = thread[i],
                                .stream = make(fd, VP_STREAM_CREATE, 1),
                                .a = {i ? host : memory, i ? memory : host, large, 1, large, large,
                                      i ? VP_TO_HOST : 0}};
        cr_assert_eq(ask(fd, &q, NULL, NULL), VP_OK);
        q = (struct vp_request){.op = VP_THREAD_END, .thread = thread[i]};
        if (i || first_ends)
            cr_assert_eq(ask(fd, &q, NULL, NULL), VP_OK);
    }
    in_stream(fd, VP_EVENT_RECORD, 0, end);
    in_stream(fd, VP_EVENT_SYNC, 0, end);
    q = (struct vp_request){.op = VP_EVENT_ELAPSED, .a = {start, end}};
    cr_assert_eq(ask(fd, &q, NULL, &reply), VP_OK);
    memcpy(&ms, &reply.r[0], sizeof ms);
    return ms;
}

Test(streams, threads_of_the_host_wait_at_the_same_time)
{
    int fd = client();
    const double one = two_copies(fd, (const uint32_t[]){0, 0}, false);
    const double two = two_copies(fd, (const uint32_t[]){1, 2}, false);
    const double after = two_copies(fd, (const uint32_t[]){3, 4}, true);
    cr_assert_float_eq(two, one / 2, one / 20, "%g and %g ms", one, two);
    cr_assert_float_eq(after, one, one / 20, "the main thread may have waited for the first");
    close(fd);
}
