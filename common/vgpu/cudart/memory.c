/* Device memory: allocations, fills, queries. */
#include "vgpu/cudart/graph.h"

#define PITCH_BYTES ((size_t)512)

cudaError_t rt_alloc(void **to, size_t bytes, const char *api)
{
    if (!to)
        return cudaErrorInvalidValue;
    *to = NULL;
    struct call c = rt_call(bytes ? VP_ALLOC : VP_CALL, api, 0, bytes);
    cudaError_t error = rt_exchange(&c);
    if (!error && bytes) {
        *to = POINTER(c.reply.r[0]);
        rt_explain_crashes();
    }
    return error;
}

RT(cudaMalloc, (void **to, size_t bytes), rt_alloc(to, bytes, __func__))

static cudaError_t alloc_pitch(void **to, size_t *pitch, size_t width, size_t rows, const char *api)
{
    if (!to || !pitch || width > SIZE_MAX - PITCH_BYTES)
        return cudaErrorInvalidValue;
    *pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    if (rows && *pitch > SIZE_MAX / rows)
        return cudaErrorMemoryAllocation;
    return rt_alloc(to, *pitch * rows, api);
}

RT(cudaMallocPitch, (void **to, size_t *pitch, size_t width, size_t height),
   alloc_pitch(to, pitch, width, height, __func__))

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *to, struct cudaExtent extent)
{
    if (!to || (extent.depth && extent.height > SIZE_MAX / extent.depth))
        return rt_return(cudaErrorInvalidValue);
    void *at = NULL;
    size_t pitch = 0;
    cudaError_t error =
        alloc_pitch(&at, &pitch, extent.width, extent.height * extent.depth, "cudaMalloc3D");
    if (!error) {
        to->ptr = at;
        to->pitch = pitch;
        to->xsize = extent.width;
        to->ysize = extent.height;
    }
    return rt_return(error);
}

API cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    struct call c = rt_call(VP_MEMORY_INFO, "cudaMemGetInfo", 0);
    cudaError_t error = rt_exchange(&c);
    if (!error) {
        *available = c.reply.r[0];
        *total = c.reply.r[1];
    }
    return rt_return(error);
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *to, const void *p)
{
    struct call c = rt_call(VP_POINTER, "cudaPointerGetAttributes", 0, HANDLE(p));
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_exchange(&c);
    if (error)
        return rt_return(error);
    uint64_t kind = c.reply.r[0]; /* enum vp_memory */
    if (rt_is_managed_variable(p))
        kind = VP_MEMORY_MANAGED;
    const bool is_registered = kind == VP_MEMORY_NONE && rt_is_pinned(p);
    /* sets fields one by one, because CUDA 12's structure ends after these */
    to->type = kind == VP_MEMORY_DEVICE                    ? cudaMemoryTypeDevice
               : kind == VP_MEMORY_MANAGED                 ? cudaMemoryTypeManaged
               : kind == VP_MEMORY_PINNED || is_registered ? cudaMemoryTypeHost
                                                           : cudaMemoryTypeUnregistered;
    to->device = kind || is_registered ? 0 : cudaInvalidDeviceId;
    to->devicePointer = kind ? POINTER(p) : NULL;
    to->hostPointer = kind == VP_MEMORY_DEVICE ? NULL : POINTER(p);
    return cudaSuccess;
}

/* ---- fills ----------------------------------------------------------------------------------- */

cudaError_t rt_fill(void *to, size_t pitch, int value, size_t width, size_t height,
                    cudaStream_t stream, const char *api)
{
    return rt_request(VP_FILL, api, stream, HANDLE(to), (unsigned char)value, width, height, pitch,
                      0);
}

static cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t height,
                        cudaStream_t stream, const char *api)
{
    struct cudaMemsetParams captured = {.dst = to,
                                        .pitch = pitch,
                                        .value = (unsigned char)value,
                                        .elementSize = 1,
                                        .width = width,
                                        .height = height};
    return capture_fill(stream, &captured) ? cudaSuccess
                                           : rt_fill(to, pitch, value, width, height, stream, api);
}

RT(cudaMemset, (void *to, int value, size_t bytes), fill(to, bytes, value, bytes, 1, 0, __func__))
RT(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
   fill(to, bytes, value, bytes, 1, stream, __func__))
RT(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
   fill(to, pitch, value, width, height, 0, __func__))
RT(cudaMemset2DAsync,
   (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
   fill(to, pitch, value, width, height, stream, __func__))

static cudaError_t fill_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                           cudaStream_t stream, const char *api)
{
    cudaError_t error = cudaSuccess;
    if (to.ysize == extent.height &&
        (extent.height | extent.depth) <= UINT32_MAX) { /* no gaps between slices: one fill */
        extent.height *= extent.depth;
        extent.depth = extent.depth > 0;
    }
    for (size_t z = 0; z < extent.depth && !error; z++)
        error = fill((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                     extent.height, stream, z ? "" : api);
    return error;
}

RT(cudaMemset3D, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),
   fill_3d(to, value, extent, 0, __func__))
RT(cudaMemset3DAsync,
   (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream),
   fill_3d(to, value, extent, stream, __func__))
