/* Green contexts: contexts with a part of the multiprocessors, and streams of their own. Here they
 * differ from other contexts only in what they report: on the virtual clock, their kernels use all
 * multiprocessors. */
#include "vgpu/driver/driver.h"

#include "base/array_room.h"

#include <pthread.h>
#include <string.h>

#define GREEN(context)    ((CUgreenCtx)(void *)(context))
#define CONTEXT(green)    ((CUcontext)(void *)(green))
#define DESCRIBED(sms)    ((CUdevResourceDesc)(uintptr_t)(sms)) /* a number is all it describes */
#define SMS_OF(described) ((unsigned)(uintptr_t)(described))

enum { IGNORE_COSCHEDULING = 1 }; /* a flag whose name older headers do not have */

static struct green_stream {
    unsigned long long number; /* of a stream */
    CUgreenCtx green;
} * streams;
static size_t stream_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t sms_put(CUdevResource *to, unsigned sms)
{
    memset(to, 0, sizeof *to);
    to->type = sms ? CU_DEV_RESOURCE_TYPE_SM : CU_DEV_RESOURCE_TYPE_INVALID;
    to->sm.smCount = sms;
    return cudaSuccess;
}

static cudaError_t sms_get(CUdevResource *to, CUdevResourceType type, unsigned sms)
{
    return !to                               ? cudaErrorInvalidValue
           : type != CU_DEV_RESOURCE_TYPE_SM ? cudaErrorInvalidResourceType
                                             : sms_put(to, sms);
}

static unsigned device_sms(void)
{
    return (unsigned)rt_profile()->multiprocessors;
}

/* Groups consist of whole units, whose size depends on the generation. */
static cudaError_t split(CUdevResource *groups, unsigned *n, const CUdevResource *from,
                         CUdevResource *rest, unsigned flags, unsigned least)
{
    int major = 0;
    if (!n || !from || from->type != CU_DEV_RESOURCE_TYPE_SM)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    const unsigned unit = flags & IGNORE_COSCHEDULING ? 2 : major >= 9 ? 8 : major == 8 ? 4 : 2;
    const unsigned all = from->sm.smCount, units = least ? (least + unit - 1) / unit : 1,
                   most = all / (units * unit);
    if (error || !most)
        return error ? error : cudaErrorInvalidResourceConfiguration;
    *n = !groups || *n > most ? most : *n;
    for (unsigned i = 0; groups && i < *n; i++)
        sms_put(&groups[i], units * unit);
    return rest ? sms_put(rest, all - *n * units * unit) : cudaSuccess;
}

static cudaError_t describe(CUdevResourceDesc *to, const CUdevResource *list, unsigned n)
{
    unsigned sms = 0;
    for (unsigned i = 0; list && i < n; i++)
        sms += list[i].type == CU_DEV_RESOURCE_TYPE_SM ? list[i].sm.smCount : 0;
    return sms ? PUT(to, DESCRIBED(sms), cudaSuccess) : cudaErrorInvalidValue;
}

static cudaError_t create(CUgreenCtx *to, CUdevResourceDesc resources, CUdevice device,
                          unsigned flags)
{
    if (device)
        return cudaErrorInvalidDevice;
    if (!to || !resources || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return cudaErrorInvalidValue;
    *to = GREEN(driver_context_new(0, SMS_OF(resources)));
    return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t destroy(CUgreenCtx green)
{
    pthread_mutex_lock(&lock);
    for (size_t i = stream_count; i-- > 0;)
        if (streams[i].green == green)
            streams[i] = streams[--stream_count];
    pthread_mutex_unlock(&lock);
    return (cudaError_t)cuCtxDestroy(CONTEXT(green));
}

static cudaError_t stream_create(CUstream *to, CUgreenCtx green, unsigned flags, int priority)
{
    struct green_stream made = {.green = green};
    if (!green || !(flags & CU_STREAM_NON_BLOCKING))
        return cudaErrorInvalidValue;
    cudaError_t error = cudaStreamCreateWithPriority(to, flags, priority);
    if (!error)
        error = cudaStreamGetId(*to, &made.number);
    pthread_mutex_lock(&lock);
    if (!error && ARRAY_ROOM(streams, stream_count))
        streams[stream_count++] = made;
    pthread_mutex_unlock(&lock);
    return error;
}

CUgreenCtx driver_green_of(CUstream stream)
{
    unsigned long long number;
    CUgreenCtx green = NULL;
    if (!stream || stream == CU_STREAM_LEGACY) {
        const CUcontext current = driver_context_current();
        return current && current->sms ? GREEN(current) : NULL;
    }
    if (cudaStreamGetId(stream, &number))
        return NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i].number == number)
            green = streams[i].green;
    pthread_mutex_unlock(&lock);
    return green;
}

DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetDevResource,
             (CUdevice device, CUdevResource *to, CUdevResourceType type),
             device ? cudaErrorInvalidDevice : sms_get(to, type, device_sms()))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevSmResourceSplitByCount,
             (CUdevResource * groups, unsigned *n, const CUdevResource *from, CUdevResource *rest,
              unsigned flags, unsigned least),
             split(groups, n, from, rest, flags, least))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevResourceGenerateDesc,
             (CUdevResourceDesc * to, CUdevResource *list, unsigned n), describe(to, list, n))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuGreenCtxCreate,
             (CUgreenCtx * to, CUdevResourceDesc resources, CUdevice device, unsigned flags),
             create(to, resources, device, flags))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuGreenCtxDestroy, (CUgreenCtx green), destroy(green))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxFromGreenCtx, (CUcontext * to, CUgreenCtx green),
             green ? PUT(to, CONTEXT(green), cudaSuccess) : cudaErrorInvalidValue)
DRIVER_NEEDS(DRIVER_INITIALIZED, cuGreenCtxStreamCreate,
             (CUstream * to, CUgreenCtx green, unsigned flags, int priority),
             stream_create(to, green, flags, priority))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuGreenCtxGetDevResource,
             (CUgreenCtx green, CUdevResource *to, CUdevResourceType type),
             green ? sms_get(to, type, CONTEXT(green)->sms) : cudaErrorInvalidValue)
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxGetDevResource,
             (CUcontext context, CUdevResource *to, CUdevResourceType type),
             sms_get(to, type, context && context->sms ? context->sms : device_sms()))
DRIVER(cuStreamGetGreenCtx, (CUstream stream, CUgreenCtx *to),
       PUT(to, driver_green_of(stream), cudaSuccess))
