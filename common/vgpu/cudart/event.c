/* Events. Their times come from the device process's modelled clock. */
#include "vgpu/cudart/graph.h"

#include <string.h>

static cudaError_t create(cudaEvent_t *event, unsigned flags, const char *api)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool is_shared = flags & cudaEventInterprocess;
    if (!event || (flags & ~known) || (is_shared && !(flags & cudaEventDisableTiming)))
        return cudaErrorInvalidValue;
    struct call c = rt_call(VP_EVENT_CREATE, api, 0, flags);
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *event = POINTER(c.reply.r[0]);
    return error;
}

RT(cudaEventCreate, (cudaEvent_t * event), create(event, cudaEventDefault, __func__))
RT(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), create(event, flags, __func__))
RT(cudaEventDestroy, (cudaEvent_t event), rt_request(VP_EVENT_DESTROY, __func__, 0, HANDLE(event)))

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (capture_event_record(stream, event))
        return cudaSuccess;
    return rt_return(rt_request(VP_EVENT_RECORD, "cudaEventRecord", stream, HANDLE(event)));
}

RT(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
   cudaEventRecord(event, stream))

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = rt_request(VP_EVENT_SYNC, "cudaEventSynchronize", 0, HANDLE(event));
    rt_managed_pull();
    return rt_return(error);
}

RT(cudaEventQuery, (cudaEvent_t event), rt_request(VP_EVENT_QUERY, __func__, 0, HANDLE(event)))

API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    struct call c = rt_call(VP_EVENT_ELAPSED, "cudaEventElapsedTime", 0, HANDLE(from), HANDLE(to));
    if (!ms)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_exchange(&c);
    double elapsed;
    memcpy(&elapsed, &c.reply.r[0], sizeof elapsed);
    if (!error)
        *ms = (float)elapsed;
    return rt_return(error);
}
