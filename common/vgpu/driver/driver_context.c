/* Initialisation, devices, contexts. Only one device and one address space exist: contexts differ
 * only in their handles. */
#include "vgpu/driver/driver.h"

#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_NAME_MOST 256
#define API_VERSION      3020 /* the API version of contexts since CUDA 4 */
#define DEPTH_MAX        64

static struct CUctx_st primary = {.number = 1};
static atomic_uint primary_users;
static atomic_uint_fast64_t contexts_made, contexts_alive;
static atomic_bool initialized;
static atomic_long outliving; /* see driver_outlives() */
static _Thread_local struct {
    CUcontext stack[DEPTH_MAX];
    int n;
} current;

/* ---- calls ---------------------------------------------------------------------------------- */

CUcontext driver_context_current(void)
{
    return current.n ? current.stack[current.n - 1] : rt_runtime_is_used() ? &primary : NULL;
}

CUresult driver_begin(const char *name, enum driver_state needed)
{
    rt_driver_call = name;
    if (needed >= DRIVER_INITIALIZED && !initialized && !rt_runtime_is_used())
        return CUDA_ERROR_NOT_INITIALIZED;
    return needed == DRIVER_CONTEXT && !driver_context_current() ? CUDA_ERROR_INVALID_CONTEXT
                                                                 : CUDA_SUCCESS;
}

CUresult driver_end(cudaError_t error)
{
    rt_driver_call = NULL;
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_NOT_FOUND;
    default:
        return (CUresult)error;
    }
}

/* ---- devices -------------------------------------------------------------------------------- */

static cudaError_t device_check(CUdevice device)
{
    return !rt_profile() ? cudaErrorNoDevice : device ? cudaErrorInvalidDevice : cudaSuccess;
}

static cudaError_t initialize(unsigned flags)
{
    cudaError_t error = flags ? cudaErrorInvalidValue : device_check(0);
    initialized = initialized || !error;
    return error;
}

/* Copies the name or the UUID, the first fields of the runtime's structure. */
static cudaError_t device_text(char *to, size_t at, size_t bytes, CUdevice device)
{
    char properties[RT_PROPERTIES_BYTES];
    cudaError_t error = to ? rt_properties(properties, device, 13) : cudaErrorInvalidValue;
    if (!error)
        memcpy(to, properties + at, bytes);
    return error;
}

static cudaError_t device_name(char *to, int room, CUdevice device)
{
    char name[DEVICE_NAME_MOST];
    cudaError_t error =
        room > 0 ? device_text(name, 0, sizeof name, device) : cudaErrorInvalidValue;
    if (!error) {
        strncpy(to, name, (size_t)room - 1);
        to[room - 1] = '\0';
    }
    return error;
}

static cudaError_t total_memory(size_t *to, CUdevice device)
{
    cudaError_t error = device_check(device);
    return error ? error : PUT(to, rt_profile()->global_bytes, cudaSuccess);
}

static cudaError_t compute_capability(int *major, int *minor, CUdevice device)
{
    cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return error ? error : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
}

