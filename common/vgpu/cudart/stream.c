/* Streams. */
#include "vgpu/cudart/graph.h"

#define PRIORITY_GREATEST (-5)

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority, const char *api)
{
    if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    if (priority > 0)
        priority = 0;
    if (priority < PRIORITY_GREATEST)
        priority = PRIORITY_GREATEST;
    struct call c = rt_call(VP_STREAM_CREATE, api, 0, flags, priority);
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *stream = POINTER(c.reply.r[0]);
    return error;
}

RT(cudaStreamCreate, (cudaStream_t * stream), create(stream, cudaStreamDefault, 0, __func__))
RT(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
   create(stream, flags, 0, __func__))
RT(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority),
   create(stream, flags, priority, __func__))

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return rt_return(rt_profile() ? cudaSuccess : cudaErrorNoDevice);
}

RT(cudaStreamDestroy, (cudaStream_t stream), rt_request(VP_STREAM_DESTROY, __func__, stream))

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (capture_is_active(stream))
        return rt_return(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = rt_request(VP_STREAM_SYNC, "cudaStreamSynchronize", stream);
    rt_managed_pull();
    return rt_return(error);
}

RT(cudaStreamQuery, (cudaStream_t stream), rt_request(VP_STREAM_QUERY, __func__, stream))

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    if (capture_event_wait(stream, event))
        return cudaSuccess;
    return rt_return(rt_request(VP_STREAM_WAIT, "cudaStreamWaitEvent", stream, HANDLE(event)));
}

/* Queries a stream's flags (@p which 0) or priority (1). On error, @p value is unchanged. */
static cudaError_t info(cudaStream_t stream, int which, uint64_t *value, const char *api)
{
    struct call c = rt_call(VP_STREAM_INFO, api, stream);
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *value = c.reply.r[which];
    return error;
}

API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    uint64_t value;
    if (!flags)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = info(stream, 0, &value, __func__);
    return rt_return(error ? error : PUT(flags, (unsigned)value, cudaSuccess));
}

API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    uint64_t value;
    if (!priority)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = info(stream, 1, &value, __func__);
    return rt_return(error ? error : PUT(priority, (int)(int64_t)value, cudaSuccess));
}

API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    uint64_t unused;
    if (!id)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = info(stream, 0, &unused, __func__);
    return rt_return(error ? error : PUT(id, stream ? HANDLE(stream) : 1, cudaSuccess));
}

API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    uint64_t unused;
    cudaError_t error = info(stream, 0, &unused, __func__);
    return rt_return(error ? error : PUT(device, 0, cudaSuccess));
}
