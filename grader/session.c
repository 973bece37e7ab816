/* How a session stays in charge of a hostile process:
 *
 * 1. The runner and all that it starts are in a box (grader/sandbox/box.h), which ends with the
 *    session and with the grader.
 * 2. Every wait is a poll() on three things: the reply channel, the output pipe (drained all the
 *    time, so that printing never blocks) and the process itself (a pidfd); a few times a second
 *    the memory of all processes together is looked at.
 * 3. A reply counts only with the nonce of its request. Each request has a new one.
 * 4. On the reply the whole box is stopped before anything is compared: a helper thread or process
 *    cannot finish the work after the clock has stopped.
 */
#include "grader/session.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/parallel.h"
#include "grader/finding.h"
#include "grader/sandbox/environment.h"
#include "grader/sandbox/filter.h"
#include "grader/sandbox/printable.h"
#include "grader/source_place.h"
#include "nn/oracle.h"
#include "runner/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_LIMIT_S = 20, RECORD_LIMIT_S = 30, LOOK_INTERVAL_MS = 100 };

/* Reads what the student's code has printed, without waiting. */
static void drain(struct gr_session *s)
{
    gr_output_drain(&s->output, &s->pipe);
}

/* ---- the process ------------------------------------------------------------------------------
 */

static struct gr_limits limits_for(enum runner_device device)
{
    struct gr_limits limits = {.file_bytes = 64 << 20, .files = 256};
    limits.processes = 64 + 4 * (unsigned)parallel_cores();
    /* The virtual GPU's memory, and a real GPU's address space, are no heap of the student's. */
    if (device == RUNNER_ON_CPU)
        limits.heap_bytes = gr_box_memory_limit();
    if (device == RUNNER_ON_GPU) /* the driver's threads and files */
        limits.processes += 512, limits.files = 4096;
#ifdef __SANITIZE_ADDRESS__ /* its shadow alone is larger than any limit */
    limits.heap_bytes = 0;
#endif
    return limits;
}

/* Starts the runner with the session's library. */
static enum st_code runner_start(struct gr_session *s, int channel, int arena, int out,
                                 char **environment, struct st_error *err)
{
    static const char *const on[] = {"cpu", "gpu", "virtual"};
    const struct gr_host *host = s->host;
    const char *const argv[] = {host->runner, "--on",     on[host->device],
                                "--serve",    s->library, NULL};
    char shared[PATH_MAX], cudart[PATH_MAX];
    path_format(shared, sizeof shared, "%s/shared", host->build); /* in archives */
    path_format(cudart, sizeof cudart, "%s/vgpu/libcudart.so.13", host->build);
    char **shown = host->sandbox.on ? gr_environment(environment, "/usr/bin:/bin") : NULL;
    struct gr_box_options options = {.sandbox = &host->sandbox,
                                     .argv = argv,
                                     .name = "runner",
                                     .environment = shown ? shown : environment,
                                     .folder = "/",
                                     .limits = limits_for(host->device),
                                     .shown = {host->runner, s->library},
                                     .gpu = host->device == RUNNER_ON_GPU};
    const int descriptors[] = {-1, out, out, channel, arena, s->device.door};
    options.descriptors = s->device.door >= 0 ? 6 : 5;
    memcpy(options.descriptor, descriptors, sizeof descriptors);
    size_t n = 2;
    if (file_exists(shared))
        options.shown[n++] = shared;
    if (host->device == RUNNER_ON_VIRTUAL_GPU)
        options.shown[n++] = cudart;
    const enum st_code code = gr_box_start(&s->box, &options, err);
    free(shown);
    return code;
}

static void record_drop(struct gr_session *s)
{
    if (s->record)
        gr_device_record_free(s->record);
    free(s->record);
    s->record = NULL;
}

/* Ends the processes; output and record stay. */
static void stop(struct gr_session *s)
{
    gr_box_kill(&s->box);
    gr_box_own_child(s->device.pid ? s->device.pid : -1, 0);
    vg_process_kill(&s->device);
    drain(s);
    if (s->channel >= 0)
        close(s->channel);
    if (s->pipe >= 0)
        close(s->pipe);
    s->channel = s->pipe = -1;
    s->alive = false;
}

