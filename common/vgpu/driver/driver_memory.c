/* Device memory, copies and fills. */
#include "vgpu/cudart/array.h"
#include "vgpu/driver/driver.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t alloc(CUdeviceptr *to, size_t bytes)
{
    return bytes ? cudaMalloc((void **)to, bytes) : cudaErrorInvalidValue;
}

static cudaError_t range(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    struct call c = rt_call(VP_POINTER, rt_driver_call, 0, p);
    cudaError_t error = rt_exchange(&c);
    if (error || c.reply.r[0] == VP_MEMORY_NONE)
        return error ? error : (cudaError_t)CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = c.reply.r[1];
    if (bytes)
        *bytes = c.reply.r[2];
    return cudaSuccess;
}

DRIVER(cuMemAlloc, (CUdeviceptr * to, size_t bytes), alloc(to, bytes))
DRIVER(cuMemAllocAsync, (CUdeviceptr * to, size_t bytes, CUstream stream),
       bytes ? cudaMallocAsync((void **)to, bytes, stream) : cudaErrorInvalidValue)
DRIVER(cuMemAllocFromPoolAsync,
       (CUdeviceptr * to, size_t bytes, CUmemoryPool pool, CUstream stream),
       cudaMallocFromPoolAsync((void **)to, bytes, pool, stream))
DRIVER(cuMemAllocPitch,
       (CUdeviceptr * to, size_t *pitch, size_t width, size_t height, unsigned element),
       cudaMallocPitch((void **)to, pitch, width, height))
DRIVER(cuMemAllocManaged, (CUdeviceptr * to, size_t bytes, unsigned flags),
       bytes ? cudaMallocManaged((void **)to, bytes, flags) : cudaErrorInvalidValue)
DRIVER(cuMemFree, (CUdeviceptr p), cudaFree(POINTER(p)))
DRIVER(cuMemFreeAsync, (CUdeviceptr p, CUstream stream), cudaFreeAsync(POINTER(p), stream))
DRIVER(cuMemGetInfo, (size_t * available, size_t *total), cudaMemGetInfo(available, total))
DRIVER(cuMemGetAddressRange, (CUdeviceptr * base, size_t *bytes, CUdeviceptr p),
       range(base, bytes, p))
DRIVER(cuMemAllocHost, (void **to, size_t bytes), cudaMallocHost(to, bytes))
DRIVER(cuMemFreeHost, (void *p), cudaFreeHost(p))
DRIVER(cuMemHostAlloc, (void **to, size_t bytes, unsigned flags), cudaHostAlloc(to, bytes, flags))
DRIVER(cuMemHostGetDevicePointer, (CUdeviceptr * to, void *p, unsigned flags),
       cudaHostGetDevicePointer((void **)to, p, flags))
DRIVER(cuMemHostGetFlags, (unsigned *flags, void *p), cudaHostGetFlags(flags, p))
DRIVER(cuMemHostRegister, (void *p, size_t bytes, unsigned flags),
       cudaHostRegister(p, bytes, flags))
DRIVER(cuMemHostUnregister, (void *p), cudaHostUnregister(p))

DRIVER(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr p),
       cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, POINTER(p)))
DRIVER(cuIpcOpenMemHandle, (CUdeviceptr * to, CUipcMemHandle handle, unsigned flags),
       cudaIpcOpenMemHandle((void **)to, *(cudaIpcMemHandle_t *)&handle, flags))
DRIVER(cuIpcCloseMemHandle, (CUdeviceptr p), cudaIpcCloseMemHandle(POINTER(p)))
DRIVER(cuIpcGetEventHandle, (CUipcEventHandle * handle, CUevent event),
       cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, event))
DRIVER(cuIpcOpenEventHandle, (CUevent * to, CUipcEventHandle handle),
       cudaIpcOpenEventHandle(to, *(cudaIpcEventHandle_t *)&handle))

/* The location of managed memory has no effect here. */
DRIVER(cuMemAdvise, (CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation where),
       cudaSuccess)
DRIVER(cuMemPrefetchAsync,
       (CUdeviceptr p, size_t bytes, CUmemLocation where, unsigned flags, CUstream stream),
       cudaSuccess)
DRIVER_VERSION(DRIVER_CONTEXT, cuMemAdvise, "cuMemAdvise",
               (CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device), cudaSuccess)
DRIVER_VERSION(DRIVER_CONTEXT, cuMemPrefetchAsync, "cuMemPrefetchAsync",
               (CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream), cudaSuccess)

DRIVER(cuMemPoolCreate, (CUmemoryPool * to, const CUmemPoolProps *properties),
       cudaMemPoolCreate(to, (const struct cudaMemPoolProps *)(const void *)properties))
