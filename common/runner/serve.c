#include "runner/serve.h"

#include "base/clock.h"
#include "runner/gpu.h"
#include "runner/lab.h"
#include "runner/runner_protocol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

/* Inaccessible address space on both sides of the arena, for wild indices: the fault address shows
 * the nearest tensor and the distance. */
enum { NO_MANS_LAND_BYTES = 1 << 30 };

static struct runner_reply reply;

static bool sent(const struct runner_reply *to_send)
{
    ssize_t n;
    do
        n = send(RUNNER_CHANNEL, to_send, sizeof *to_send, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == sizeof *to_send;
}

static void send_reply(const struct runner_reply *to_send)
{
    sent(to_send);
}

static void *map_at(char *base, size_t bytes, int populate)
{
    return mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | populate,
                RUNNER_ARENA, 0);
}

static char *map_larger(char *base, size_t mapped_bytes, size_t bytes)
{
    if (base)
        munmap(base - NO_MANS_LAND_BYTES, mapped_bytes + 2 * (size_t)NO_MANS_LAND_BYTES);
    char *land = mmap(NULL, bytes + 2 * (size_t)NO_MANS_LAND_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (land == MAP_FAILED)
        return NULL;
    base = land + NO_MANS_LAND_BYTES;
    return map_at(base, bytes, 0) == MAP_FAILED ? NULL : base;
}

/* Maps the arena and populates the part that must be ready: the grader frees memory between layers,
 * and page faults on the tensors must not count in the Op Time. */
static char *map_arena(size_t bytes, size_t ready_bytes)
{
    static char *base;
    static size_t mapped_bytes;
    if (bytes > mapped_bytes) {
        base = map_larger(base, mapped_bytes, bytes);
        mapped_bytes = base ? bytes : 0;
    }
    if (base && ready_bytes && map_at(base, ready_bytes, MAP_POPULATE) == MAP_FAILED)
        return NULL;
    return base;
}

/* Computes one request on host memory. */
static void serve_cpu(lab_function *conv, const struct conv_shape *shape, const float *x,
                      const float *k, float *y)
{
    lab_workspace_spoil(lab_workspace_fill);
    double begin_s = clock_now_s();
    int returned = conv(shape, x, k, y);
    double end_s = clock_now_s();
    reply.kind = RUNNER_DONE;
    reply.returned = returned;
    reply.op_time_ns = (uint64_t)((end_s - begin_s) * 1e9);
}

/* Computes one request on a device. */
static void serve_gpu(lab_function *conv, const struct conv_shape *shape, float *x, float *k,
                      float *y, enum runner_device device, bool host_tensors)
{
    struct gpu_result result;
    const struct gpu_manner manner = {.host_tensors = host_tensors,
                                      .virtual_clock = device == RUNNER_ON_VIRTUAL_GPU,
                                      .checked = true};
    gpu_conv(conv, shape, x, k, y, manner, &result);
    reply.kind = result.error ? RUNNER_DEVICE_ERROR : RUNNER_DONE;
    reply.returned = result.error ? result.error : result.returned;
    reply.op_time_ns = (uint64_t)(result.op_time_s * 1e9);
    reply.free_bytes = result.free_bytes;
    snprintf(reply.text, sizeof reply.text, "%s", result.error_text);
}

/* Reports the reason why the runner cannot serve. */
static int refuse(const struct st_error *err)
{
    reply.kind = RUNNER_FAILED;
    snprintf(reply.text, sizeof reply.text, "%s%s%.120s", err->what, err->got[0] ? ": " : "",
             err->got);
    send_reply(&reply);
    return 1;
}

/* Sends the first packet (RUNNER_OPENED), before any code of the lab runs. */
static void send_opened(const char *name, enum runner_device device)
{
    char id[GPU_ID_CHARS] = "";
    if (device == RUNNER_ON_GPU)
        gpu_id(id);
    reply.kind = RUNNER_OPENED;
    snprintf(reply.text, sizeof reply.text, "%s%s%s", name, *id ? "\n" : "", id);
    send_reply(&reply);
    memset(&reply, 0, sizeof reply);
}

int runner_serve(const char *library, const struct exercise *exercise, enum runner_device device)
{
    struct st_error err;
    lab_function *conv;
    char name[128] = "";
    if (device != RUNNER_ON_CPU && gpu_open(library, name, sizeof name, &err))
        return refuse(&err);
    send_opened(name, device);
    if (lab_load(library, exercise, &conv, &err))
        return refuse(&err);
    lab_watch_crashes(&reply, send_reply);
    reply.kind = RUNNER_READY;
    send_reply(&reply);

    struct runner_request request;
    for (;;) {
        ssize_t n = recv(RUNNER_CHANNEL, &request, sizeof request, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != sizeof request || request.kind != RUNNER_RUN)
            return 0;
        memset(&reply, 0, sizeof reply);
        reply.nonce = request.nonce;
        char *base = map_arena(request.arena_bytes, request.ready_bytes);
        if (!base) {
            reply.kind = RUNNER_FAILED;
            snprintf(reply.text, sizeof reply.text, "cannot map %zu MiB of shared memory",
                     (size_t)(request.arena_bytes >> 20));
            send_reply(&reply);
            return 1;
        }
        reply.arena_address = (uintptr_t)base;
        /* Pass a copy, because the lab may change it. */
        struct conv_shape shape = request.shape;
        float *x = (float *)(base + request.x_offset), *k = (float *)(base + request.k_offset),
              *y = (float *)(base + request.y_offset);
        if (device == RUNNER_ON_CPU)
            serve_cpu(conv, &shape, x, k, y);
        else
            serve_gpu(conv, &shape, x, k, y, device, exercise->host_tensors);
        reply.workspaces = lab_workspace_calls();
        fflush(stdout);
        if (!sent(&reply))
            return RUNNER_EXIT_NO_CHANNEL;
    }
}