DRIVER_NEEDS(DRIVER_ANY, cuInit, (unsigned flags), initialize(flags))
DRIVER_NEEDS(DRIVER_ANY, cuDriverGetVersion, (int *version), cudaDriverGetVersion(version))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetCount, (int *n), PUT(n, 1, device_check(0)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGet, (CUdevice * to, int i), PUT(to, i, device_check(i)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetName, (char *to, int room, CUdevice device),
             device_name(to, room, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetUuid, (CUuuid * to, CUdevice device),
             device_text((char *)to, DEVICE_NAME_MOST, sizeof *to, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceTotalMem, (size_t * to, CUdevice device),
             total_memory(to, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetAttribute,
             (int *to, CUdevice_attribute which, CUdevice device),
             cudaDeviceGetAttribute(to, (enum cudaDeviceAttr)which, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceComputeCapability,
             (int *major, int *minor, CUdevice device), compute_capability(major, minor, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetPCIBusId, (char *to, int room, CUdevice device),
             cudaDeviceGetPCIBusId(to, room, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetByPCIBusId, (CUdevice * to, const char *id),
             cudaDeviceGetByPCIBusId(to, id))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer),
             cudaDeviceCanAccessPeer(can, device, peer))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetP2PAttribute,
             (int *to, CUdevice_P2PAttribute which, CUdevice device, CUdevice peer),
             cudaDeviceGetP2PAttribute(to, (enum cudaDeviceP2PAttr)which, device, peer))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetDefaultMemPool, (CUmemoryPool * to, CUdevice device),
             cudaDeviceGetDefaultMemPool(to, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceGetMemPool, (CUmemoryPool * to, CUdevice device),
             cudaDeviceGetMemPool(to, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
             cudaDeviceSetMemPool(device, pool))

/* ---- contexts ------------------------------------------------------------------------------- */

static cudaError_t push(CUcontext context)
{
    if (!context || current.n == DEPTH_MAX)
        return cudaErrorInvalidValue;
    current.stack[current.n++] = context;
    return cudaSuccess;
}

static cudaError_t pop(CUcontext *to)
{
    if (!current.n)
        return (cudaError_t)CUDA_ERROR_INVALID_CONTEXT;
    CUcontext context = current.stack[--current.n];
    if (to)
        *to = context;
    return cudaSuccess;
}

static cudaError_t set(CUcontext context)
{
    if (current.n)
        current.n--;
    return context ? push(context) : cudaSuccess;
}

CUcontext driver_context_new(unsigned flags, unsigned sms)
{
    CUcontext context = calloc(1, sizeof *context);
    if (context) {
        *context = (struct CUctx_st){
            .flags = flags, .number = ++contexts_made + primary.number, .sms = sms};
        contexts_alive++;
    }
    return context;
}

static cudaError_t create(CUcontext *to, unsigned flags, CUdevice device)
{
    cudaError_t error = to ? device_check(device) : cudaErrorInvalidValue;
    if (error)
        return error;
    CUcontext context = current.n < DEPTH_MAX ? driver_context_new(flags, 0) : NULL;
    if (!context)
        return cudaErrorMemoryAllocation;
    *to = context;
    return push(context);
}

cudaError_t driver_outlives(cudaError_t error, int change)
{
    outliving += error ? 0 : change;
    return error;
}

/* The end of the last context frees all allocations. */
static cudaError_t release_device(void)
{
    return primary_users || contexts_alive || rt_runtime_is_used() || outliving > 0
               ? cudaSuccess
               : cudaDeviceReset();
}

static cudaError_t destroy(CUcontext context)
{
    if (!context || context == &primary)
        return (cudaError_t)CUDA_ERROR_INVALID_CONTEXT;
    if (current.n && current.stack[current.n - 1] == context)
        current.n--;
    contexts_alive--;
    free(context);
    return release_device();
}

static cudaError_t primary_retain(CUcontext *to, CUdevice device)
{
    cudaError_t error = PUT(to, &primary, device_check(device));
    primary_users += !error;
    return error;
}

static cudaError_t primary_release(CUdevice device)
{
    if (!primary_users)
        return (cudaError_t)CUDA_ERROR_INVALID_CONTEXT;
    primary_users--;
    return device ? cudaErrorInvalidDevice : release_device();
}

static cudaError_t primary_state(unsigned *flags, int *active, CUdevice device)
{
    if (!flags || !active)
        return cudaErrorInvalidValue;
    *flags = primary.flags;
    *active = primary_users || rt_runtime_is_used();
    return device_check(device);
}

/* The parameters of cuCtxCreate() since CUDA 13, in this library's own words: older headers do not
 * have them. Programs pass an empty structure if they want an ordinary context. */
static bool asks_nothing(const void *parameters)
{
    const struct {
        void *affinities;
        int affinity_count;
        void *graphics;
    } *p = parameters;
    return !p || (!p->affinity_count && !p->graphics);
}

/* NULL means the current context */
static uint64_t number_of(CUcontext context)
{
    return context ? context->number : driver_context_current()->number;
}

DRIVER_VERSION(DRIVER_INITIALIZED, cuCtxCreate_v2, "cuCtxCreate",
               (CUcontext * to, unsigned flags, CUdevice device), create(to, flags, device))
DRIVER_VERSION(DRIVER_INITIALIZED, cuCtxCreate_v3, "cuCtxCreate",
               (CUcontext * to, void *affinity, int n, unsigned flags, CUdevice device),
               n ? cudaErrorNotSupported : create(to, flags, device))
DRIVER_VERSION(DRIVER_INITIALIZED, cuCtxCreate_v4, "cuCtxCreate",
               (CUcontext * to, const void *parameters, unsigned flags, CUdevice device),
               asks_nothing(parameters) ? create(to, flags, device) : cudaErrorNotSupported)

DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxDestroy, (CUcontext context), destroy(context))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxDetach, (CUcontext context), destroy(context))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxPushCurrent, (CUcontext context), push(context))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxPopCurrent, (CUcontext * to), pop(to))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxSetCurrent, (CUcontext context), set(context))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuCtxGetCurrent, (CUcontext * to),
             PUT(to, driver_context_current(), cudaSuccess))