void gr_session_end(struct gr_session *s)
{
    stop(s);
    record_drop(s);
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

static void say(struct gr_run *run, enum gr_outcome outcome, const char *message, const char *hint)
{
    run->outcome = outcome;
    snprintf(run->message, sizeof run->message, "%s", message);
    snprintf(run->hint, sizeof run->hint, "%s", hint);
}

static void say_channel_closed(struct gr_run *run)
{
    say(run, GR_SILENT, "the harness's result channel was closed while your code ran",
        "close only descriptors that you have opened yourself");
}

static const char *signal_hint(int signal)
{
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
        return "look at the index expression on that line: which of x, k and y does it read or "
               "write, "
               "and is every index below its size?";
    case SIGFPE:
        return "a whole-number division by zero, most likely: what divides on that line?";
    case SIGILL:
        return "the library was built for another processor: build it on this machine";
    case SIGABRT:
        return "abort(), a failed assert() or damaged heap memory: look for writes outside of an "
               "array you allocated";
    case SIGKILL:
        return "the system killed it, most likely for using too much memory";
    default:
        return "run it under a debugger to see what happened";
    }
}

/* Describes an access by the tensor it is next to: the arena's place in the runner is known. Only y
 * may be written, so a write is told in terms of y. */
static void describe_access(char *to, size_t room, const struct runner_reply *reply,
                            const struct conv_shape *shape)
{
    const char *verb = reply->is_write ? "writing" : "accessing";
    struct arena_layout layout = arena_layout_for(shape);
    const size_t begin[3] = {layout.y, layout.x, layout.k};
    const size_t end[3] = {layout.guard[1], layout.guard[2], layout.guard[3]};
    int64_t at = (int64_t)(reply->fault_address - reply->arena_address), nearest = INT64_MAX;
    char name = 'y';
    for (int i = 0; i < (reply->is_write ? 1 : 3); i++) {
        int64_t distance = at < (int64_t)begin[i]  ? at - (int64_t)begin[i]
                           : at >= (int64_t)end[i] ? at - (int64_t)end[i]
                                                   : 0;
        if (llabs(distance) < llabs(nearest))
            nearest = distance, name = "yxk"[i];
    }
    if (reply->fault_address < 4096)
        snprintf(to, room, ", %s address %llu: a null pointer", verb,
                 (unsigned long long)reply->fault_address);
    else if (llabs(nearest) > (INT64_C(4) << 30))
        snprintf(to, room, ", %s address 0x%llx, far from x, k and y", verb,
                 (unsigned long long)reply->fault_address);
    else
        snprintf(to, room, ", %s %lld bytes %s of %c", verb, (long long)llabs(nearest),
                 nearest < 0 ? "before the start" : "past the end", name);
}

static void explain_crash(const struct gr_session *s, const struct runner_reply *reply,
                          const struct conv_shape *shape, double limit_s, struct gr_run *run)
{
    char place[160] = "outside of your code", access[128] = "";
    if (reply->in_lab)
        gr_source_place(&s->host->sandbox, s->library, reply->lab_offset, place, sizeof place);
    if (reply->signal == SIGXCPU) {
        char message[sizeof run->message];
        snprintf(message, sizeof message,
                 "still running after %.0f s, the limit for this shape; it was at %s", limit_s,
                 place);
        say(run, GR_TIMED_OUT, message,
            "does every loop end? Check each loop's condition and step around that line");
        return;
    }
    if (reply->signal == SIGSYS) {
        char call[96], message[sizeof run->message];
        snprintf(message, sizeof message, "made a system call that is not allowed (%s) at %s",
                 gr_filter_name(call, sizeof call, (int)reply->fault_address), place);
        say(run, GR_CRASHED, message,
            "a convolution needs memory and arithmetic; leave other processes, files and the "
            "network "
            "alone");
        snprintf(run->pattern, sizeof run->pattern, "forbidden_call");
        return;
    }
    if (reply->signal == SIGSEGV || reply->signal == SIGBUS)
        describe_access(access, sizeof access, reply, shape);
    run->outcome = GR_CRASHED;
    snprintf(run->message, sizeof run->message, "crashed with SIG%s (%s) at %s%s",
             sigabbrev_np(reply->signal) ? sigabbrev_np(reply->signal) : "?",
             sigdescr_np(reply->signal) ? sigdescr_np(reply->signal) : "unknown signal", place,
             access);
    bool null = access[0] && reply->fault_address < 4096;
    bool device_pointer = access[0] && !null && s->host->device != RUNNER_ON_CPU;
    snprintf(run->hint, sizeof run->hint, "%s",
             null ? "did malloc() or conv_workspace() return NULL, or is a pointer used before it "
                    "is set?"
             : device_pointer
                 ? "x, k and y are device pointers: only kernels may read or write through them"
                 : signal_hint(reply->signal));
}