DRIVER(cuMemPoolDestroy, (CUmemoryPool pool), cudaMemPoolDestroy(pool))
DRIVER(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), cudaMemPoolTrimTo(pool, keep))
DRIVER(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute which, void *to),
       cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)which, to))
DRIVER(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *list, size_t n),
       cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)(const void *)list, n))
DRIVER(cuMemPoolGetAccess, (CUmemAccess_flags * flags, CUmemoryPool pool, CUmemLocation *where),
       cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool,
                            (struct cudaMemLocation *)(void *)where))
DRIVER(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute which, void *value),
       cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)which, value))

/* ---- queries about pointers ------------------------------------------------------------------ */

static cudaError_t pointer_attribute(void *to, CUpointer_attribute which, CUdeviceptr p)
{
    struct cudaPointerAttributes a;
    cudaError_t error = to ? cudaPointerGetAttributes(&a, POINTER(p)) : cudaErrorInvalidValue;
    if (error || a.type == cudaMemoryTypeUnregistered)
        return error ? error : cudaErrorInvalidValue;
    const bool is_host = a.type == cudaMemoryTypeHost;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return (cudaError_t)cuCtxGetCurrent(to);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return PUT((unsigned *)to, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                   cudaSuccess);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return PUT((void **)to, a.devicePointer, cudaSuccess);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return PUT((void **)to, a.hostPointer, a.hostPointer ? cudaSuccess : cudaErrorInvalidValue);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return PUT((unsigned *)to, a.type == cudaMemoryTypeManaged, cudaSuccess);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return PUT((int *)to, 0, cudaSuccess);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return PUT((unsigned *)to, 0, cudaSuccess);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return PUT((unsigned *)to, 1, cudaSuccess);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return range(to, NULL, p);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return range(NULL, to, p);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: /* the address, which is unique among live allocations */
        return range(to, NULL, p);
    default:
        return cudaErrorNotSupported;
    }
}

/* Unknown attributes of a pointer are 0, as in the driver. */
static cudaError_t pointer_attributes(unsigned n, const CUpointer_attribute *which, void **to,
                                      CUdeviceptr p)
{
    for (unsigned i = 0; i < n; i++) {
        const bool is_number = which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                               which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                               which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        if (pointer_attribute(to[i], which[i], p))
            memset(to[i], 0, is_number ? sizeof(int) : sizeof(void *));
    }
    return cudaSuccess;
}

DRIVER(cuPointerGetAttribute, (void *to, CUpointer_attribute which, CUdeviceptr p),
       pointer_attribute(to, which, p))
DRIVER(cuPointerGetAttributes, (unsigned n, CUpointer_attribute *which, void **to, CUdeviceptr p),
       pointer_attributes(n, which, to, p))
DRIVER(cuPointerSetAttribute, (const void *value, CUpointer_attribute which, CUdeviceptr p),
       which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? cudaSuccess : cudaErrorNotSupported)

/* ---- copies --------------------------------------------------------------------------------- */

#define COPY(name, to_type, from_type, kind)                                                       \
    DRIVER(name, (to_type to, from_type from, size_t bytes),                                       \
           cudaMemcpy(POINTER(to), POINTER(from), bytes, kind))
