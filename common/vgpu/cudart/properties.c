/* The device's properties and attributes, from the profile. */
#include "vgpu/cudart/shim.h"

#include <stdio.h>
#include <string.h>

#define GRID_X_MAX  0x7fffffff
#define GRID_YZ_MAX 65535
#define BLOCK_Z_MAX 64
#define WARP        32

/* Where the fields are and what they hold, for both versions. */
static const struct {
    int at_12, at_13, bytes;
} fields[] = {
#define FIELD(type, name, at_12, at_13, value) {at_12, at_13, sizeof(type)},
#include "vgpu/cudart/properties.def"
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields, BYTES_13 = 1008, UUID_AT = 256 };

cudaError_t rt_properties(void *to, int device, int version)
{
    const struct vg_profile *p = rt_profile();
    if (!p)
        return cudaErrorNoDevice;
    if (!to || device != 0)
        return to ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    const uint64_t values[FIELDS] = {
#define FIELD(type, name, at_12, at_13, value) (uint64_t)(type)(value),
#include "vgpu/cudart/properties.def"
#undef FIELD
    };
    memset(to, 0, version == 12 ? RT_PROPERTIES_BYTES : BYTES_13);
    snprintf(to, UUID_AT, "%s (virtual)", p->product);
    memcpy((char *)to + UUID_AT, "ConvLab virtual", 16);
    for (size_t i = 0; i < FIELDS; i++) {
        const int at = version == 12 ? fields[i].at_12 : fields[i].at_13;
        if (at >= 0) /* the low bytes come first */
            memcpy((char *)to + at, &values[i], (size_t)fields[i].bytes);
    }
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *to, int device)
{
    return rt_return(rt_properties(to, device, 13));
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
