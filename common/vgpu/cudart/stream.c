/* Streams. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <pthread.h>
#include <string.h>

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

/* ---- attributes, which are only stored ------------------------------------------------------- */

static struct attribute {
    cudaStream_t stream;
    enum cudaLaunchAttributeID id;
    cudaLaunchAttributeValue value;
} * attributes;
static size_t attribute_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct attribute *attribute_find(cudaStream_t stream, enum cudaLaunchAttributeID id)
{
    for (size_t i = 0; i < attribute_count; i++)
        if (attributes[i].stream == stream && attributes[i].id == id)
            return &attributes[i];
    return NULL;
}

static bool is_attribute(enum cudaLaunchAttributeID id)
{
    return id == cudaLaunchAttributeAccessPolicyWindow ||
           id == cudaLaunchAttributeSynchronizationPolicy || id == cudaLaunchAttributePriority ||
           id == cudaLaunchAttributeMemSyncDomainMap || id == cudaLaunchAttributeMemSyncDomain;
}

API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, enum cudaLaunchAttributeID id,
                                       const cudaLaunchAttributeValue *value)
{
    if (!value || !is_attribute(id))
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_request(VP_CALL, "cudaStreamSetAttribute", stream);
    if (error)
        return rt_return(error);
    pthread_mutex_lock(&lock);
    struct attribute *a = attribute_find(stream, id);
    if (!a && ARRAY_ROOM(attributes, attribute_count))
        a = &attributes[attribute_count++];
    if (a)
        *a = (struct attribute){stream, id, *value};
    pthread_mutex_unlock(&lock);
    return rt_return(a ? cudaSuccess : cudaErrorMemoryAllocation);
}

API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, enum cudaLaunchAttributeID id,
                                       cudaLaunchAttributeValue *value)
{
    if (!value || !is_attribute(id))
        return rt_return(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    const struct attribute *a = attribute_find(stream, id);
    if (a)
        *value = a->value;
    pthread_mutex_unlock(&lock);
    if (a)
        return cudaSuccess;
    memset(value, 0, sizeof *value);
    if (id == cudaLaunchAttributePriority)
        return cudaStreamGetPriority(stream, &value->priority);
    if (id == cudaLaunchAttributeSynchronizationPolicy)
        value->syncPolicy = cudaSyncPolicyAuto;
    if (id == cudaLaunchAttributeMemSyncDomainMap)
        value->memSyncDomainMap.remote = 1;
    return cudaSuccess;
}

API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    cudaError_t error = cudaSuccess;
    for (int id = 0; id <= (int)cudaLaunchAttributeMemSyncDomain && !error; id++) {
        pthread_mutex_lock(&lock);
        const struct attribute *a = attribute_find(from, (enum cudaLaunchAttributeID)id);
        cudaLaunchAttributeValue value = a ? a->value : (cudaLaunchAttributeValue){0};
        pthread_mutex_unlock(&lock);
        if (a)
            error = cudaStreamSetAttribute(to, (enum cudaLaunchAttributeID)id, &value);
    }
    return error;
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    for (size_t i = attribute_count; i-- > 0;)
        if (attributes[i].stream == stream)
            attributes[i] = attributes[--attribute_count];
    pthread_mutex_unlock(&lock);
    return rt_return(rt_request(VP_STREAM_DESTROY, "cudaStreamDestroy", stream));
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (capture_forbids(stream))
        return rt_return(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = rt_request(VP_STREAM_SYNC, "cudaStreamSynchronize", stream);
    rt_managed_pull();
    return rt_return(error);
}

RT(cudaStreamQuery, (cudaStream_t stream),
   capture_forbids(stream) ? cudaErrorStreamCaptureUnsupported
                           : rt_request(VP_STREAM_QUERY, __func__, stream))

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
