/* A CUPTI that needs no GPU. It has the functions that libconvlab-cupti.so uses, requests buffers
 * and fills them with records in CUPTI's layouts. */
#include "cupti/tests/fake_cupti.h"

#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define ZERO_NS  1000000000000u /* CUPTI's clock when the program starts */

fake_launch_function fake_launch;
fake_copy_function fake_copy;
fake_odd_function fake_odd;
fake_reset_function fake_reset, fake_stream;
fake_drop_function fake_drop;
fake_switch_function fake_switch;

static struct {
    pthread_mutex_t lock;
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    CUpti_CallbackFunc callback;
    uint8_t *buffer;
    size_t size, used;
    int dropped;
    bool enabled[CUPTI_ACTIVITY_KIND_COUNT], switches[2];
    uint64_t now_ns;   /* 0: unknown */
    int number, first; /* number of the last call, and of the last call before CUPTI was attached */
    bool finalized;
} f = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The distance from one record to the next in a buffer. */
static size_t record_bytes(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return sizeof(CUpti_ActivityDevice5);
    default:
        return sizeof(CUpti_ActivityStream);
    }
}

static void deliver(void)
{
    uint8_t *buffer = f.buffer;
    const size_t used = f.used;
    f.buffer = NULL;
    f.used = 0;
    if (buffer)
        f.completed(NULL, 0, buffer, f.size, used);
}

static void add(const void *record)
{
    const CUpti_ActivityKind kind = ((const CUpti_Activity *)record)->kind;
    const size_t bytes = record_bytes(kind);
    size_t most = 0;
    pthread_mutex_lock(&f.lock);
    if (f.enabled[kind] || kind == CUPTI_ACTIVITY_KIND_STREAM) {
        if (f.buffer && f.size - f.used < bytes)
            deliver();
        if (!f.buffer)
            f.requested(&f.buffer, &f.size, &most);
        if (f.buffer) {
            memcpy(f.buffer + f.used, record, bytes);
            f.used += bytes;
        } else {
            f.dropped++;
        }
    }
    pthread_mutex_unlock(&f.lock);
}

/* ---- CUPTI ---------------------------------------------------------------------------------- */

EXPORTED CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    f.enabled[kind] = true;
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
        const CUpti_ActivityDevice5 device = {.kind = kind,
                                              .name = "NVIDIA Fake",
                                              .computeCapabilityMajor = 9,
                                              .numMultiprocessors = 132,
                                              .coreClockRate = 1980000,
                                              .maxWarpsPerMultiprocessor = 64,
                                              .maxBlocksPerMultiprocessor = 32,
                                              .maxSharedMemoryPerMultiprocessor = 233472,
                                              .maxRegistersPerMultiprocessor = 65536,
                                              .maxRegistersPerBlock = 65536,
                                              .maxThreadsPerBlock = 1024};
        add(&device);
    }
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    f.enabled[kind] = false;
    return CUPTI_SUCCESS;
}

/* A call that reattaches CUPTI by mistake makes the test find lost records. */
static void called(void)
{
    f.dropped += f.finalized;
}

EXPORTED CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&f.lock);
    called();
    deliver();
    pthread_mutex_unlock(&f.lock);
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                                CUpti_Activity **record)
{
    uint8_t *next = buffer;
    if (*record)
        next = (uint8_t *)*record + record_bytes((*record)->kind);
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                       size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = (size_t)f.dropped;
    f.dropped = 0;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed)
{
    f.requested = requested;
    f.completed = completed;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                    void *data)
{
    (void)data;
    *subscriber = NULL;
    f.callback = callback;
    f.finalized = false;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
        id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000)
        f.switches[0] = enable;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
        id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000)
        f.switches[1] = enable;
    return CUPTI_SUCCESS;
}

/* Like CUPTI's function: it detaches everything, and the next call attaches it again. */
EXPORTED CUptiResult cuptiFinalize(void);
EXPORTED CUptiResult cuptiFinalize(void)
{
    pthread_mutex_lock(&f.lock);
    memset(f.enabled, 0, sizeof f.enabled);
    memset(f.switches, 0, sizeof f.switches);
    f.callback = NULL;
    f.buffer = NULL;
    f.used = 0;
    f.first = f.number;
    f.finalized = true;
    pthread_mutex_unlock(&f.lock);
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                          const char **name)
{
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        *name =
            id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2 ? "cuMemcpyHtoD_v2" : "cuLaunchKernel";
    else
        *name = id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020 ? "cudaMemcpy_v3020"
                                                                : "cudaLaunchKernel_ptsz_v7000";
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    (void)result;
    *text = "CUPTI_ERROR_FAKE";
    return CUPTI_SUCCESS;
}