/* ---- the virtual GPU ---------------------------------------------------------------------------
 */

/* Starts the device process, which is ours and no relative of the runner's. */
static enum st_code device_start(struct gr_session *s, int output, char ***environment,
                                 struct st_error *err)
{
    struct vg_process_options options = {
        .folder = s->host->build, .profile = s->host->profile, .output = output, .owned = true};
    enum st_code code = vg_process_start(&s->device, &options, err);
    if (code) {
        drain(s);
        size_t line = strcspn(s->output.text, "\n");
        return st_detail(err, ST_GOT, "%.*s", (int)line, s->output.text);
    }
    gr_box_own_child(0, s->device.pid);
    *environment = vg_process_environment(s->host->build, RUNNER_DOOR);
    return *environment ? ST_OK : st_fail(err, ST_NO_MEMORY, "cannot start a process");
}

enum st_code gr_device_lost(const struct gr_run *run, struct st_error *err)
{
    st_fail(err, ST_CHILD, "%s", run->message);
    return st_detail(err, ST_HINT, "%s", run->hint);
}

/* Takes what the device process has recorded since the last time. @return false, with the outcome
 * set, if it cannot say; true also on other devices. */
static bool record_take(struct gr_session *s, struct gr_run *run)
{
    record_drop(s);
    if (s->device.control < 0)
        return true;
    struct vg_process_record texts = {0};
    struct st_error err;
    bool asked = vg_process_ask(&s->device), readable = false;
    for (double until_s = clock_now_s() + RECORD_LIMIT_S, left_s;
         asked && !readable && (left_s = until_s - clock_now_s()) > 0;) {
        struct pollfd on[2] = {{.fd = s->device.control, .events = POLLIN},
                               {.fd = s->pipe, .events = POLLIN}};
        if (poll(on, 2, (int)(left_s * 1000) + 1) > 0 && on[1].revents)
            drain(s); /* what it prints must not stop it */
        readable = on[0].revents != 0;
    }
    if (asked && !readable) {
        say(run, GR_TIMED_OUT, "kernels still ran long after conv_forward had returned",
            "does every kernel end? Which work does conv_forward leave behind?");
        return false;
    }
    s->record = calloc(1, sizeof *s->record);
    enum st_code code = !s->record ? ST_NO_MEMORY : vg_process_answer(&s->device, &texts, &err);
    if (!code)
        code = gr_device_record_parse(s->record, &texts, &err);
    if (!code)
        return true;
    free(s->record);
    s->record = NULL;
    say(run, GR_DEVICE_LOST, code == ST_NO_MEMORY ? "no memory for the records" : err.what,
        "is there enough memory? Was its process, vgpu-device, killed?");
    return false;
}

/* Whether kernels did the arithmetic. No algorithm that is in use needs less than a fourth of the
 * direct convolution's multiply-adds; a product of tensor cores counts as many at once. */
static void judge_work(const struct gr_device_record *record, const struct conv_shape *shape,
                       struct gr_run *run)
{
    static const char *const counters[] = {"fp32_fma", "fp32_add_mul", "fp64_ops", "fp16_ops"};
    const double wanted = nn_conv_macs(shape);
    double done = 512.0 * (double)gr_device_counter(record, NULL, "class_tensor");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        done += (double)gr_device_counter(record, NULL, counters[i]);
    if (done < wanted / 10)
        snprintf(
            run->idle, sizeof run->idle,
            "right, but kernels did %.0f of the %.0f multiply-adds that it takes: the work was "
            "not done on the GPU",
            done, wanted);
}

/* After a run that seems to have succeeded: its Op Time and findings, as the device has them.
 * @return false, with the outcome set, if the session has to end. */
