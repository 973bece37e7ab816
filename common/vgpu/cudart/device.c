/* Devices, contexts, versions, limits: there is one device, number 0. */
#include "vgpu/cudart/shim.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

#define CUDA_VERSION_NUMBER 13000
#define STACK_BYTES_MAX     ((size_t)512 << 10) /* local memory of a thread */

static cudaError_t device_check(int device)
{
    if (!rt_profile())
        return rt_request(VP_CALL, "", 0, 0);
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

API cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(0);
    if (count)
        *count = error ? 0 : 1;
    return rt_return(error);
}

API cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = device_check(device);
    if (error)
        return rt_return(error);
    error = rt_request(VP_CALL, "cudaSetDevice", 0, 0);
    /* As seen on an H200: what a kernel broke does not keep a device from being chosen. */
    bool is_gone = error == cudaErrorDevicesUnavailable || error == cudaErrorNoDevice;
    return rt_return(is_gone ? error : cudaSuccess);
}

API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

API cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(0);
    if (!error)
        *device = 0;
    return rt_return(error);
}

API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (!device)
        return rt_return(cudaErrorInvalidValue);
    (void)prop;
    return cudaGetDevice(device);
}

API cudaError_t cudaSetValidDevices(int *devices, int n)
{
    for (int i = 0; i < n; i++) {
        if (devices[i] != 0)
            return rt_return(cudaErrorInvalidDevice);
    }
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = rt_request(VP_RESET, "cudaDeviceReset", 0, 0);
    rt_forget();
    return rt_return(error);
}

API cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = rt_request(VP_DEVICE_SYNC, "cudaDeviceSynchronize", 0, 0);
    rt_managed_pull();
    return rt_return(error);
}

API cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version)
        return rt_return(cudaErrorInvalidValue);
    *version = CUDA_VERSION_NUMBER;
    return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return rt_return(cudaErrorInvalidValue);
    *version = CUDA_VERSION_NUMBER;
    return cudaSuccess;
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return rt_return(device_check(0));
}

API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags)
        return rt_return(cudaErrorInvalidValue);
    *flags = cudaDeviceMapHost;
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(device) ? cudaErrorInvalidDevice : device_check(peer);
    if (!error)
        *can = 0;
    return rt_return(error);
}

API cudaError_t cudaDeviceGetPCIBusId(char *to, int room, int device)
{
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(device);
    if (!error && snprintf(to, (size_t)room, "0000:01:00.0") >= room)
        error = cudaErrorInvalidValue;
    return rt_return(error);
}

API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    if (!device)
        return rt_return(cudaErrorInvalidValue);
    *device = 0;
    return rt_return(strcmp(id, "0000:01:00.0") == 0 ? device_check(0) : cudaErrorInvalidDevice);
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config)
        return rt_return(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (!config)
        return rt_return(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return rt_return(device_check(0));
}

/* Limits are kept, but nothing here depends on them. */
static size_t limits[] = {[cudaLimitStackSize] = 1024,
                          [cudaLimitPrintfFifoSize] = 8650752,
                          [cudaLimitMallocHeapSize] = 8388608,
                          [cudaLimitDevRuntimeSyncDepth] = 0,
                          [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                          [cudaLimitMaxL2FetchGranularity] = 64,
                          [cudaLimitPersistingL2CacheSize] = 11796480};

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value)
        return rt_return(cudaErrorInvalidValue);
    if ((size_t)limit >= sizeof limits / sizeof *limits)
        return rt_return(cudaErrorInvalidValue);
    *value = limits[limit];
    return rt_return(device_check(0));
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= sizeof limits / sizeof *limits)
        return rt_return(cudaErrorInvalidValue);
    if (limit == cudaLimitStackSize && value > STACK_BYTES_MAX)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_request(VP_CALL, "cudaDeviceSetLimit", 0, 0);
    if (!error)
        limits[limit] = value;
    return rt_return(error);
}

API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return rt_return(device_check(0));
}

API cudaError_t cudaProfilerStart(void)
{
    return rt_return(rt_request(VP_CALL, "cudaProfilerStart", 0, 0));
}

API cudaError_t cudaProfilerStop(void)
{
    return rt_return(rt_request(VP_CALL, "cudaProfilerStop", 0, 0));
}