#define COPY_ASYNC(name, to_type, from_type, kind)                                                 \
    DRIVER(name, (to_type to, from_type from, size_t bytes, CUstream stream),                      \
           cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, kind, stream))
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault)
COPY(cuMemcpyHtoD, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
COPY(cuMemcpyDtoH, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault)
COPY_ASYNC(cuMemcpyHtoDAsync, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
COPY_ASYNC(cuMemcpyDtoHAsync, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
COPY_ASYNC(cuMemcpyDtoDAsync, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)

/* All contexts have one address space. */
DRIVER(cuMemcpyPeer,
       (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
        size_t bytes),
       cudaMemcpy(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice))
DRIVER(cuMemcpyPeerAsync,
       (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
        size_t bytes, CUstream stream),
       cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice, stream))

/* One side of a copy of rows or slices. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height, x, y, z;
};

static char *side_at(const struct side *s)
{
    char *base = s->type == CU_MEMORYTYPE_HOST ? (char *)(uintptr_t)s->host : POINTER(s->device);
    return base + (s->z * s->height + s->y) * s->pitch + s->x;
}

static bool is_device(const struct side *s)
{
    return s->type == CU_MEMORYTYPE_DEVICE || s->type == CU_MEMORYTYPE_ARRAY ||
           (s->type == CU_MEMORYTYPE_UNIFIED && rt_is_device_address(POINTER(s->device)));
}

static enum cudaMemcpyKind kind_of(const struct side *to, const struct side *from)
{
    static const enum cudaMemcpyKind kinds[2][2] = {
        {cudaMemcpyHostToHost, cudaMemcpyDeviceToHost},
        {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice}};
    return kinds[is_device(to)][is_device(from)];
}

/* Sets one side of a copy with an array, whose positions and extents are in texels. */
static void array_side(const struct side *s, size_t texel, struct cudaExtent e, cudaArray_t *array,
                       struct cudaPos *position, struct cudaPitchedPtr *pointer)
{
    if (s->type == CU_MEMORYTYPE_ARRAY) {
        *array = (cudaArray_t)s->array;
        *position = (struct cudaPos){s->x / texel, s->y, s->z};
    } else {
        const size_t width = e.width * texel;
        *pointer = (struct cudaPitchedPtr){side_at(s), s->pitch ? s->pitch : width, width,
                                           s->height ? s->height : e.height};
    }
}

static cudaError_t copy_array(const struct side *to, const struct side *from, struct cudaExtent e,
                              CUstream stream, bool async)
{
    const struct side *with = to->type == CU_MEMORYTYPE_ARRAY ? to : from;
    const struct cudaArray *a = rt_array((cudaArray_t)with->array);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    const size_t texel = rt_texel_bytes(&a->desc);
    if ((e.width | to->x | from->x) % texel)
        return cudaErrorInvalidValue;
    e.width /= texel;
    struct cudaMemcpy3DParms p = {.extent = e, .kind = kind_of(to, from)};
    array_side(to, texel, e, &p.dstArray, &p.dstPos, &p.dstPtr);
    array_side(from, texel, e, &p.srcArray, &p.srcPos, &p.srcPtr);
    return async ? cudaMemcpy3DAsync(&p, stream) : cudaMemcpy3D(&p);
}

/* Copies rows between two memories. */
static cudaError_t copy_rows(const struct side *to, const struct side *from, size_t width,
                             size_t height, CUstream stream, bool async)
{
    return rt_copy(side_at(to), to->pitch ? to->pitch : width, side_at(from),
                   from->pitch ? from->pitch : width, width, height, kind_of(to, from), stream,
                   async ? VP_ASYNC : 0, rt_driver_call);
}

static cudaError_t copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool async)
{
    if (!p)
        return cudaErrorInvalidValue;
    const struct side to = {p->dstMemoryType, p->dstHost,  p->dstDevice,
                            p->dstArray,      p->dstPitch, 0,
                            p->dstXInBytes,   p->dstY,     0};
    const struct side from = {p->srcMemoryType, p->srcHost,  p->srcDevice,
                              p->srcArray,      p->srcPitch, 0,
                              p->srcXInBytes,   p->srcY,     0};
    if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY)
        return copy_array(&to, &from, (struct cudaExtent){p->WidthInBytes, p->Height, 1}, stream,
                          async);
    return copy_rows(&to, &from, p->WidthInBytes, p->Height, stream, async);
}

static struct side side_to(const CUDA_MEMCPY3D *p)
{
    return (struct side){p->dstMemoryType, p->dstHost,     p->dstDevice, p->dstArray, p->dstPitch,
                         p->dstHeight,     p->dstXInBytes, p->dstY,      p->dstZ};
}

static struct side side_from(const CUDA_MEMCPY3D *p)
{
    return (struct side){p->srcMemoryType, p->srcHost,     p->srcDevice, p->srcArray, p->srcPitch,
                         p->srcHeight,     p->srcXInBytes, p->srcY,      p->srcZ};
}

cudaError_t driver_copy_of(const CUDA_MEMCPY3D *p, struct cudaMemcpy3DParms *to)
{
    if (!p)
        return cudaErrorInvalidValue;
    const struct side d = side_to(p), s = side_from(p);
    if (d.type == CU_MEMORYTYPE_ARRAY || s.type == CU_MEMORYTYPE_ARRAY)
        return cudaErrorNotSupported;
    const size_t width = p->WidthInBytes;
    *to = (struct cudaMemcpy3DParms){
        .dstPtr = {side_at(&d), d.pitch ? d.pitch : width, width, d.height ? d.height : p->Height},
        .srcPtr = {side_at(&s), s.pitch ? s.pitch : width, width, s.height ? s.height : p->Height},
        .extent = {width, p->Height, p->Depth},
        .kind = kind_of(&d, &s)};
    return cudaSuccess;
}

static cudaError_t copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool async)
{
    if (!p)
        return cudaErrorInvalidValue;
    struct side to = side_to(p), from = side_from(p);
    cudaError_t error = cudaSuccess;
    if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY)
        return copy_array(&to, &from, (struct cudaExtent){p->WidthInBytes, p->Height, p->Depth},
                          stream, async);
    for (size_t z = 0; z < p->Depth && !error; z++, to.z++, from.z++)
        error = copy_rows(&to, &from, p->WidthInBytes, p->Height, stream, async);
    return error;
}