static bool judge_record(struct gr_session *s, const struct conv_shape *shape, struct gr_run *run)
{
    if (s->device.control < 0)
        return true;
    if (!record_take(s, run))
        return false;
    if (s->record->lost)
        say(run, GR_DEVICE_ERROR, "more calls of the CUDA runtime than can be recorded",
            "is there a loop around a launch or a copy that runs far too often?");
    else if (!gr_device_op_time(s->record, shape, &run->op_time_s))
        say(run, GR_DEVICE_ERROR, "the virtual GPU did not see the harness's own calls",
            "only conv_forward's own work may use the device: leave its connection, other "
            "allocations and cudaDeviceReset() alone");
    if (run->outcome != GR_RAN) {
        snprintf(run->pattern, sizeof run->pattern, "device_record");
        return false;
    }
    judge_work(s->record, shape, run);
    gr_finding_first(&s->record->findings, run);
    return true;
}

/* conv_forward() has returned an error: what the device knows of the reason. Taking the record also
 * keeps it apart from that of the next request. @return false if the session has to end. */
static bool explain_returned(struct gr_session *s, int returned, struct gr_run *run)
{
    char message[64];
    run->returned = returned;
    if (s->device.control >= 0 && !record_take(s, run))
        return false;
    snprintf(message, sizeof message, "conv_forward returned %d", returned);
    say(run, GR_RETURNED, message,
        "return 0 when y is complete; anything else says that the shape cannot be computed");
    struct gr_run why = {0};
    if (s->record &&
        (gr_finding_first(&s->record->findings, &why) || gr_finding_refused(s->record, &why))) {
        snprintf(run->pattern, sizeof run->pattern, "%s", why.pattern);
        snprintf(run->message, sizeof run->message, "%.300s, and %s", why.message, message);
        snprintf(run->hint, sizeof run->hint, "%s", why.hint);
    }
    return true;
}

/* A CUDA error, and on the virtual GPU the finding behind it. */
static void explain_device_error(struct gr_session *s, struct runner_reply *reply,
                                 struct gr_run *run)
{
    if (!record_take(s, run))
        return;
    run->outcome = GR_DEVICE_ERROR;
    if (s->record &&
        (gr_finding_first(&s->record->findings, run) || gr_finding_refused(s->record, run)))
        return;
    bool launch = strstr(reply->text, "from a launch") != NULL;
    say(run, GR_DEVICE_ERROR, reply->text,
        launch
            ? "look at the launch: threads per block (at most 1024), grid sizes (y and z at most "
              "65535), shared memory, and any other CUDA call of yours"
            : "a kernel accessed memory it may not: run with --device virtual to see which line, "
              "thread and address");
    snprintf(run->pattern, sizeof run->pattern, "%s", launch ? "launch_failed" : "device_error");
}

/* The process is gone without a reply. */
static void explain_end(struct gr_session *s, struct gr_run *run)
{
    int status = 0;
    s->alive = false;
    if (!gr_box_wait(&s->box, &status)) {
        drain(s);
        char message[sizeof run->message];
        snprintf(message, sizeof message, "the sandbox did not start, or was killed: %.300s",
                 s->output.text);
        message[strcspn(message, "\n")] = '\0';
        say(run, GR_DEVICE_LOST, message, "is there enough memory? grader sandbox tells more");
        return;
    }
    char message[sizeof run->message];
    run->returned = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        snprintf(message, sizeof message, "killed by SIG%s (%s)",
                 sigabbrev_np(signal) ? sigabbrev_np(signal) : "?",
                 sigdescr_np(signal) ? sigdescr_np(signal) : "unknown signal");
        say(run, GR_CRASHED, message, signal_hint(signal));
        return;
    }
    if (WEXITSTATUS(status) == RUNNER_EXIT_NO_CHANNEL) {
        say_channel_closed(run);
        return;
    }
    if (WEXITSTATUS(status) > 128 && sigabbrev_np(WEXITSTATUS(status) - 128)) {
        snprintf(message, sizeof message, "crashed with SIG%s while conv_forward was not running",
                 sigabbrev_np(WEXITSTATUS(status) - 128));
        say(run, GR_CRASHED, message,
            "does a thread of yours still work after conv_forward has returned? Join it first");
        return;
    }
    snprintf(message, sizeof message,
             "the process ended with exit status %d before conv_forward returned",
             WEXITSTATUS(status));
    say(run, GR_EXITED, message, "return from conv_forward; do not call exit() or _exit() in it");
}

