/* How a session keeps control of a hostile process:
 *
 * 1. The runner and all processes that it starts are in a box (grader/sandbox/box.h), which ends
 *    with the session and with the grader.
 * 2. Every wait is a poll() on three things: the reply channel, the output pipe (drained
 *    continuously, so that printing never blocks) and the process itself (a pidfd); a few times per
 *    second, the memory of all processes together is checked.
 * 3. A reply counts only with the nonce of its request. Each request has a new one.
 * 4. When the reply arrives, the whole box is stopped before any comparison: a helper thread or
 *    process cannot finish the work after the clock has stopped.
 */
#include "grader/session/call_clues.h"
#include "grader/session/session_parts.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/files.h"
#include "grader/course/cases.h"
#include "grader/sandbox/environment.h"
#include "grader/session/finding.h"
#include "nn/oracle.h"
#include "runner/runner_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { START_LIMIT_S = 20 };

/* ---- the process ---------------------------------------------------------------------------- */

static struct gr_limits limits_for(enum runner_device device)
{
    struct gr_limits limits = {.file_bytes = RUNNER_SHARED_BYTES, .files = 256};
    limits.processes = gr_session_processes();
    /* The virtual GPU's memory, and a real GPU's address space, do not count as the student's
     * memory. */
    if (device == RUNNER_ON_CPU)
        limits.heap_bytes = gr_box_memory_limit();
    if (device == RUNNER_ON_GPU) /* for the driver's threads and files */
        limits.processes += 512, limits.files = 4096;
#ifdef __SANITIZE_ADDRESS__ /* the sanitizer's shadow alone is larger than any limit */
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
    const char *exercise = host->exercise ? host->exercise->name : "";
    const char *const argv[] = {host->runner, "--on",       on[host->device], "--serve",
                                s->library,   "--exercise", exercise,         NULL};
    char shared[PATH_MAX], cudart[PATH_MAX], cudart_12[PATH_MAX];
    path_format(shared, sizeof shared, "%s/shared", host->build); /* inside archives */
    path_format(cudart, sizeof cudart, "%s/vgpu/libcudart.so.13", host->build);
    path_format(cudart_12, sizeof cudart_12, "%s/vgpu/libcudart.so.12", host->build);
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
    if (host->device == RUNNER_ON_VIRTUAL_GPU && file_exists(cudart_12))
        options.shown[n++] = cudart_12;
    const enum st_code code = gr_box_start(&s->box, &options, err);
    free(shown);
    return code;
}

/* Ends the processes; output and record are kept. */
static void stop(struct gr_session *s)
{
    gr_box_kill(&s->box);
    gr_box_own_child(s->device.pid ? s->device.pid : -1, 0);
    vg_process_kill(&s->device);
    gr_session_drain(s);
    if (s->channel >= 0)
        close(s->channel);
    if (s->pipe >= 0)
        close(s->pipe);
    s->channel = s->pipe = -1;
    s->alive = false;
}

void gr_session_drop_device(struct vg_process *left)
{
    if (left->pid > 0)
        gr_box_own_child(left->pid, 0);
    vg_process_kill(left);
}

void gr_session_leave_device(struct gr_session *s, struct vg_process *left)
{
    gr_session_drop_device(left);
    if (s->alive && s->device.pid > 0 && s->host->code_store) {
        vg_process_leave(&s->device);
        *left = s->device;
        s->device = VG_PROCESS_NONE;
    }
    gr_session_end(s);
}

