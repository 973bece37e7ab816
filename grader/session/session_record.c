/* The virtual GPU's record of a run. It is trusted because our own process writes it. */
#include "grader/session/session_parts.h"

#include "base/patience.h"
#include "grader/session/finding.h"
#include "nn/oracle.h"
#include "vgpu/device/device_process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { RECORD_LIMIT_S = 30, LOOK_INTERVAL_MS = 100 };

/* The memory of the smallest GPUs with a profile, including the tensors: a solution that fits only
 * on an H200 is wrong. The assignments state this limit. */
#define DEVICE_MEMORY_MIB "8192"

void gr_session_record_drop(struct gr_session *s)
{
    if (s->record)
        gr_device_record_free(s->record);
    free(s->record);
    s->record = NULL;
}

bool gr_session_has_host_tensors(const struct gr_session *s)
{
    return s->host->exercise && s->host->exercise->host_tensors;
}

void gr_session_order(const struct gr_session *s, struct vg_order order)
{
    if (!gr_session_has_host_tensors(s))
        order.streams = VG_ORDER_CALLS;
    if (s->device.control >= 0)
        vg_process_order(&s->device, order);
}

enum st_code gr_session_device_start(struct gr_session *s, int output, char ***environment,
                                     struct st_error *err)
{
    struct vg_process_options options = {.folder = s->host->build,
                                         .profile = s->host->profile,
                                         .engine = s->host->engine,
                                         .is_brief = s->host->is_brief,
                                         .prove = s->host->prove,
                                         .host_tensors = gr_session_has_host_tensors(s),
                                         .multiprocessors = s->host->multiprocessors,
                                         .memory = DEVICE_MEMORY_MIB,
                                         .code_store = s->host->code_store,
                                         .progress = s->host->progress_fd,
                                         .output = output,
                                         .owned = true};
    enum st_code code = vg_process_start(&s->device, &options, err);
    if (code) {
        gr_session_drain(s);
        const char *said = s->output.device.length ? s->output.device.text : s->output.lab.text;
        return st_detail(err, ST_GOT, "%.*s", (int)strcspn(said, "\n"), said);
    }
    gr_box_own_child(0, s->device.pid);
    *environment = vg_process_environment(s->host->build, RUNNER_DOOR, false);
    return *environment ? ST_OK : st_fail(err, ST_NO_MEMORY, "cannot start a process");
}

enum st_code gr_device_lost(const struct gr_run *run, struct st_error *err)
{
    st_fail(err, ST_CHILD, "%s", run->message);
    return st_detail(err, ST_HINT, "%s", run->hint);
}

size_t gr_session_device_bytes(const struct gr_session *s)
{
    return gr_box_memory_limit() + 16 * s->arena->bytes;
}

/* Explains why the records are lost. A device process that took too much memory because of the
 * submission's requests has ended itself. A crash comes from our mistake or from the machine; a
 * kill, from the machine's lack of memory. */
static void explain_lost(struct gr_session *s, const char *why, struct gr_run *run)
{
    char message[160];
    int status = 0;
    const bool ended = vg_process_ended(&s->device, &status);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == VG_PROCESS_TOO_MUCH) {
        snprintf(message, sizeof message,
                 "used more than %.1f GiB of the virtual GPU's memory, the limit for this shape",
                 (double)gr_session_device_bytes(s) / 0x1p30);
        gr_session_say(run, GR_CRASHED, message,
                       "is a cudaMalloc() in a loop, or is your scratch memory too large?");
        return;
    }
    gr_session_say(run, GR_DEVICE_LOST, why,
                   "is there enough memory? Was its process, vgpu-device, killed?");
    if (ended && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        s->device_crash = WTERMSIG(status);
}