/* ---- waiting for a reply ----------------------------------------------------------------------
 */

enum heard { HEARD_REPLY, HEARD_END, HEARD_CLOSED, HEARD_NOTHING, HEARD_TOO_MUCH };

/* What the virtual GPU may take of this machine's memory: it has a copy of the tensors, and scratch
 * memory, which an unrolled matrix may need several times as much of. */
static size_t device_limit_bytes(const struct gr_session *s)
{
    return gr_box_memory_limit() + 16 * s->arena->bytes;
}

static bool device_has_too_much(struct gr_session *s)
{
    const struct gr_tree device = {.n = s->device.pid > 0, .pid = {s->device.pid}};
    s->device_bytes = gr_tree_memory_bytes(&device, 0);
    return s->device_bytes > device_limit_bytes(s);
}

/* Whether all processes together have taken more memory than one may. */
static bool is_too_much(struct gr_session *s)
{
    if (s->host->device == RUNNER_ON_GPU) /* the driver's memory is there, too */
        return false;
    gr_box_usage(&s->box, s->arena->bytes, &s->processes, &s->memory_bytes);
    return s->memory_bytes > gr_box_memory_limit() || device_has_too_much(s);
}

static void say_too_much(const struct gr_session *s, struct gr_run *run)
{
    char message[160];
    if (s->device_bytes > device_limit_bytes(s)) {
        snprintf(message, sizeof message,
                 "took %.1f GiB of the virtual GPU's memory; %.1f GiB are the limit for this shape",
                 (double)s->device_bytes / 0x1p30, (double)device_limit_bytes(s) / 0x1p30);
        say(run, GR_CRASHED, message,
            "which cudaMalloc() is in a loop, or how large is your scratch memory?");
        return;
    }
    snprintf(message, sizeof message,
             "took %.1f GiB of memory in %zu process%s; %.1f GiB are the limit",
             (double)s->memory_bytes / 0x1p30, s->processes, s->processes == 1 ? "" : "es",
             (double)gr_box_memory_limit() / 0x1p30);
    say(run, GR_CRASHED, message, "which allocation, or which fork(), is in a loop?");
}

/* Its text may be the student's, and is shown. */
static void make_printable(struct runner_reply *reply)
{
    const struct runner_reply as_sent = *reply;
    reply->text[0] = '\0';
    if (memchr(as_sent.text, '\0', sizeof as_sent.text))
        gr_printable(reply->text, sizeof reply->text, as_sent.text);
}

/* Waits for a packet with that nonce; drains the output meanwhile. */
static enum heard listen_until(struct gr_session *s, double until_s, uint64_t nonce,
                               struct runner_reply *reply)
{
    for (double look_s = clock_now_s();;) {
        double now_s = clock_now_s(), left_s = until_s - now_s;
        if (left_s <= 0)
            return HEARD_NOTHING;
        if (now_s - look_s > 1e-3 * LOOK_INTERVAL_MS) {
            if (is_too_much(s))
                return HEARD_TOO_MUCH;
            look_s = clock_now_s();
        }
        int wait_ms =
            left_s * 1000 < LOOK_INTERVAL_MS ? (int)(left_s * 1000) + 1 : LOOK_INTERVAL_MS;
        struct pollfd on[3] = {{.fd = s->channel, .events = POLLIN},
                               {.fd = s->pipe, .events = POLLIN},
                               {.fd = s->box.pidfd, .events = POLLIN}};
        if (poll(on, 3, wait_ms) < 0 && errno != EINTR)
            return HEARD_CLOSED;
        if (on[1].revents)
            drain(s);
        if (on[0].revents) {
            ssize_t n = recv(s->channel, reply, sizeof *reply, MSG_DONTWAIT);
            if (n == sizeof *reply && reply->nonce == nonce) {
                make_printable(reply);
                return HEARD_REPLY;
            }
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                /* Closed: give the process a moment to be seen ending. */
                struct pollfd end = {.fd = s->box.pidfd, .events = POLLIN};
                return poll(&end, 1, 500) > 0 ? HEARD_END : HEARD_CLOSED;
            }
        } else if (on[2].revents) {
            return HEARD_END;
        }
    }
}

