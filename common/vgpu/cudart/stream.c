/* Streams, and the host functions that wait in them.
 *
 * The device process carries everything out in order, so a host function may run as soon as it has
 * answered a fence. It runs on a thread of its own, as CUDA promises; later requests of any thread
 * wait until the queue is empty, which keeps the order of the stream. */
#include "vgpu/cudart/graph.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- host functions
 * ------------------------------------------------------------------------------- */

struct callback {
    struct callback *next;
    cudaHostFn_t function;
    cudaStreamCallback_t with_status; /* the older kind, if not NULL */
    cudaStream_t stream;
    void *data;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct callback *first, **last;
    bool started, busy;
} queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &queue.first};

static _Thread_local bool on_callback_thread;

static void __attribute__((noreturn)) callbacks_loop(void)
{
    on_callback_thread = true;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.first)
            pthread_cond_wait(&queue.changed, &queue.lock);
        struct callback *c = queue.first;
        queue.first = c->next;
        if (!queue.first)
            queue.last = &queue.first;
        pthread_mutex_unlock(&queue.lock);
        cudaError_t status = rt_request(VP_FENCE, "", 0, 0);
        if (c->with_status)
            c->with_status(c->stream, status, c->data);
        else
            c->function(c->data);
        free(c);
        pthread_mutex_lock(&queue.lock);
        queue.busy = queue.first != NULL;
        pthread_cond_broadcast(&queue.changed);
    }
}

static void *callbacks_run(void *context)
{
    (void)context;
    callbacks_loop();
}

void rt_callbacks_drain(void)
{
    if (on_callback_thread)
        return;
    pthread_mutex_lock(&queue.lock);
    while (queue.busy)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static cudaError_t callback_add(struct callback in, const char *api)
{
    if (capture_host(in.stream, in.function, in.with_status, in.data))
        return cudaSuccess;
    cudaError_t error = rt_request(VP_CALL, api, STREAM(in.stream), 0);
    if (error)
        return error;
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return cudaErrorMemoryAllocation;
    *c = in;
    pthread_mutex_lock(&queue.lock);
    pthread_t thread;
    if (!queue.started && pthread_create(&thread, NULL, callbacks_run, NULL) == 0) {
        pthread_detach(thread);
        queue.started = true;
    }
    if (queue.started) {
        *queue.last = c;
        queue.last = &c->next;
        queue.busy = true;
        pthread_cond_broadcast(&queue.changed);
    }
    bool started = queue.started;
    pthread_mutex_unlock(&queue.lock);
    if (!started)
        free(c);
    return started ? cudaSuccess : cudaErrorOperatingSystem;
}

cudaError_t rt_host_function(cudaStream_t stream, cudaHostFn_t function,
                             cudaStreamCallback_t with_status, void *data, const char *api)
{
    struct callback c = {
        .function = function, .with_status = with_status, .stream = stream, .data = data};
    return callback_add(c, api);
}

API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (!function)
        return rt_return(cudaErrorInvalidValue);
    struct callback c = {.function = function, .stream = stream, .data = data};
    return rt_return(callback_add(c, "cudaLaunchHostFunc"));
}

API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                      void *data, unsigned flags)
{
    if (!function || flags)
        return rt_return(cudaErrorInvalidValue);
    struct callback c = {.with_status = function, .stream = stream, .data = data};
    return rt_return(callback_add(c, "cudaStreamAddCallback"));
}

/* ---- streams
 * --------------------------------------------------------------------------------------- */

#define PRIORITY_GREATEST (-5)

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority, const char *api)
{
    if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    if (priority > 0)
        priority = 0;
    if (priority < PRIORITY_GREATEST)
        priority = PRIORITY_GREATEST;
    struct call c = rt_call(VP_STREAM_CREATE, api);
    c.request.a[0] = flags;
    c.request.a[1] = (uint64_t)(int64_t)priority;
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *stream = (cudaStream_t)(uintptr_t)c.reply.r[0];
    return error;
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    if (!stream)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(create(stream, cudaStreamDefault, 0, "cudaStreamCreate"));
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (!stream)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(create(stream, flags, 0, "cudaStreamCreateWithFlags"));
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    if (!stream)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(create(stream, flags, priority, "cudaStreamCreateWithPriority"));
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return rt_return(rt_profile() ? cudaSuccess : cudaErrorNoDevice);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return rt_return(rt_request(VP_STREAM_DESTROY, "cudaStreamDestroy", STREAM(stream), 0));
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (capture_is_active(stream))
        return rt_return(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = rt_request(VP_STREAM_SYNC, "cudaStreamSynchronize", STREAM(stream), 0);
    rt_managed_pull();
    return rt_return(error);
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return rt_return(rt_request(VP_STREAM_QUERY, "cudaStreamQuery", STREAM(stream), 0));
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    if (capture_event_wait(stream, event))
        return cudaSuccess;
    return rt_return(rt_request(VP_STREAM_WAIT, "cudaStreamWaitEvent", STREAM(stream), 1,
                                (uint64_t)(uintptr_t)event));
}

static cudaError_t info(cudaStream_t stream, struct call *c, const char *api)
{
    *c = rt_call(VP_STREAM_INFO, api);
    c->request.stream = STREAM(stream);
    return rt_exchange(c);
}

API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    if (!flags)
        return rt_return(cudaErrorInvalidValue);
    struct call c;
    cudaError_t error = info(stream, &c, "cudaStreamGetFlags");
    if (!error)
        *flags = (unsigned)c.reply.r[0];
    return rt_return(error);
}

API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (!priority)
        return rt_return(cudaErrorInvalidValue);
    struct call c;
    cudaError_t error = info(stream, &c, "cudaStreamGetPriority");
    if (!error)
        *priority = (int)(int64_t)c.reply.r[1];
    return rt_return(error);
}

API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    if (!id)
        return rt_return(cudaErrorInvalidValue);
    struct call c;
    cudaError_t error = info(stream, &c, "cudaStreamGetId");
    if (!error)
        *id = STREAM(stream) ? STREAM(stream) : 1;
    return rt_return(error);
}

API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    struct call c;
    cudaError_t error = info(stream, &c, "cudaStreamGetDevice");
    if (!error)
        *device = 0;
    return rt_return(error);
}
