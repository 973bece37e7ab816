/* The device's properties and attributes, from the profile. */
#include "vgpu/cudart/shim.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "cudaDeviceProp of CUDA 13");

#define GRID_X_MAX  0x7fffffff
#define GRID_YZ_MAX 65535
#define BLOCK_Z_MAX 64
#define WARP        32

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *to, int device)
{
    const struct vg_profile *p = rt_profile();
    if (!p)
        return rt_return(cudaErrorNoDevice);
    if (!to || device != 0)
        return rt_return(to ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    memset(to, 0, sizeof *to);
    snprintf(to->name, sizeof to->name, "%s (virtual)", p->product);
    memcpy(to->uuid.bytes, "ConvLab virtual", 16);
    to->totalGlobalMem = p->global_bytes;
    to->sharedMemPerBlock = p->shared_per_block_bytes;
    to->regsPerBlock = p->registers_per_block;
    to->warpSize = WARP;
    to->memPitch = 0x7fffffff;
    to->maxThreadsPerBlock = p->max_threads_per_block;
    to->maxThreadsDim[0] = to->maxThreadsDim[1] = 1024;
    to->maxThreadsDim[2] = BLOCK_Z_MAX;
    to->maxGridSize[0] = GRID_X_MAX;
    to->maxGridSize[1] = to->maxGridSize[2] = GRID_YZ_MAX;
    to->totalConstMem = p->constant_bytes;
    to->major = p->compute_major;
    to->minor = p->compute_minor;
    to->textureAlignment = 512;
    to->texturePitchAlignment = 32;
    to->surfaceAlignment = 512;
    to->multiProcessorCount = p->multiprocessors;
    to->canMapHostMemory = 1;
    to->concurrentKernels = 1;
    to->ECCEnabled = 1;
    to->pciBusID = 1;
    to->asyncEngineCount = 3;
    to->unifiedAddressing = 1;
    to->memoryBusWidth = p->memory_bus_bits;
    to->l2CacheSize = (int)p->l2_bytes;
    to->maxThreadsPerMultiProcessor = p->max_threads_per_multiprocessor;
    to->streamPrioritiesSupported = 1;
    to->globalL1CacheSupported = to->localL1CacheSupported = 1;
    to->sharedMemPerMultiprocessor = p->shared_per_multiprocessor_bytes;
    to->regsPerMultiprocessor = p->registers_per_multiprocessor;
    to->managedMemory = to->concurrentManagedAccess = 1;
    to->cooperativeLaunch = 1;
    to->sharedMemPerBlockOptin = p->shared_per_block_optin_bytes;
    to->maxBlocksPerMultiProcessor = p->max_blocks_per_multiprocessor;
    to->reservedSharedMemPerBlock = p->shared_reserved_bytes;
    to->hostRegisterSupported = 1;
    to->memoryPoolsSupported = 1;
    to->hostNumaId = -1;
    return cudaSuccess;
}

/* An attribute's value; what the virtual GPU does not have is 0. */
static long attribute(const struct vg_profile *p, enum cudaDeviceAttr which)
{
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
        return p->max_threads_per_block;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
        return 1024;
    case cudaDevAttrMaxBlockDimZ:
        return BLOCK_Z_MAX;
    case cudaDevAttrMaxGridDimX:
        return GRID_X_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return GRID_YZ_MAX;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return (long)p->shared_per_block_bytes;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return (long)p->shared_per_block_optin_bytes;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        return (long)p->shared_reserved_bytes;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return (long)p->shared_per_multiprocessor_bytes;
    case cudaDevAttrTotalConstantMemory:
        return (long)p->constant_bytes;
    case cudaDevAttrWarpSize:
        return WARP;
    case cudaDevAttrMaxPitch:
        return 0x7fffffff;
    case cudaDevAttrMaxRegistersPerBlock:
        return p->registers_per_block;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return p->registers_per_multiprocessor;
    case cudaDevAttrClockRate:
        return (long)(p->clock_hz / 1000);
    case cudaDevAttrMemoryClockRate:
        return (long)(p->memory_clock_hz / 1000);
    case cudaDevAttrGlobalMemoryBusWidth:
        return p->memory_bus_bits;
    case cudaDevAttrL2CacheSize:
        return (long)p->l2_bytes;
    case cudaDevAttrMultiProcessorCount:
        return p->multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return p->max_threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return p->max_blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
        return p->compute_major;
    case cudaDevAttrComputeCapabilityMinor:
        return p->compute_minor;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
        return (long)(p->fp32_lanes / p->fp64_lanes);
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
        return 512;
    case cudaDevAttrTexturePitchAlignment:
        return 32;
    case cudaDevAttrAsyncEngineCount:
        return 3;
    case cudaDevAttrPciBusId:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
        return 1;
    default:
        return 0;
    }
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    const struct vg_profile *p = rt_profile();
    if (!p)
        return rt_return(cudaErrorNoDevice);
    if (!value || device != 0 || (int)which < 1 || which >= cudaDevAttrMax)
        return rt_return(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *value = (int)attribute(p, which);
    return cudaSuccess;
}