/* The first packet, which no code of the student's can have sent. */
static enum st_code hear_device(struct gr_session *s, struct st_error *err)
{
    struct runner_reply reply = {0};
    struct gr_run end = {0};
    const enum heard heard = listen_until(s, clock_now_s() + START_LIMIT_S, 0, &reply);
    if (heard == HEARD_REPLY && reply.kind == RUNNER_OPENED) {
        const size_t name = strcspn(reply.text, "\n");
        snprintf(s->device_name, sizeof s->device_name, "%.*s", (int)name, reply.text);
        snprintf(s->device_id, sizeof s->device_id, "%s",
                 reply.text[name] ? reply.text + name + 1 : "");
        return ST_OK;
    }
    if (heard == HEARD_REPLY) {
        st_fail(err, ST_MISSING_TOOL, "%s", reply.text);
        return st_detail(err, ST_HINT, "use --device virtual, which needs no GPU");
    }
    if (heard == HEARD_END) {
        explain_end(s, &end);
        if (end.outcome == GR_DEVICE_LOST)
            return gr_device_lost(&end, err);
    }
    st_fail(err, ST_CHILD, "the harness %s before it loaded the library",
            heard == HEARD_END ? "ended" : "did not come so far as to say something");
    st_detail(err, ST_WHERE, "%s", s->host->runner);
    return st_detail(err, ST_HINT, "is it there, and enough memory? To build it again: run make");
}

/* The second one, or what became of loading the library. */
static enum st_code hear_ready(struct gr_session *s, struct gr_run *run, struct st_error *err)
{
    struct runner_reply reply;
    switch (listen_until(s, clock_now_s() + START_LIMIT_S, 0, &reply)) {
    case HEARD_REPLY:
        if (reply.kind == RUNNER_READY) {
            record_take(s, run); /* what loading did belongs to no request */
            return run->outcome == GR_DEVICE_LOST ? gr_device_lost(run, err) : ST_OK;
        }
        say(run, GR_NOT_LOADED, reply.text,
            "the file must define: int conv_forward(const struct conv_shape *shape, const float "
            "*x, "
            "const float *k, float *y)");
        return ST_OK;
    case HEARD_END:
        explain_end(s, run);
        drain(s);
        if (run->outcome == GR_DEVICE_LOST)
            return gr_session_end(s), gr_device_lost(run, err);
        if (run->outcome == GR_EXITED)
            say(run, GR_NOT_LOADED, "the process ended while the library was being loaded",
                "is there a constructor?");
        return ST_OK;
    case HEARD_TOO_MUCH:
        say_too_much(s, run);
        return ST_OK;
    default:
        say(run, GR_NOT_LOADED, "the library did not finish loading",
            "does a constructor run for ever?");
        return ST_OK;
    }
}

