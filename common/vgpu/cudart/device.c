/* Devices, contexts, versions, limits. Device 0 is the only one. */
#include "vgpu/cudart/shim.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

#define CUDA_VERSION_NUMBER 13000
#define STACK_BYTES_MAX     ((size_t)512 << 10) /* local memory per thread */

static cudaError_t device_check(int device)
{
    if (!rt_profile())
        return rt_request(VP_CALL, "", 0);
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

API cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(0);
    *count = error ? 0 : 1;
    return rt_return(error);
}

API cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = device_check(device);
    if (error)
        return rt_return(error);
    error = rt_request(VP_CALL, "cudaSetDevice", 0);
    /* As on an H200, a device can be selected even after a kernel has faulted. */
    bool is_gone = error == cudaErrorDevicesUnavailable || error == cudaErrorNoDevice;
    return rt_return(is_gone ? error : cudaSuccess);
}

API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
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

/* The device also keeps the limits, because kernels may query them, and launches from kernels
 * depend on one. */
static const size_t first_limits[] = {
#define X(number, name, value) [name] = (value),
#include "vgpu/api/limits.def"
#undef X
};
enum { LIMITS = sizeof first_limits / sizeof *first_limits };
static size_t set_limits[LIMITS]; /* the limit plus 1; 0: not set */

API cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = rt_request(VP_RESET, "cudaDeviceReset", 0);
    rt_forget();
    memset(set_limits, 0, sizeof set_limits);
    return rt_return(error);
}

API cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = rt_request(VP_DEVICE_SYNC, "cudaDeviceSynchronize", 0);
    rt_managed_pull();
    return rt_return(error);
}

RT(cudaDriverGetVersion, (int *version), PUT(version, CUDA_VERSION_NUMBER, cudaSuccess))

RT(cudaRuntimeGetVersion, (int *version), PUT(version, CUDA_VERSION_NUMBER, cudaSuccess))

RT(cudaSetDeviceFlags, (unsigned flags), device_check(0))

RT(cudaGetDeviceFlags, (unsigned *flags), PUT(flags, cudaDeviceMapHost, device_check(0)))

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = device_check(device) ? cudaErrorInvalidDevice : device_check(peer);
    if (!error)
        *can = 0;
    return rt_return(error);
}

/* A device is not its own peer, and no other device exists. */
RT(cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
   peer    ? cudaErrorInvalidDevice
   : flags ? cudaErrorInvalidValue
           : cudaErrorPeerAccessUnsupported)
RT(cudaDeviceDisablePeerAccess, (int peer),
   peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled)
RT(cudaDeviceGetP2PAttribute, (int *to, enum cudaDeviceP2PAttr which, int device, int peer),
   to ? cudaErrorInvalidDevice : cudaErrorInvalidValue)

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

RT(cudaDeviceGetCacheConfig, (enum cudaFuncCache * config),
   PUT(config, cudaFuncCachePreferNone, device_check(0)))

RT(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), device_check(0))

RT(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig * config),
   PUT(config, cudaSharedMemBankSizeFourByte, device_check(0)))

RT(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config), device_check(0))

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if ((size_t)limit >= LIMITS)
        return rt_return(cudaErrorInvalidValue);
    const size_t now = set_limits[limit] ? set_limits[limit] - 1 : first_limits[limit];
    return rt_return(PUT(value, now, device_check(0)));
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= LIMITS || (limit == cudaLimitStackSize && value > STACK_BYTES_MAX))
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_request(VP_LIMIT, "cudaDeviceSetLimit", 0, limit, value);
    if (!error)
        set_limits[limit] = value + 1;
    return rt_return(error);
}

RT(cudaCtxResetPersistingL2Cache, (void), device_check(0))
RT(cudaProfilerStart, (void), rt_request(VP_CALL, __func__, 0))
RT(cudaProfilerStop, (void), rt_request(VP_CALL, __func__, 0))
