/* Device memory: allocations, fills, queries. */
#include "vgpu/cudart/graph.h"

#include <stdatomic.h>

#define PITCH_BYTES ((size_t)512)

static cudaError_t alloc(void **to, size_t bytes, const char *api)
{
    if (!to)
        return cudaErrorInvalidValue;
    *to = NULL;
    struct call c = rt_call(bytes ? VP_ALLOC : VP_CALL, api, 0, bytes);
    cudaError_t error = rt_exchange(&c);
    if (!error && bytes)
        *to = POINTER(c.reply.r[0]);
    return error;
}

RT(cudaMalloc, (void **to, size_t bytes), alloc(to, bytes, __func__))

/* Allocates; in a captured stream, adds a node that allocates. */
static cudaError_t alloc_in_order(void **to, size_t bytes, cudaStream_t stream, const char *api)
{
    struct graph_block *block;
    if (!to || !bytes || !capture_is_active(stream))
        return alloc(to, bytes, api);
    cudaError_t error = graph_block_new(&block, bytes, api);
    if (error)
        return error;
    *to = block->address;
    return capture_alloc(stream, block) ? cudaSuccess : cudaErrorIllegalState;
}

RT(cudaMallocAsync, (void **to, size_t bytes, cudaStream_t stream),
   alloc_in_order(to, bytes, stream, __func__))

static cudaError_t alloc_pitch(void **to, size_t *pitch, size_t width, size_t rows, const char *api)
{
    if (!to || !pitch || width > SIZE_MAX - PITCH_BYTES)
        return cudaErrorInvalidValue;
    *pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    if (rows && *pitch > SIZE_MAX / rows)
        return cudaErrorMemoryAllocation;
    return alloc(to, *pitch * rows, api);
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
    const uint64_t kind = c.reply.r[0]; /* enum vp_memory */
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

/* ---- pools, which allocate like cudaMalloc() ------------------------------------- */

#define DEFAULT_POOL ((cudaMemPool_t)0x700L)
#define POOLS_MAX    64

/* Pools created by the program: handles DEFAULT_POOL + 1 and up. */
static _Atomic bool pools[POOLS_MAX];

static uintptr_t pool_number(cudaMemPool_t pool)
{
    return (uintptr_t)pool - (uintptr_t)DEFAULT_POOL;
}

static bool is_pool(cudaMemPool_t pool)
{
    uintptr_t i = pool_number(pool);
    return i == 0 || (i <= POOLS_MAX && pools[i - 1]);
}

static cudaMemPool_t current = DEFAULT_POOL;

RT(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device),
   PUT(pool, DEFAULT_POOL, device ? cudaErrorInvalidDevice : cudaSuccess))
RT(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device),
   PUT(pool, device ? DEFAULT_POOL : current, device ? cudaErrorInvalidDevice : cudaSuccess))

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (device || !is_pool(pool))
        return rt_return(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    current = pool;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    if (!pool || !props || props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice || props->location.id != 0)
        return rt_return(cudaErrorInvalidValue);
    for (uintptr_t i = 0; i < POOLS_MAX; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&pools[i], &expected, true)) {
            *pool = (cudaMemPool_t)((uintptr_t)DEFAULT_POOL + i + 1);
            return rt_return(rt_request(VP_CALL, "cudaMemPoolCreate", 0));
        }
    }
    return rt_return(cudaErrorMemoryAllocation);
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    if (!is_pool(pool) || pool == DEFAULT_POOL)
        return rt_return(cudaErrorInvalidValue);
    pools[pool_number(pool) - 1] = false;
    if (current == pool)
        current = DEFAULT_POOL;
    return cudaSuccess;
}

RT(cudaMallocFromPoolAsync, (void **to, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
   is_pool(pool) ? alloc_in_order(to, bytes, stream, __func__) : cudaErrorInvalidValue)

/* Attributes are only stored; the memory of a pool is not counted. */
static uint64_t release_threshold[POOLS_MAX + 1];

API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    if (!is_pool(pool) || !value)
        return rt_return(cudaErrorInvalidValue);
    if (attribute == cudaMemPoolAttrReleaseThreshold)
        release_threshold[pool_number(pool)] = *(uint64_t *)value;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    if (!is_pool(pool) || !value)
        return rt_return(cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        *(uint64_t *)value = release_threshold[pool_number(pool)];
        return cudaSuccess;
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = 1;
        return cudaSuccess;
    default: {
        static bool said;
        rt_say_once(&said, "the memory of a pool is not counted");
        return rt_return(cudaErrorNotSupported);
    }
    }
}

RT(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t bytes),
   is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue)
RT(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t n),
   is_pool(pool) && (list || !n) ? cudaSuccess : cudaErrorInvalidValue)