enum st_code gr_session_start(struct gr_session *s, const struct gr_host *host, const char *library,
                              const struct arena *arena, struct gr_run *run, struct st_error *err)
{
    *s = GR_SESSION_CLOSED;
    s->host = host;
    memset(run, 0, sizeof *run);
    snprintf(s->library, sizeof s->library, "%s", library);
    int channel[2], out[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
        return st_fail_errno(err, errno, "cannot make a socket pair");
    if (pipe2(out, O_CLOEXEC)) {
        close(channel[0]);
        close(channel[1]);
        return st_fail_errno(err, errno, "cannot make a pipe");
    }
    s->channel = channel[0];
    s->pipe = out[0];
    fcntl(s->pipe, F_SETFL, O_NONBLOCK);
    char **environment = environ;
    if (host->device == RUNNER_ON_VIRTUAL_GPU) {
        enum st_code code = device_start(s, out[1], &environment, err);
        if (code) {
            close(channel[1]);
            close(out[1]);
            gr_session_end(s);
            return code;
        }
    }
    const enum st_code started = runner_start(s, channel[1], arena->fd, out[1], environment, err);
    close(channel[1]);
    close(out[1]);
    if (environment != environ)
        free(environment);
    if (s->device.door >= 0)
        close(s->device.door); /* the runner's alone */
    s->device.door = -1;
    if (started)
        return gr_session_end(s), started;
    s->alive = true;
    s->arena = arena;

    const enum st_code opened = hear_device(s, err);
    if (opened)
        return gr_session_end(s), opened;
    return hear_ready(s, run, err);
}

const struct gr_device_record *gr_session_device_record(const struct gr_session *s)
{
    return s->record;
}

enum st_code gr_session_revive(struct gr_session *s, const struct arena *arena,
                               struct st_error *err)
{
    if (s->alive)
        return ST_OK;
    gr_session_end(s);
    struct gr_output output = s->output;
    char library[sizeof s->library];
    memcpy(library, s->library, sizeof library);
    struct gr_run run;
    enum st_code code = gr_session_start(s, s->host, library, arena, &run, err);
    s->output = output;
    return code;
}

void gr_session_run(struct gr_session *s, const struct conv_shape *shape, const struct arena *arena,
                    double limit_s, struct gr_run *run)
{
    memset(run, 0, sizeof *run);
    struct arena_layout layout = arena_layout_for(shape);
    struct runner_request request = {.kind = RUNNER_RUN,
                                     .shape = *shape,
                                     .x_offset = layout.x,
                                     .k_offset = layout.k,
                                     .y_offset = layout.y,
                                     .arena_bytes = arena->bytes};
    if (getrandom(&request.nonce, sizeof request.nonce, 0) != sizeof request.nonce)
        request.nonce = (uint64_t)(clock_now_s() * 1e9);
    request.nonce |= 1; /* never the 0 of READY */
    gr_box_thaw(&s->box);
    s->requests++;
    double begin_s = clock_now_s();
    struct runner_reply reply;
    enum heard heard = HEARD_CLOSED;
    if (send(s->channel, &request, sizeof request, MSG_NOSIGNAL) == sizeof request)
        heard = listen_until(s, begin_s + limit_s, request.nonce, &reply);
    else
        heard = listen_until(s, begin_s + 1, request.nonce, &reply);
    double outside_s = clock_now_s() - begin_s;
    if (heard == HEARD_NOTHING) {
        /* Ask it where it is; one that does not even answer that is stopped or blocks signals. */
        const pid_t program = gr_box_program(&s->box);
        if (program > 0)
            kill(program, SIGXCPU);
        heard = listen_until(s, clock_now_s() + 1, request.nonce, &reply);
        if (heard != HEARD_REPLY || reply.kind != RUNNER_CRASHED || reply.signal != SIGXCPU) {
            char message[128];
            snprintf(message, sizeof message, "no answer after %.0f s, the limit for this shape",
                     limit_s);
            say(run, GR_TIMED_OUT, message, "does every loop end? Does it wait for anything?");
            stop(s);
            return;
        }
    }
    if (heard == HEARD_TOO_MUCH) {
        say_too_much(s, run);
        stop(s);
        return;
    }
    if (heard == HEARD_REPLY && !gr_box_freeze(&s->box)) {
        say(run, GR_SILENT, "your code's processes multiplied too fast to be stopped",
            "do not start processes in conv_forward");
        stop(s);
        return;
    }
    drain(s);
    switch (heard) {
    case HEARD_REPLY:
        if (reply.kind == RUNNER_CRASHED) {
            explain_crash(s, &reply, shape, limit_s, run);
        } else if (reply.kind == RUNNER_FAILED) {
            say(run, GR_SILENT, reply.text, "ask for fewer images with --images");
        } else if (reply.kind == RUNNER_DEVICE_ERROR) {
            explain_device_error(s, &reply, run);
        } else if (reply.returned) {
            if (explain_returned(s, reply.returned, run))
                return;
        } else {
            run->outcome = GR_RAN;
            run->op_time_s = (double)reply.op_time_ns * 1e-9;
            /* The two clocks differ by one round trip. On a busy machine that may be more now and
             * then, and the outer one is believed: it is none of the student's. */
            const double round_trip_s = 0.005 + 0.02 * outside_s;
            bool clock_disagrees =
                s->host->device == RUNNER_ON_CPU &&
                (run->op_time_s > outside_s || outside_s - run->op_time_s > round_trip_s);
            if (clock_disagrees)
                run->op_time_s = outside_s;
            if (judge_record(s, shape, run))
                return;
        }
        break;
    case HEARD_END:
        explain_end(s, run);
        break;
    default:
        say_channel_closed(run);
    }
    stop(s);
}