DRIVER(cuMemcpy2D, (const CUDA_MEMCPY2D *p), copy_2d(p, NULL, false))
DRIVER(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *p), copy_2d(p, NULL, false))
DRIVER(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *p, CUstream stream), copy_2d(p, stream, true))
DRIVER(cuMemcpy3D, (const CUDA_MEMCPY3D *p), copy_3d(p, NULL, false))
DRIVER(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *p, CUstream stream), copy_3d(p, stream, true))

/* Copies a part of the first row of an array. */
static cudaError_t copy_line(const struct side *to, const struct side *from, size_t bytes,
                             CUstream stream, bool async)
{
    return copy_array(to, from, (struct cudaExtent){bytes, 1, 1}, stream, async);
}

#define OF_ARRAY(a, at) (&(struct side){.type = CU_MEMORYTYPE_ARRAY, .array = (a), .x = (at)})
#define OF_HOST(p)      (&(struct side){.type = CU_MEMORYTYPE_HOST, .host = (p)})
#define OF_DEVICE(p)    (&(struct side){.type = CU_MEMORYTYPE_DEVICE, .device = (p)})
DRIVER(cuMemcpyHtoA, (CUarray to, size_t at, const void *from, size_t bytes),
       copy_line(OF_ARRAY(to, at), OF_HOST(from), bytes, NULL, false))
DRIVER(cuMemcpyAtoH, (void *to, CUarray from, size_t at, size_t bytes),
       copy_line(OF_HOST(to), OF_ARRAY(from, at), bytes, NULL, false))
DRIVER(cuMemcpyDtoA, (CUarray to, size_t at, CUdeviceptr from, size_t bytes),
       copy_line(OF_ARRAY(to, at), OF_DEVICE(from), bytes, NULL, false))
DRIVER(cuMemcpyAtoD, (CUdeviceptr to, CUarray from, size_t at, size_t bytes),
       copy_line(OF_DEVICE(to), OF_ARRAY(from, at), bytes, NULL, false))
DRIVER(cuMemcpyAtoA, (CUarray to, size_t at, CUarray from, size_t from_at, size_t bytes),
       copy_line(OF_ARRAY(to, at), OF_ARRAY(from, from_at), bytes, NULL, false))
DRIVER(cuMemcpyHtoAAsync, (CUarray to, size_t at, const void *from, size_t bytes, CUstream stream),
       copy_line(OF_ARRAY(to, at), OF_HOST(from), bytes, stream, true))
DRIVER(cuMemcpyAtoHAsync, (void *to, CUarray from, size_t at, size_t bytes, CUstream stream),
       copy_line(OF_HOST(to), OF_ARRAY(from, at), bytes, stream, true))

/* ---- fills ---------------------------------------------------------------------------------- */

/* Fills with values wider than a byte: copies rows from a row that is filled here, unless all bytes
 * of the value are equal. */
static cudaError_t fill(CUdeviceptr to, size_t pitch, unsigned value, size_t element, size_t width,
                        size_t height, CUstream stream)
{
    const size_t bytes = width * element;
    unsigned char first[sizeof value];
    memcpy(first, &value, sizeof value);
    if (to % element || (height > 1 && pitch % element))
        return cudaErrorInvalidValue;
    if (memcmp(first, first + 1, element - 1) == 0)
        return cudaMemset2DAsync(POINTER(to), pitch ? pitch : bytes, first[0], bytes, height,
                                 stream);
    unsigned char *row = malloc(bytes + 1);
    cudaError_t error = row ? cudaSuccess : cudaErrorMemoryAllocation;
    for (size_t i = 0; row && i < width; i++)
        memcpy(row + i * element, first, element);
    for (size_t y = 0; y < height && !error; y++)
        error = rt_copy(POINTER(to + y * pitch), bytes, row, bytes, bytes, 1,
                        cudaMemcpyHostToDevice, stream, 0, y ? "" : rt_driver_call);
    free(row);
    return error;
}

#define FILL(bits, type)                                                                           \
    DRIVER(cuMemsetD##bits, (CUdeviceptr to, type value, size_t n),                                \
           fill(to, 0, value, sizeof(type), n, 1, NULL))                                           \
    DRIVER(cuMemsetD##bits##Async, (CUdeviceptr to, type value, size_t n, CUstream stream),        \
           fill(to, 0, value, sizeof(type), n, 1, stream))                                         \
    DRIVER(cuMemsetD2D##bits,                                                                      \
           (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height),                \
           fill(to, pitch, value, sizeof(type), width, height, NULL))                              \
    DRIVER(                                                                                        \
        cuMemsetD2D##bits##Async,                                                                  \
        (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream),  \
        fill(to, pitch, value, sizeof(type), width, height, stream))
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
