/* Tests the device's records, which it sends to its owner over the control channel: what they
 * contain, what ended clients leave behind, and the charge for the host's own work. */
#include "vgpu/device/tests/client.h"
#include "vgpu/fatbin/tests/image.h"

#include "base/tsv.h"
#include "vgpu/device/session_proof.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(records, .init = device_start, .fini = device_end, .timeout = 60);

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry store(.param .u64 p) {\n.reg .b64 %q<2>;\n"
                          "ld.param.u64 %q1, [p];\nst.global.u64 [%q1], %q1;\nret;\n}\n"
                          ".visible .entry count(.param .u64 p) {\n.reg .b64 %q<2>;\n"
                          ".reg .pred %p1;\nld.param.u64 %q1, [p];\n"
                          "again:\nsub.u64 %q1, %q1, 1;\nsetp.ne.u64 %p1, %q1, 0;\n"
                          "@%p1 bra again;\nret;\n}\n";

/* The rows of a recorded table; the columns are found by name. */
struct records {
    struct tsv trace, faults, counters;
    uint64_t lost;
};

static struct records take(void)
{
    struct vg_process_record texts;
    struct st_error err;
    struct records r = {0};
    cr_assert(vg_process_ask(&device));
    cr_assert_eq(vg_process_answer(&device, &texts, &err), ST_OK, "%s", err.what);
    cr_assert_eq(tsv_parse(texts.trace, texts.trace_bytes, "trace", &r.trace, &err), ST_OK);
    cr_assert_eq(tsv_parse(texts.faults, texts.faults_bytes, "faults", &r.faults, &err), ST_OK);
    cr_assert_eq(tsv_parse(texts.counters, texts.counters_bytes, "counters", &r.counters, &err),
                 ST_OK);
    r.lost = texts.lost;
    free(texts.work);
    free(texts.proof);
    return r;
}

static void records_free(struct records *r)
{
    tsv_free(&r->trace);
    tsv_free(&r->faults);
    tsv_free(&r->counters);
}

static const char *cell(const struct tsv *t, size_t row, const char *column)
{
    cr_assert_lt(row, t->rows);
    return tsv_cell(t, row, tsv_column(t, column));
}

/* Makes a client and loads the kernel; removes its calls so far from the records. */
static int client_with(const char *name, uint64_t *kernel)
{
    struct image image;
    uint64_t module;
    int fd = client();
    image_start(&image);
    image_add(&image, FATBIN_PTX, 75, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    cr_assert_eq(client_load(fd, image.bytes, image.n, &module), VP_OK);
    *kernel = client_kernel(fd, module, name);
    free(image.bytes);
    struct records r = take();
    records_free(&r);
    return fd;
}

static int client_with_kernel(uint64_t *kernel)
{
    return client_with("store", kernel);
}

static void launch(int fd, uint64_t kernel, uint64_t to)
{
    struct vp_request q = {
        .op = VP_LAUNCH,
        .a = {kernel, 1 | UINT64_C(1) << 32, 1 | UINT64_C(1) << 32, 32 | UINT64_C(1) << 32},
        .payload_bytes = 8};
    cr_assert_eq(ask(fd, &q, &to, NULL), VP_OK);
}

Test(records, are_those_since_the_last_time)
{
    uint64_t kernel;
    int fd = client_with_kernel(&kernel);
    uint64_t at = allocate(fd, 64, VP_OK);
    launch(fd, kernel, at);
    launch(fd, kernel, at);
    struct records r = take();
    cr_assert_eq(r.trace.rows, 3, "cudaMalloc and two kernels");
    cr_assert_str_eq(cell(&r.trace, 0, "name"), "cudaMalloc");
    cr_assert_str_eq(cell(&r.trace, 2, "kind"), "kernel");
    cr_assert_str_eq(cell(&r.trace, 2, "name"), "store");
    cr_assert_str_eq(cell(&r.trace, 2, "block"), "32x1x1");
    cr_assert_str_eq(cell(&r.counters, 0, "launches"), "2");
    cr_assert_eq(r.faults.rows, 0);
    records_free(&r);
    launch(fd, kernel, at);
    r = take();
    cr_assert_eq(r.trace.rows, 1);
    cr_assert_str_eq(cell(&r.counters, 0, "launches"), "1");
    records_free(&r);
    r = take();
    cr_assert_eq(r.trace.rows + r.faults.rows + r.counters.rows, 0);
    records_free(&r);
    close(fd);
}

Test(records, cannot_be_cleared_by_a_client)
{
    uint64_t kernel;
    int fd = client_with_kernel(&kernel);
    launch(fd, kernel, allocate(fd, 64, VP_OK));
    launch(fd, kernel, 0);
    cr_assert_eq(ask_op(fd, VP_DEVICE_SYNC, 0), VP_ILLEGAL_ADDRESS);
    cr_assert_eq(ask_op(fd, VP_RESET, 0), VP_OK);
    close(fd);
    is_alive(); /* afterwards the device has noticed the other client's end */
    struct records r = take();
    cr_assert_eq(r.faults.rows, 1);
    cr_assert_str_eq(cell(&r.faults, 0, "kind"), "invalid_address");
    cr_assert_str_eq(cell(&r.counters, 0, "launches"), "2");
    records_free(&r);
}

Test(records, have_each_finding_once)
{
    uint64_t kernel[2];
    for (int i = 0; i < 2; i++) {
        int fd = client_with_kernel(&kernel[i]);
        launch(fd, kernel[i], 0);
        struct records r = take();
        cr_assert_eq(r.faults.rows, 1);
        cr_assert_str_eq(cell(&r.faults, 0, "count"), "1");
        records_free(&r);
        r = take();
        cr_assert_eq(r.faults.rows, 0);
        records_free(&r);
        close(fd);
    }
}

/* The device ignores the size that a client claims for a copy: the bytes moved take time. */
Test(records, time_copies_by_the_bytes_moved)
{
    uint64_t kernel;
    int fd = client_with_kernel(&kernel);
    uint64_t at = allocate(fd, 1 << 20, VP_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(ask_op(fd, VP_COPY_OUT, at, 1 << 20, 1, 0, 0, 0, 0), VP_OK);
    cr_assert_eq(ask_op(fd, VP_FENCE, 0), VP_OK);
    struct records r = take();
    cr_assert_eq(r.trace.rows, 2);
    cr_assert_str_eq(cell(&r.trace, 1, "kind"), "copy_dtoh");
    cr_assert_str_eq(cell(&r.trace, 1, "bytes"), "3145728");
    cr_assert_gt(strtod(cell(&r.trace, 1, "end_ns"), NULL),
                 50000 + strtod(cell(&r.trace, 1, "start_ns"), NULL));
    cr_assert_lt(r.trace.columns, 20, "columns that the owner does not read are omitted");
    records_free(&r);
    cr_assert_eq(ask_op(fd, VP_COPY_IN, at, 100, 1, 0, 0, 0, 0), VP_OK);
    r = take();
    cr_assert_eq(r.trace.rows, 1, "the copy is recorded even if no request follows it");
    records_free(&r);
    close(fd);
}

static int copy_piece(int fd, const char *api, uint64_t at, bool last)
{
    struct vp_request q = {.op = VP_COPY_IN, .a = {at, 1 << 20, 1, 0, 0, last}};
    snprintf(q.api, sizeof q.api, "%s", api);
    return ask(fd, &q, NULL, NULL);
}

/* The call of a copy lasts as long as all its pieces together. */
Test(records, have_one_call_for_a_copy_of_many_pieces)
{
    uint64_t kernel;
    int fd = client_with_kernel(&kernel);
    uint64_t at = allocate(fd, 1 << 20, VP_OK);
    records_free(&(struct records[]){take()}[0]);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(copy_piece(fd, i ? "" : "cudaMemcpy", at, i == 2), VP_OK);
    struct records r = take();
    cr_assert_eq(r.trace.rows, 2);
    cr_assert_str_eq(cell(&r.trace, 0, "kind"), "copy_htod");
    cr_assert_str_eq(cell(&r.trace, 0, "bytes"), "3145728");
    cr_assert_str_eq(cell(&r.trace, 1, "name"), "cudaMemcpy");
    cr_assert_lt(strtod(cell(&r.trace, 1, "start_ns"), NULL),
                 strtod(cell(&r.trace, 0, "start_ns"), NULL));
    cr_assert_geq(strtod(cell(&r.trace, 1, "end_ns"), NULL),
                  strtod(cell(&r.trace, 0, "end_ns"), NULL));
    records_free(&r);

    cr_assert_eq(copy_piece(fd, "cudaMemcpyAsync", at, false), VP_OK);
    cr_assert_eq(ask_op(fd, VP_FENCE, 0), VP_OK);
    r = take();
    cr_assert_eq(r.trace.rows, 2, "an unfinished copy has its call, too");
    cr_assert_str_eq(cell(&r.trace, 1, "name"), "cudaMemcpyAsync");
    records_free(&r);

    cr_assert_neq(copy_piece(fd, "cudaMemcpy", 1, false), VP_OK);
    r = take();
    cr_assert_eq(r.trace.rows, 1, "a failed copy has its call, too");
    cr_assert_str_neq(cell(&r.trace, 0, "error"), "0");
    records_free(&r);
    close(fd);
}

Test(records, do_not_go_back_in_time_with_a_reset)
{
    uint64_t kernel;
    int fd = client_with_kernel(&kernel);
    uint64_t at = allocate(fd, 1 << 20, VP_OK);
    launch(fd, kernel, at);
    cr_assert_eq(ask_op(fd, VP_RESET, 0), VP_OK);
    allocate(fd, 100, VP_OK);
    struct records r = take();
    double kernel_end = strtod(cell(&r.trace, 1, "end_ns"), NULL);
    cr_assert_geq(strtod(cell(&r.trace, 2, "start_ns"), NULL), kernel_end);
    records_free(&r);
    close(fd);
}

Test(records, show_names_that_a_terminal_can_take)
{
    int fd = client();
    struct vp_request q = {.op = VP_CALL, .api = "\x1b[2Jcall\t\n\x80"};
    cr_assert_eq(ask(fd, &q, NULL, NULL), VP_OK);
    struct records r = take();
    cr_assert_str_eq(cell(&r.trace, 0, "name"), "?[2Jcall???");
    records_free(&r);
    close(fd);
}

/* ---- nothing is left behind ------------------------------------------------------------------ */

/* All memory that the device shares has descriptors, but no names. */
static int open_descriptors(pid_t pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    cr_assert_not_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Waits until the device has handled the last request and the end of the clients that hung up, and
 * has closed their descriptors: between two answers to @p fd, it checks every client once. */
static void settle(int fd)
{
    for (int i = 0; i < 3; i++)
        cr_assert_eq(ask_op(fd, VP_FENCE, 0), VP_OK);
}

/* Kills clients that have memory, shared memory, a module and an unfinished copy. */
Test(records, a_killed_client_leaves_nothing)
{
    int stays = client();
    client_window(stays);
    settle(stays);
    int before = open_descriptors(device.pid);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            uint64_t kernel;
            int fd = client_with_kernel(&kernel);
            struct vp_request q = {.op = VP_COPY_IN,
                                   .a = {allocate(fd, 4 << 20, VP_OK), 4 << 20, 1, 0, 0, 0, 0}};
            ask_op(fd, VP_ALLOC_SHARED, 1 << 20, 1);
            send(fd, &q, sizeof q, 0);
            raise(SIGKILL);
        }
        int status;
        waitpid(pid, &status, 0);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    settle(stays);
    cr_assert_eq(open_descriptors(device.pid), before);
    close(stays);
}

/* A kernel that would run for hours does not outlive its client. */
Test(records, a_killed_client_takes_its_kernel_along)
{
    uint64_t kernel;
    int fd = client_with("count", &kernel);
    launch(fd, kernel, UINT64_C(1) << 40);
    close(fd);
    is_alive();
    const char *said = device_said();
    cr_assert(strstr(said, "the program ended while count was running"), "%s", said);
}

/* ---- the host's own work -------------------------------------------------------------------- */

static uint64_t event_of(int fd)
{
    struct vp_request q = {.op = VP_EVENT_CREATE};
    struct vp_reply reply;
    cr_assert_eq(ask(fd, &q, NULL, &reply), VP_OK);
    return reply.r[0];
}

static void burn(double ms)
{
    struct timespec used;
    double from_ms = -1, now_ms;
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        now_ms = 1e3 * (double)used.tv_sec + 1e-6 * (double)used.tv_nsec;
        from_ms = from_ms < 0 ? now_ms : from_ms;
    } while (now_ms - from_ms < ms);
}

/* The modelled milliseconds between two events, with @p pieces pieces of work and as many calls
 * between them. */
static double timed(int fd, int pieces, double piece_ms)
{
    const uint64_t events[2] = {event_of(fd), event_of(fd)};
    struct vp_reply reply;
    double ms;
    cr_assert_eq(ask_op(fd, VP_EVENT_RECORD, events[0]), VP_OK);
    for (int i = 0; i < pieces; i++) {
        burn(piece_ms);
        cr_assert_eq(ask(fd, &(struct vp_request){.op = VP_CALL, .api = "call"}, NULL, NULL),
                     VP_OK);
    }
    cr_assert_eq(ask_op(fd, VP_EVENT_RECORD, events[1]), VP_OK);
    cr_assert_eq(ask_op(fd, VP_EVENT_SYNC, events[1]), VP_OK);
    struct vp_request q = {.op = VP_EVENT_ELAPSED, .a = {events[0], events[1]}};
    cr_assert_eq(ask(fd, &q, NULL, &reply), VP_OK);
    memcpy(&ms, &reply.r[0], sizeof ms);
    struct records r = take();
    records_free(&r);
    return ms;
}

Test(records, charge_the_host_for_more_work_than_calls_need)
{
    int fd = client();
    const double calls_ms = timed(fd, 500, 0);
    cr_assert_eq(memcmp(&calls_ms, &(double){timed(fd, 500, 0)}, sizeof calls_ms), 0, "the same");
    cr_assert_eq(memcmp(&calls_ms, &(double){timed(fd, 500, 0.02)}, sizeof calls_ms), 0, "also");
    cr_assert_str_eq(device_said(), "");
    const double once_ms = timed(fd, 1, 100), often_ms = timed(fd, 100, 1);
    cr_assert(once_ms > 70 && once_ms < 120, "%g", once_ms);
    cr_assert(often_ms > 60 && often_ms < 120, "%g", often_ms);
    const char *text = device_said();
    cr_assert(strstr(text, "the program itself used 1"), "%s", text);
    close(fd);
}

/* ---- the convolutions to prove ---------------------------------------------------------------- */

Test(proof, shapes_are_read_with_an_output_or_other_shapes)
{
    struct session_proved p[SESSION_PROVED];
    cr_assert(session_proof_read("2,24,12,21,33,5", p));
    cr_assert(p[0].shape.W == 33 && p[0].output == -1 && !p[0].next);
    cr_assert(session_proof_read("2,24,12,21,33,5:7", p));
    cr_assert(p[0].output == 7 && !p[0].next);
    cr_assert(session_proof_read("2,24,12,21,33,5;2,12,1,58,70,4", p));
    cr_assert(p[0].shape.K == 5 && p[0].output == -1 && p[0].next == &p[1]);
    cr_assert(p[1].shape.B == 2 && p[1].shape.K == 4 && !p[1].next);
    cr_assert(!p[0].tiles && !p[1].tiles);
    cr_assert(session_proof_read("tiles;2,24,12,21,33,5;2,12,1,58,70,4", p));
    cr_assert(p[0].tiles && p[0].shape.B == 2 && p[1].tiles && p[1].shape.M == 12);
    cr_assert(session_proof_read("2,24,12,21,33,5;2,12,1,58,70,5;4,22,12,8,5,1", p));
    cr_assert(p[1].next == &p[2] && p[2].shape.B == 4 && !p[2].next);
    static const char *const wrong[] = {"",
                                        "tiles;",
                                        "2,24,12,21,33,5;tiles;2,24,12,21,33,5",
                                        "2,24,12,21,33",
                                        "2,24,12,21,33,5;",
                                        "2,24,12,21,33,5:",
                                        "2,24,12,21,33,5:-1",
                                        "2,24,12,21,33,5x",
                                        "2,24,12,4,33,5",
                                        "2,4,2,6,6,5;2,4,2,6,6,5;2,4,2,6,6,5;2,4,2,6,6,5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_not(session_proof_read(wrong[i], p), "%s", wrong[i]);
}
