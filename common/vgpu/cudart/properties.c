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
static double attribute(const struct vg_profile *p, enum cudaDeviceAttr which)
{
    const struct {
        enum cudaDeviceAttr which;
        double value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, p->max_threads_per_block},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, BLOCK_Z_MAX},
        {cudaDevAttrMaxGridDimX, GRID_X_MAX},
        {cudaDevAttrMaxGridDimY, GRID_YZ_MAX},
        {cudaDevAttrMaxGridDimZ, GRID_YZ_MAX},
        {cudaDevAttrMaxSharedMemoryPerBlock, (double)p->shared_per_block_bytes},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (double)p->shared_per_block_optin_bytes},
        {cudaDevAttrReservedSharedMemoryPerBlock, (double)p->shared_reserved_bytes},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (double)p->shared_per_multiprocessor_bytes},
        {cudaDevAttrTotalConstantMemory, (double)p->constant_bytes},
        {cudaDevAttrWarpSize, WARP},
        {cudaDevAttrMaxPitch, 0x7fffffff},
        {cudaDevAttrMaxRegistersPerBlock, p->registers_per_block},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p->registers_per_multiprocessor},
        {cudaDevAttrClockRate, p->clock_hz / 1000},
        {cudaDevAttrMemoryClockRate, p->memory_clock_hz / 1000},
        {cudaDevAttrGlobalMemoryBusWidth, p->memory_bus_bits},
        {cudaDevAttrL2CacheSize, (double)p->l2_bytes},
        {cudaDevAttrMultiProcessorCount, p->multiprocessors},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p->max_threads_per_multiprocessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p->max_blocks_per_multiprocessor},
        {cudaDevAttrComputeCapabilityMajor, p->compute_major},
        {cudaDevAttrComputeCapabilityMinor, p->compute_minor},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, p->fp32_lanes / p->fp64_lanes},
        {cudaDevAttrTextureAlignment, 512},
        {cudaDevAttrSurfaceAlignment, 512},
        {cudaDevAttrTexturePitchAlignment, 32},
        {cudaDevAttrAsyncEngineCount, 3},
        {cudaDevAttrPciBusId, 1},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrEccEnabled, 1},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrGlobalL1CacheSupported, 1},
        {cudaDevAttrLocalL1CacheSupported, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrHostRegisterSupported, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].which == which)
            return values[i].value;
    return 0;
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