DRIVER(cuCtxGetDevice, (CUdevice * to), PUT(to, 0, cudaSuccess))
DRIVER_VERSION(DRIVER_CONTEXT, cuCtxGetDevice_v2, "cuCtxGetDevice",
               (CUdevice * to, CUcontext context), PUT(to, 0, cudaSuccess))
DRIVER(cuCtxGetFlags, (unsigned *to), PUT(to, driver_context_current()->flags, cudaSuccess))
DRIVER(cuCtxGetId, (CUcontext context, unsigned long long *to),
       PUT(to, number_of(context), cudaSuccess))
DRIVER(cuCtxGetApiVersion, (CUcontext context, unsigned *to), PUT(to, API_VERSION, cudaSuccess))
DRIVER(cuCtxSynchronize, (void), cudaDeviceSynchronize())
DRIVER_VERSION(DRIVER_CONTEXT, cuCtxSynchronize_v2, "cuCtxSynchronize", (CUcontext context),
               cudaDeviceSynchronize())
DRIVER(cuCtxGetLimit, (size_t * to, CUlimit limit), cudaDeviceGetLimit(to, (enum cudaLimit)limit))
DRIVER(cuCtxSetLimit, (CUlimit limit, size_t value),
       cudaDeviceSetLimit((enum cudaLimit)limit, value))
DRIVER(cuCtxGetCacheConfig, (CUfunc_cache * to), PUT(to, CU_FUNC_CACHE_PREFER_NONE, cudaSuccess))
DRIVER(cuCtxSetCacheConfig, (CUfunc_cache config), cudaSuccess)
DRIVER(cuCtxGetSharedMemConfig, (CUsharedconfig * to),
       PUT(to, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, cudaSuccess))
DRIVER(cuCtxSetSharedMemConfig, (CUsharedconfig config), cudaSuccess)
DRIVER(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
       cudaDeviceGetStreamPriorityRange(least, greatest))
DRIVER(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags),
       peer ? cudaDeviceEnablePeerAccess(0, flags) : (cudaError_t)CUDA_ERROR_INVALID_CONTEXT)
DRIVER(cuCtxDisablePeerAccess, (CUcontext peer),
       peer ? cudaErrorPeerAccessNotEnabled : (cudaError_t)CUDA_ERROR_INVALID_CONTEXT)
DRIVER(cuProfilerStart, (void), cudaProfilerStart())
DRIVER(cuProfilerStop, (void), cudaProfilerStop())

DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevicePrimaryCtxRetain, (CUcontext * to, CUdevice device),
             primary_retain(to, device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevicePrimaryCtxRelease, (CUdevice device),
             primary_release(device))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevicePrimaryCtxReset, (CUdevice device),
             device ? cudaErrorInvalidDevice : cudaDeviceReset())
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned flags),
             PUT(&primary.flags, flags, device_check(device)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuDevicePrimaryCtxGetState,
             (CUdevice device, unsigned *flags, int *active), primary_state(flags, active, device))
