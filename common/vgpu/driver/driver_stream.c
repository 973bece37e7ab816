/* Streams, events, and host functions. */
#include "vgpu/driver/driver.h"

static cudaError_t context_of(CUcontext *to)
{
    return (cudaError_t)cuCtxGetCurrent(to);
}

DRIVER(cuStreamCreate, (CUstream * to, unsigned flags), cudaStreamCreateWithFlags(to, flags))
DRIVER(cuStreamCreateWithPriority, (CUstream * to, unsigned flags, int priority),
       cudaStreamCreateWithPriority(to, flags, priority))
DRIVER(cuStreamDestroy, (CUstream stream), cudaStreamDestroy(stream))
DRIVER(cuStreamSynchronize, (CUstream stream), cudaStreamSynchronize(stream))
DRIVER(cuStreamQuery, (CUstream stream), cudaStreamQuery(stream))
DRIVER(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
       cudaStreamWaitEvent(stream, event, flags))
DRIVER(cuStreamGetFlags, (CUstream stream, unsigned *to), cudaStreamGetFlags(stream, to))
DRIVER(cuStreamGetPriority, (CUstream stream, int *to), cudaStreamGetPriority(stream, to))
DRIVER(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *value),
       cudaStreamSetAttribute(stream, (enum cudaLaunchAttributeID)id,
                              (const cudaLaunchAttributeValue *)(const void *)value))
DRIVER(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value),
       cudaStreamGetAttribute(stream, (enum cudaLaunchAttributeID)id,
                              (cudaLaunchAttributeValue *)(void *)value))
DRIVER(cuStreamCopyAttributes, (CUstream to, CUstream from), cudaStreamCopyAttributes(to, from))
DRIVER(cuStreamGetId, (CUstream stream, unsigned long long *to), cudaStreamGetId(stream, to))
DRIVER(cuStreamGetCtx, (CUstream stream, CUcontext *to), context_of(to))
DRIVER_VERSION(DRIVER_CONTEXT, cuStreamGetCtx_v2, "cuStreamGetCtx",
               (CUstream stream, CUcontext *to, CUgreenCtx *green),
               green && (*green = driver_green_of(stream)) ? PUT(to, NULL, cudaSuccess)
                                                           : context_of(to))
DRIVER(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr p, size_t bytes, unsigned flags),
       cudaStreamAttachMemAsync(stream, POINTER(p), bytes, flags))
/* the callback expects a CUresult but gets a cudaError_t; faults have the same numbers in both */
DRIVER(cuStreamAddCallback,
       (CUstream stream, CUstreamCallback function, void *data, unsigned flags),
       cudaStreamAddCallback(stream, (cudaStreamCallback_t)function, data, flags))
DRIVER(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
       cudaLaunchHostFunc(stream, function, data))

DRIVER(cuEventCreate, (CUevent * to, unsigned flags), cudaEventCreateWithFlags(to, flags))
DRIVER(cuEventDestroy, (CUevent event), cudaEventDestroy(event))
DRIVER(cuEventRecord, (CUevent event, CUstream stream), cudaEventRecord(event, stream))
DRIVER(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),
       cudaEventRecordWithFlags(event, stream, flags))
DRIVER(cuEventSynchronize, (CUevent event), cudaEventSynchronize(event))
DRIVER(cuEventQuery, (CUevent event), cudaEventQuery(event))
/* the second version differs only in how long event times are kept */
DRIVER_VERSION(DRIVER_CONTEXT, cuEventElapsedTime, "cuEventElapsedTime",
               (float *ms, CUevent from, CUevent to), cudaEventElapsedTime(ms, from, to))
DRIVER_VERSION(DRIVER_CONTEXT, cuEventElapsedTime_v2, "cuEventElapsedTime",
               (float *ms, CUevent from, CUevent to), cudaEventElapsedTime(ms, from, to))
