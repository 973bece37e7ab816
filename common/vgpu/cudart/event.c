/* Events. Their times are those of the device process's modelled clock. */
#include "vgpu/cudart/graph.h"

#include <string.h>

#define EVENT(e) ((uint64_t)(uintptr_t)(e))

static cudaError_t create(cudaEvent_t *event, unsigned flags, const char *api)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~known))
        return cudaErrorInvalidValue;
    struct call c = rt_call(VP_EVENT_CREATE, api);
    c.request.a[0] = flags;
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *event = (cudaEvent_t)(uintptr_t)c.reply.r[0];
    return error;
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    if (!event)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(create(event, cudaEventDefault, "cudaEventCreate"));
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!event)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(create(event, flags, "cudaEventCreateWithFlags"));
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return rt_return(rt_request(VP_EVENT_DESTROY, "cudaEventDestroy", 0, 1, EVENT(event)));
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (capture_event_record(stream, event))
        return cudaSuccess;
    return rt_return(
        rt_request(VP_EVENT_RECORD, "cudaEventRecord", STREAM(stream), 1, EVENT(event)));
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = rt_request(VP_EVENT_SYNC, "cudaEventSynchronize", 0, 1, EVENT(event));
    rt_managed_pull();
    return rt_return(error);
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return rt_return(rt_request(VP_EVENT_QUERY, "cudaEventQuery", 0, 1, EVENT(event)));
}

API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    struct call c = rt_call(VP_EVENT_ELAPSED, "cudaEventElapsedTime");
    c.request.a[0] = EVENT(from);
    c.request.a[1] = EVENT(to);
    if (!ms)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_exchange(&c);
    double elapsed;
    memcpy(&elapsed, &c.reply.r[0], sizeof elapsed);
    if (!error)
        *ms = (float)elapsed;
    return rt_return(error);
}