bool gr_session_record_take(struct gr_session *s, struct gr_run *run)
{
    gr_session_record_drop(s);
    if (s->device.control < 0)
        return true;
    struct vg_process_record texts = {0};
    struct st_error err;
    bool asked = vg_process_ask(&s->device), readable = false;
    struct patience patience = patience_begin(RECORD_LIMIT_S);
    while (asked && !readable && patience_lasts(&patience)) {
        struct pollfd on[2] = {{.fd = s->device.control, .events = POLLIN},
                               {.fd = s->pipe, .events = POLLIN}};
        if (poll(on, 2, LOOK_INTERVAL_MS) > 0 && on[1].revents)
            gr_session_drain(s); /* a full pipe must not stop it */
        readable = on[0].revents != 0;
    }
    if (asked && !readable) {
        gr_session_say(run, GR_TIMED_OUT, "kernels still ran long after conv_forward had returned",
                       "does every kernel end? Which work of conv_forward is still running?");
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
    explain_lost(s, code == ST_NO_MEMORY ? "out of memory for the records" : err.what, run);
    return false;
}

/* Judges whether kernels did the arithmetic. Less than a tenth of the direct convolution's
 * multiply-adds is too little, because no algorithm in use needs less than a quarter. A matrix
 * product on tensor cores counts as all its multiply-adds. */
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
            "right, but kernels did only %.0f of the %.0f multiply-adds: the work was not done on the GPU",
            done, wanted);
}

bool gr_session_judge_record(struct gr_session *s, const struct conv_shape *shape,
                             struct gr_run *run)
{
    if (s->device.control < 0)
        return true;
    if (!gr_session_record_take(s, run))
        return false;
    if (s->record->lost)
        gr_session_say(run, GR_DEVICE_ERROR, "more calls of the CUDA runtime than can be recorded",
                       "is a launch or a copy in a loop that runs far too often?");
    else if (!(gr_session_has_host_tensors(s)
                   ? gr_device_layer_time(s->record, &run->op_time_s)
                   : gr_device_op_time(s->record, shape, &run->op_time_s)))
        gr_session_say(
            run, GR_DEVICE_ERROR, "the virtual GPU did not see the harness's own calls",
            "use the device only for the work of conv_forward: do not touch its connection or other allocations, and do not call cudaDeviceReset()");
    if (run->outcome != GR_RAN) {
        snprintf(run->pattern, sizeof run->pattern, "device_record");
        return false;
    }
    judge_work(s->record, shape, run);
    gr_finding_first(&s->record->findings, s->host->source, run);
    return true;
}

bool gr_session_explain_returned(struct gr_session *s, int returned, struct gr_run *run)
{
    char message[64];
    run->returned = returned;
    if (s->device.control >= 0 && !gr_session_record_take(s, run))
        return false;
    snprintf(message, sizeof message, "conv_forward returned %d", returned);
    gr_session_say(
        run, GR_RETURNED, message,
        "return 0 when y is complete; any other value means that the shape cannot be computed");
    struct gr_run why = {0};
    gr_session_drain(s);
    if (s->record && gr_finding_explain(s->record, s->host->source, s->output.device.text, &why)) {
        snprintf(run->pattern, sizeof run->pattern, "%s", why.pattern);
        snprintf(run->message, sizeof run->message, "%.500s, and %s", why.message, message);
        snprintf(run->hint, sizeof run->hint, "%s", why.hint);
    }
    return true;
}

void gr_session_explain_long(struct gr_session *s, struct gr_run *run)
{
    struct gr_run loop = {.pattern = ""};
    if (s->device.control < 0)
        return;
    gr_box_kill(&s->box); /* the device then ends the kernel */
    if (!gr_session_record_take(s, &loop) || !s->record ||
        !gr_finding_first(&s->record->findings, s->host->source, &loop))
        return;
    snprintf(run->pattern, sizeof run->pattern, "%s", loop.pattern);
    snprintf(run->message, sizeof run->message, "%s", loop.message);
    snprintf(run->hint, sizeof run->hint, "%s", loop.hint);
}

void gr_session_explain_device_error(struct gr_session *s, struct runner_reply *reply,
                                     struct gr_run *run)
{
    if (!gr_session_record_take(s, run))
        return;
    run->outcome = GR_DEVICE_ERROR;
    gr_session_drain(s);
    if (s->record && gr_finding_explain(s->record, s->host->source, s->output.device.text, run))
        return;
    bool launch = strstr(reply->text, "from a launch") != NULL;
    gr_session_say(
        run, GR_DEVICE_ERROR, reply->text,
        launch
            ? "check the launch: threads per block (at most 1024), grid sizes (y and z at most 65535), shared memory, and your other CUDA calls"
            : "a kernel accessed memory outside of its allocations: run with --device virtual to see the line, the thread and the address");
    snprintf(run->pattern, sizeof run->pattern, "%s", launch ? "launch_failed" : "device_error");
}