static uint64_t time_of(int number)
{
    return ZERO_NS + (uint64_t)number * 10000;
}

EXPORTED CUptiResult cuptiGetTimestamp(uint64_t *ns)
{
    called();
    static int calls; /* first the program's start, later the end of its last action */
    *ns = calls++ == 0 ? ZERO_NS : f.now_ns ? f.now_ns : time_of(f.number) + 900;
    f.now_ns = 0;
    return CUPTI_SUCCESS;
}

/* ---- the program's actions ------------------------------------------------------------------ */

static uint32_t number_of(int number)
{
    f.number = number;
    return (uint32_t)(number - f.first);
}

static void call(CUpti_ActivityKind kind, CUpti_CallbackId id, uint64_t start, uint64_t end,
                 int number)
{
    const CUpti_ActivityAPI api = {.kind = kind,
                                   .cbid = id,
                                   .start = start,
                                   .end = end,
                                   .processId = 1,
                                   .threadId = 77,
                                   .correlationId = number_of(number)};
    add(&api);
}

/* The kind under which kernels are recorded. */
static CUpti_ActivityKind kernels(void)
{
    return f.enabled[CUPTI_ACTIVITY_KIND_KERNEL] ? CUPTI_ACTIVITY_KIND_KERNEL
                                                 : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

EXPORTED void fake_stream(void)
{
    if (f.callback)
        f.callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, NULL);
}

/* CUPTI records the call itself if its kind is enabled when the call returns.
 */
EXPORTED void fake_switch(int number, int on)
{
    const CUpti_CallbackId id = on ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                                   : CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000;
    for (int site = CUPTI_API_ENTER; site <= CUPTI_API_EXIT && f.switches[on]; site++) {
        const CUpti_CallbackData data = {.callbackSite = (CUpti_ApiCallbackSite)site};
        f.now_ns = time_of(number);
        f.callback(NULL, CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
    }
    call(CUPTI_ACTIVITY_KIND_RUNTIME, id, time_of(number), time_of(number) + 100, number);
}

EXPORTED void fake_launch(int number)
{
    const uint64_t start = time_of(number);
    CUpti_ActivityKernel10 kernel = {.kind = kernels(),
                                     .name = "_Z3addPKfS0_Pfi",
                                     .registersPerThread = 16,
                                     .staticSharedMemory = 1024,
                                     .dynamicSharedMemory = 512,
                                     .sharedMemoryExecuted = 65536,
                                     .gridX = 8,
                                     .gridY = 1,
                                     .gridZ = 1,
                                     .blockX = 256,
                                     .blockY = 1,
                                     .blockZ = 1,
                                     .streamId = 7,
                                     .contextId = 1,
                                     .correlationId = number_of(number),
                                     .start = start + 500,
                                     .end = start + 800};
    add(&kernel);
    call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, start + 100,
         start + 150, number);
    call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, start,
         start + 200, number);
}

EXPORTED void fake_copy(int number, int kind)
{
    const uint64_t start = time_of(number);
    CUpti_ActivityMemcpy6 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                  .copyKind = (uint8_t)kind,
                                  .srcKind = number % 2 ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
                                                        : CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
                                  .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                  .bytes = 4096,
                                  .start = start + 100,
                                  .end = start + 1100,
                                  .streamId = 13,
                                  .correlationId = number_of(number)};
    add(&copy);
    call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, start,
         start + 1200, number);
}

EXPORTED void fake_odd(int number)
{
    const uint64_t start = time_of(number);
    CUpti_ActivityMemset4 fill = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                  .bytes = 4096,
                                  .start = start,
                                  .end = start + 2000,
                                  .streamId = 7,
                                  .correlationId = number_of(number)};
    CUpti_ActivityKernel10 running = {.kind = kernels(), .name = "never"};
    CUpti_ActivityStream other = {.kind = CUPTI_ACTIVITY_KIND_STREAM};
    add(&fill);
    add(&running);
    add(&other);
}

EXPORTED void fake_reset(void)
{
    if (f.callback)
        f.callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                   NULL);
}

EXPORTED void fake_drop(int records)
{
    pthread_mutex_lock(&f.lock);
    f.dropped += records;
    pthread_mutex_unlock(&f.lock);
}