void gr_session_end(struct gr_session *s)
{
    stop(s);
    gr_session_record_drop(s);
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Receives the first packet, sent before any of the student's code can run. */
static enum st_code hear_device(struct gr_session *s, struct st_error *err)
{
    struct runner_reply reply = {0};
    struct gr_run end = {0};
    const enum gr_heard heard = gr_session_hear(s, START_LIMIT_S, START_LIMIT_S, 0, &reply);
    if (heard == GR_HEARD_REPLY && reply.kind == RUNNER_OPENED) {
        const size_t name = strcspn(reply.text, "\n");
        snprintf(s->device_name, sizeof s->device_name, "%.*s", (int)name, reply.text);
        snprintf(s->device_id, sizeof s->device_id, "%s",
                 reply.text[name] ? reply.text + name + 1 : "");
        return ST_OK;
    }
    if (heard == GR_HEARD_REPLY) {
        st_fail(err, ST_MISSING_TOOL, "%s", reply.text);
        return st_detail(err, ST_HINT, "use --device virtual, which needs no GPU");
    }
    if (heard == GR_HEARD_END) {
        gr_session_explain_end(s, &end);
        if (end.outcome == GR_DEVICE_LOST)
            return gr_device_lost(&end, err);
    }
    st_fail(err, ST_CHILD, "the harness %s before it loaded the library",
            heard == GR_HEARD_END ? "ended" : "did not reply");
    st_detail(err, ST_WHERE, "%s", s->host->runner);
    return st_detail(
        err, ST_HINT,
        "does the file exist, and is there enough memory? To build it again, run make");
}

/* Receives the second packet, or the outcome of loading the library. */
static enum st_code hear_ready(struct gr_session *s, struct gr_run *run, struct st_error *err)
{
    struct runner_reply reply;
    char hint[160];
    const struct exercise *exercise = s->host->exercise ? s->host->exercise : exercise_at(0);
    snprintf(hint, sizeof hint, "the file must define: %s", exercise->signature);
    switch (gr_session_hear(s, START_LIMIT_S, START_LIMIT_S, 0, &reply)) {
    case GR_HEARD_REPLY:
        if (reply.kind == RUNNER_READY) {
            gr_session_record_take(s, run); /* loading is not part of a request's work */
            return run->outcome == GR_DEVICE_LOST ? gr_device_lost(run, err) : ST_OK;
        }
        gr_session_say(run, GR_NOT_LOADED, reply.text, hint);
        return ST_OK;
    case GR_HEARD_END:
        gr_session_explain_end(s, run);
        gr_session_drain(s);
        if (run->outcome == GR_DEVICE_LOST)
            return gr_session_end(s), gr_device_lost(run, err);
        if (run->outcome == GR_EXITED)
            gr_session_say(run, GR_NOT_LOADED,
                           "the process ended while the library was being loaded",
                           "does your code have a constructor?");
        return ST_OK;
    case GR_HEARD_TOO_MUCH:
        gr_session_say_too_much(s, run);
        return ST_OK;
    default:
        gr_session_say(run, GR_NOT_LOADED, "the library did not finish loading",
                       "does a constructor of your code run forever?");
        return ST_OK;
    }
}

static enum st_code start(struct gr_session *s, const struct gr_host *host, const char *library,
                          const struct arena *arena, struct gr_run *run, struct st_error *err)
{
    *s = GR_SESSION_CLOSED;
    s->host = host;
    s->arena = arena;
    s->memory_kills = cgroup_memory_kills(CGROUPS);
    memset(run, 0, sizeof *run);
    snprintf(s->library, sizeof s->library, "%s", library);
    int channel[2], out[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
        return st_fail_errno(err, errno, "cannot create a socket pair");
    if (pipe2(out, O_CLOEXEC)) {
        close(channel[0]);
        close(channel[1]);
        return st_fail_errno(err, errno, "cannot create a pipe");
    }
    s->channel = channel[0];
    s->pipe = out[0];
    fcntl(s->pipe, F_SETFL, O_NONBLOCK);
    char **environment = environ;
    if (host->device == RUNNER_ON_VIRTUAL_GPU) {
        enum st_code code = gr_session_device_start(s, out[1], &environment, err);
        if (code) {
            close(channel[1]);
            close(out[1]);
            gr_session_end(s);
            return code;
        }
        vg_process_limit(&s->device, gr_session_device_bytes(s));
    }
    const enum st_code started = runner_start(s, channel[1], arena->fd, out[1], environment, err);
    close(channel[1]);
    close(out[1]);
    if (environment != environ)
        free(environment);
    if (s->device.door >= 0)
        close(s->device.door); /* only the runner may hold it */
    s->device.door = -1;
    if (started)
        return gr_session_end(s), started;
    s->alive = true;
    const enum st_code opened = hear_device(s, err);
    if (opened)
        return gr_session_end(s), opened;
    return hear_ready(s, run, err);
}

enum st_code gr_session_start(struct gr_session *s, const struct gr_host *host, const char *library,
                              const struct arena *arena, struct gr_run *run, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (int tries = 0; tries < 2; tries++) {
        if (!(code = start(s, host, library, arena, run, err)) || !s->device_crash)
            return code;
        gr_session_end(s);
    }
    gr_session_say_crashed_twice(s, GR_NOT_LOADED, run);
    return ST_OK;
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

/* ---- requests ------------------------------------------------------------------------------- */

/* Whether the address space is short: then a failed mapping is not the submission's fault. */
static bool is_address_space_short(void)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* Makes a request with a new nonce, which the reply repeats. */
static struct runner_request request_for(const struct conv_shape *shape, const struct arena *arena)
{
    struct arena_layout layout = arena_layout_for(shape);
    struct runner_request request = {.kind = RUNNER_RUN,
                                     .shape = *shape,
                                     .x_offset = layout.x,
                                     .k_offset = layout.k,
                                     .y_offset = layout.y,
                                     .arena_bytes = arena->bytes,
                                     .ready_bytes = arena->on_disk ? 0 : layout.bytes};
    if (getrandom(&request.nonce, sizeof request.nonce, 0) != sizeof request.nonce)
        request.nonce = (uint64_t)(clock_now_s() * 1e9);
    request.nonce |= 1; /* never 0, the nonce of READY */
    return request;
}

/* Sends a request and waits for the reply. When time is up, asks the runner for its position: a
 * runner that does not answer is stopped or blocks signals. @param outside_s  set to the seconds
 * until the first answer */
static enum gr_heard hear_run(struct gr_session *s, const struct runner_request *request,
                              double limit_s, struct runner_reply *reply, double *outside_s)
{
    const double begin_s = clock_now_s();
    enum gr_heard heard = GR_HEARD_CLOSED;
    if (send(s->channel, request, sizeof *request, MSG_NOSIGNAL) == sizeof *request)
        heard = gr_session_hear(s, limit_s, limit_s - GR_SESSION_OTHERS_S, request->nonce, reply);
    else
        heard = gr_session_hear(s, 1, limit_s, request->nonce, reply);
    *outside_s = clock_now_s() - begin_s;
    if (heard != GR_HEARD_NOTHING)
        return heard;
    const bool worked_long = s->worked_long;
    const pid_t program = gr_box_program(&s->box);
    if (program > 0)
        kill(program, SIGXCPU);
    heard = gr_session_hear(s, 1, limit_s, request->nonce, reply);
    s->worked_long = worked_long;
    return heard == GR_HEARD_REPLY && reply->kind == RUNNER_CRASHED && reply->signal == SIGXCPU
               ? GR_HEARD_REPLY
               : GR_HEARD_NOTHING;
}

/* Explains a reply. @return whether the runner can run again */
static bool take_reply(struct gr_session *s, struct runner_reply *reply,
                       const struct conv_shape *shape, double limit_s, double outside_s,
                       struct gr_run *run)
{
    if (reply->kind == RUNNER_CRASHED) {
        gr_session_drain(s); /* for the C library's message */
        gr_session_explain_crash(s, reply, shape, limit_s, run);
        return false;
    }
    if (reply->kind == RUNNER_FAILED) {
        gr_session_say(run, is_address_space_short() ? GR_DEVICE_LOST : GR_SILENT, reply->text,
                       is_address_space_short()
                           ? "this machine limits address space (ulimit -v): raise that limit"
                           : "use fewer images (--images)");
        return false;
    }
    if (reply->kind == RUNNER_DEVICE_ERROR) {
        gr_session_explain_device_error(s, reply, run);
        return false;
    }
    if (reply->returned)
        return gr_session_explain_returned(s, reply->returned, run);
    run->outcome = GR_RAN;
    run->op_time_s = (double)reply->op_time_ns * 1e-9;
    run->free_bytes = reply->free_bytes;
    run->workspaces = reply->workspaces;
    /* The two clocks differ by one round trip, which may take longer on a busy machine. If they
     * differ by more, the outer clock counts, because the student's code cannot change it. */
    const double round_trip_s = 0.005 + 0.02 * outside_s;
    if (s->host->device == RUNNER_ON_CPU &&
        (run->op_time_s > outside_s || outside_s - run->op_time_s > round_trip_s))
        run->op_time_s = outside_s;
    return gr_session_judge_record(s, shape, run);
}

/* Explains why no reply came. */
static void take_silence(struct gr_session *s, enum gr_heard heard, double limit_s,
                         struct gr_run *run)
{
    char message[128], limit[64];
    if (heard == GR_HEARD_NOTHING) {
        gr_session_limit_text(s, limit_s, limit);
        snprintf(message, sizeof message, "no reply after %s, the limit for this shape", limit);
        gr_session_say(run, GR_TIMED_OUT, message,
                       "does every loop end? Does the code wait for anything?");
    } else if (heard == GR_HEARD_TOO_MUCH) {
        gr_session_say_too_much(s, run);
    } else {
        gr_session_drain(s);
        if (heard == GR_HEARD_END)
            gr_session_explain_end(s, run);
        else
            gr_session_say_closed(run);
    }
}

static void run_once(struct gr_session *s, const struct conv_shape *shape,
                     const struct arena *arena, double limit_s, struct gr_run *run)
{
    memset(run, 0, sizeof *run);
    const struct runner_request request = request_for(shape, arena);
    struct runner_reply reply;
    double outside_s;
    vg_process_limit(&s->device, gr_session_device_bytes(s));
    gr_box_thaw(&s->box);
    s->requests++;
    const enum gr_heard heard = hear_run(s, &request, limit_s, &reply, &outside_s);
    if (heard != GR_HEARD_REPLY) {
        take_silence(s, heard, limit_s, run);
    } else if (!gr_box_freeze(&s->box)) {
        gr_session_say(run, GR_SILENT, "your code's processes multiplied too fast to be stopped",
                       "do not start processes in conv_forward");
    } else {
        gr_session_drain(s);
        if (take_reply(s, &reply, shape, limit_s, outside_s, run))
            return;
    }
    if (run->outcome == GR_TIMED_OUT)
        gr_session_explain_long(s, run);
    if (!s->host->exercise || !s->host->exercise->square)
        gr_finding_name_memory(shape, run);
    gr_clue_add(s->record, shape, s->host->source, run);
    stop(s);
}

/* Runs a second time if the virtual GPU's process crashes, because the machine may be the cause. */
void gr_session_run(struct gr_session *s, const struct conv_shape *shape, const struct arena *arena,
                    double limit_s, struct gr_run *run)
{
    struct st_error err;
    run_once(s, shape, arena, limit_s, run);
    gr_session_judge_size(arena, run);
    if (run->outcome != GR_DEVICE_LOST || !s->device_crash || gr_session_revive(s, arena, &err) ||
        !s->alive)
        return;
    uint32_t *y = (uint32_t *)(arena->base + arena_layout_for(shape).y);
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        y[i] = GR_POISON_BITS;
    run_once(s, shape, arena, limit_s, run);
    if (run->outcome == GR_DEVICE_LOST && s->device_crash)
        gr_session_say_crashed_twice(s, GR_CRASHED, run);
}
