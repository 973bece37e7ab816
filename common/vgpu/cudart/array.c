/* CUDA arrays: texels in rows without gaps, in ordinary device memory, and the copies to and from
 * them. A cudaArray_t points to a record of this library on the host. */
#include "vgpu/cudart/array.h"

#include <pthread.h>
#include <stdlib.h>

static struct cudaArray *arrays;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct cudaArray *rt_array(const struct cudaArray *handle)
{
    pthread_mutex_lock(&lock);
    struct cudaArray *a = arrays;
    while (a && a != handle)
        a = a->next;
    pthread_mutex_unlock(&lock);
    return a;
}

size_t rt_texel_bytes(const struct cudaChannelFormatDesc *d)
{
    return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

/* Texels have 1, 2 or 4 channels of one width from 8 to 32 bits; floats have 16 or 32 bits. */
bool rt_is_texel(const struct cudaChannelFormatDesc *d)
{
    if ((d->x != 8 && d->x != 16 && d->x != 32) || (d->y && d->y != d->x) || d->z != d->w ||
        (d->z && (d->z != d->x || !d->y)))
        return false;
    return d->f == cudaChannelFormatKindSigned || d->f == cudaChannelFormatKindUnsigned ||
           (d->f == cudaChannelFormatKindFloat && d->x != 8);
}

API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

cudaError_t rt_array_describe(struct cudaArray *to, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent e, unsigned flags, const char *api)
{
    if (!desc || !e.width || !rt_is_texel(desc))
        return cudaErrorInvalidValue;
    if (flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather |
                            cudaArrayCubemap)) {
        static bool said;
        rt_say_once(&said, "%s: sparse and deferred arrays are not supported", api);
        return cudaErrorNotSupported;
    }
    /* A cube has six square faces, per layer. */
    const size_t faces = flags & cudaArrayLayered ? e.depth % 6 : e.depth - 6;
    if (flags & cudaArrayCubemap && (e.width != e.height || !e.depth || faces))
        return cudaErrorInvalidValue;
    const size_t texel = rt_texel_bytes(desc), most = (size_t)1 << 20;
    size_t rows = e.height ? e.height : 1, slices = e.depth ? e.depth : 1;
    if (e.width > most || rows > most || slices > most)
        return cudaErrorInvalidValue;
    *to = (struct cudaArray){.desc = *desc,
                             .extent = e,
                             .flags = flags,
                             .row_bytes = e.width * texel,
                             .rows = rows,
                             .slices = slices};
    return cudaSuccess;
}

void rt_arrays_add(struct cudaArray *first, size_t n)
{
    pthread_mutex_lock(&lock);
    for (struct cudaArray *a = first; a < first + n; a++) {
        a->next = arrays;
        arrays = a;
    }
    pthread_mutex_unlock(&lock);
}

void rt_arrays_remove(struct cudaArray *first, size_t n)
{
    pthread_mutex_lock(&lock);
    for (struct cudaArray **at = &arrays; *at;)
        if (*at >= first && *at < first + n)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&lock);
}

static cudaError_t array_make(cudaArray_t *to, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent e, unsigned flags, const char *api)
{
    struct cudaArray *a = to ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return to ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    cudaError_t error = rt_array_describe(a, desc, e, flags, api);
    struct call c = rt_call(VP_ALLOC, api, 0, a->row_bytes * a->rows * a->slices);
    error = error ? error : rt_exchange(&c);
    if (error) {
        free(a);
        return error;
    }
    a->address = c.reply.r[0];
    rt_arrays_add(a, 1);
    *to = a;
    return cudaSuccess;
}

RT(cudaMallocArray,
   (cudaArray_t * to, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
    unsigned flags),
   array_make(to, desc, (struct cudaExtent){width, height, 0}, flags, __func__))
RT(cudaMalloc3DArray,
   (cudaArray_t * to, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
    unsigned flags),
   array_make(to, desc, extent, flags, __func__))

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array)
        return cudaSuccess;
    struct cudaArray *a = rt_array(array);
    if (!a || a->is_level)
        return rt_return(cudaErrorInvalidResourceHandle);
    rt_arrays_remove(a, 1);
    cudaError_t error = rt_request(VP_FREE, "cudaFreeArray", 0, a->address, VP_MEMORY_DEVICE);
    free(a);
    return rt_return(error);
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                 unsigned *flags, cudaArray_t array)
{
    const struct cudaArray *a = rt_array(array);
    if (!a)
        return rt_return(cudaErrorInvalidResourceHandle);
    if (desc)
        *desc = a->desc;
    if (extent)
        *extent = a->extent;
    if (flags)
        *flags = a->flags;
    return cudaSuccess;
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Finds the address and pitch of rows of an array, starting at byte x of row y. */
static cudaError_t array_rows(const struct cudaArray *handle, size_t x, size_t y, size_t width,
                              size_t height, void **at, size_t *pitch)
{
    const struct cudaArray *a = rt_array(handle);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    if (x > a->row_bytes || width > a->row_bytes - x || y > a->rows || height > a->rows - y)
        return cudaErrorInvalidValue;
    *at = POINTER(a->address + y * a->row_bytes + x);
    *pitch = a->row_bytes;
    return cudaSuccess;
}

/* Copies to or from rows of an array. */
static cudaError_t copy(bool to_array, const struct cudaArray *array, size_t x, size_t y,
                        const void *other, size_t other_pitch, size_t width, size_t height,
                        enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                        const char *api)
{
    void *at, *with = POINTER(other);
    size_t pitch;
    cudaError_t error = array_rows(array, x, y, width, height, &at, &pitch);
    if (error)
        return error;
    return to_array
               ? rt_copy(at, pitch, with, other_pitch, width, height, kind, stream, flags, api)
               : rt_copy(with, other_pitch, at, pitch, width, height, kind, stream, flags, api);
}

RT(cudaMemcpy2DToArray,
   (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind),
   copy(true, to, x, y, from, pitch, width, height, kind, 0, 0, __func__))
RT(cudaMemcpy2DToArrayAsync,
   (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind, cudaStream_t stream),
   copy(true, to, x, y, from, pitch, width, height, kind, stream, VP_ASYNC, __func__))
RT(cudaMemcpy2DFromArray,
   (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
    enum cudaMemcpyKind kind),
   copy(false, from, x, y, to, pitch, width, height, kind, 0, 0, __func__))
RT(cudaMemcpy2DFromArrayAsync,
   (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
    enum cudaMemcpyKind kind, cudaStream_t stream),
   copy(false, from, x, y, to, pitch, width, height, kind, stream, VP_ASYNC, __func__))

/* Copies a number of bytes, which may extend over several rows, for older functions. */
static cudaError_t linear(struct cudaArray *handle, size_t x, size_t y, size_t bytes, void **at)
{
    const struct cudaArray *a = rt_array(handle);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    size_t total = a->row_bytes * a->rows;
    if (x > a->row_bytes || y > a->rows || y * a->row_bytes + x > total ||
        bytes > total - y * a->row_bytes - x)
        return cudaErrorInvalidValue;
    *at = POINTER(a->address + y * a->row_bytes + x);
    return cudaSuccess;
}

static cudaError_t line_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                 enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                                 const char *api)
{
    void *at;
    cudaError_t error = linear(to, x, y, bytes, &at);
    return error ? error : rt_copy(at, bytes, from, bytes, bytes, 1, kind, stream, flags, api);
}

static cudaError_t line_from_array(void *to, cudaArray_const_t from, size_t x, size_t y,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                                   unsigned flags, const char *api)
{
    void *at;
    cudaError_t error = linear((cudaArray_t)(uintptr_t)from, x, y, bytes, &at);
    return error ? error : rt_copy(to, bytes, at, bytes, bytes, 1, kind, stream, flags, api);
}

#define TO_ARRAY   cudaArray_t to, size_t x, size_t y, const void *from
#define FROM_ARRAY void *to, cudaArray_const_t from, size_t x, size_t y
RT(cudaMemcpyToArray, (TO_ARRAY, size_t bytes, enum cudaMemcpyKind kind),
   line_to_array(to, x, y, from, bytes, kind, 0, 0, __func__))
RT(cudaMemcpyToArrayAsync, (TO_ARRAY, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
   line_to_array(to, x, y, from, bytes, kind, stream, VP_ASYNC, __func__))
RT(cudaMemcpyFromArray, (FROM_ARRAY, size_t bytes, enum cudaMemcpyKind kind),
   line_from_array(to, from, x, y, bytes, kind, 0, 0, __func__))
RT(cudaMemcpyFromArrayAsync,
   (FROM_ARRAY, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
   line_from_array(to, from, x, y, bytes, kind, stream, VP_ASYNC, __func__))

API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from,
                                         size_t from_x, size_t from_y, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    void *at;
    size_t pitch;
    cudaError_t error = array_rows(from, from_x, from_y, width, height, &at, &pitch);
    if (error)
        return rt_return(error);
    return rt_return(
        copy(true, to, x, y, at, pitch, width, height, cudaMemcpyDeviceToDevice, 0, 0, __func__));
}

static cudaError_t side_of(struct copy_side *to, cudaArray_t array, struct cudaPitchedPtr p,
                           struct cudaPos pos, struct cudaExtent e)
{
    if (!array) {
        *to = (struct copy_side){p.ptr, p.pitch, p.pitch * p.ysize};
        to->at += pos.x + pos.y * to->pitch + pos.z * to->slice;
        return cudaSuccess;
    }
    const struct cudaArray *a = rt_array(array);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    size_t x = pos.x * rt_texel_bytes(&a->desc);
    if (x > a->row_bytes || e.width > a->row_bytes - x || pos.y > a->rows ||
        e.height > a->rows - pos.y || pos.z > a->slices || e.depth > a->slices - pos.z)
        return cudaErrorInvalidValue;
    *to = (struct copy_side){(char *)(uintptr_t)a->address, a->row_bytes, a->row_bytes * a->rows};
    to->at += x + pos.y * to->pitch + pos.z * to->slice;
    return cudaSuccess;
}

cudaError_t rt_copy_3d_of(struct copy_3d *c, const struct cudaMemcpy3DParms *p)
{
    if (!p || (!p->srcArray == !p->srcPtr.ptr) || (!p->dstArray == !p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    struct cudaExtent e = p->extent;
    /* If an array is involved, the width is in its texels, otherwise in bytes. */
    const struct cudaArray *array = rt_array(p->srcArray ? p->srcArray : p->dstArray);
    if (array)
        e.width *= rt_texel_bytes(&array->desc);
    if (array && e.height == 0)
        e.height = 1;
    if (array && e.depth == 0)
        e.depth = 1;
    cudaError_t error = side_of(&c->from, p->srcArray, p->srcPtr, p->srcPos, e);
    if (!error)
        error = side_of(&c->to, p->dstArray, p->dstPtr, p->dstPos, e);
    if (!error && c->to.slice == c->to.pitch * e.height &&
        c->from.slice == c->from.pitch * e.height && (e.height | e.depth) <= UINT32_MAX) {
        e.height *= e.depth; /* no gaps between slices: one copy */
        e.depth = e.depth > 0;
    }
    c->extent = e;
    return error;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream, unsigned flags,
                           const char *api)
{
    struct copy_3d c;
    cudaError_t error = rt_copy_3d_of(&c, p);
    if (error)
        return error;
    for (size_t z = 0; z < c.extent.depth && !error; z++)
        error = rt_copy(c.to.at + z * c.to.slice, c.to.pitch, c.from.at + z * c.from.slice,
                        c.from.pitch, c.extent.width, c.extent.height, p->kind, stream, flags,
                        z ? "" : api);
    return error;
}

RT(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), copy_3d(p, 0, 0, __func__))
RT(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
   copy_3d(p, stream, VP_ASYNC, __func__))

#if CUDART_VERSION >= 12080
/* Sets one side of a copy of a batch; lengths are in elements, which are bytes without an array. */
static void batch_side(const struct cudaMemcpy3DOperand *o, struct cudaExtent e, size_t element,
                       cudaArray_t *array, struct cudaPos *at, struct cudaPitchedPtr *p)
{
    if (o->type == cudaMemcpyOperandTypeArray) {
        *array = o->op.array.array;
        *at = (struct cudaPos){o->op.array.offset.x, o->op.array.offset.y, o->op.array.offset.z};
        return;
    }
    const size_t row = (o->op.ptr.rowLength ? o->op.ptr.rowLength : e.width) * element;
    *p = (struct cudaPitchedPtr){o->op.ptr.ptr, row, row,
                                 o->op.ptr.layerHeight ? o->op.ptr.layerHeight : e.height};
}

static cudaError_t copy_batch(size_t n, const struct cudaMemcpy3DBatchOp *list, cudaStream_t stream,
                              const char *api)
{
    cudaError_t error =
        n && list && stream && stream != cudaStreamLegacy ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !error; i++) {
        const struct cudaMemcpy3DBatchOp *o = &list[i];
        const struct cudaMemcpy3DOperand *with =
            o->src.type == cudaMemcpyOperandTypeArray ? &o->src : &o->dst;
        const struct cudaArray *a =
            with->type == cudaMemcpyOperandTypeArray ? rt_array(with->op.array.array) : NULL;
        const size_t element = a ? rt_texel_bytes(&a->desc) : 1;
        struct cudaMemcpy3DParms p = {.extent = o->extent, .kind = cudaMemcpyDefault};
        batch_side(&o->src, o->extent, element, &p.srcArray, &p.srcPos, &p.srcPtr);
        batch_side(&o->dst, o->extent, element, &p.dstArray, &p.dstPos, &p.dstPtr);
        error = o->extent.width && o->extent.height && o->extent.depth
                    ? copy_3d(&p, stream, VP_ASYNC, api)
                    : cudaErrorInvalidValue;
    }
    return error;
}

RT(cudaMemcpy3DBatchAsync,
   (size_t n, struct cudaMemcpy3DBatchOp *list, unsigned long long flags, cudaStream_t stream),
   flags ? cudaErrorInvalidValue : copy_batch(n, list, stream, __func__))
#endif

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                unsigned flags, const char *api)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->srcDevice || p->dstDevice)
        return cudaErrorInvalidDevice;
    const struct cudaMemcpy3DParms same = {.srcArray = p->srcArray,
                                           .srcPos = p->srcPos,
                                           .srcPtr = p->srcPtr,
                                           .dstArray = p->dstArray,
                                           .dstPos = p->dstPos,
                                           .dstPtr = p->dstPtr,
                                           .extent = p->extent,
                                           .kind = cudaMemcpyDeviceToDevice};
    return copy_3d(&same, stream, flags, api);
}

RT(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), copy_3d_peer(p, 0, 0, __func__))
RT(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
   copy_3d_peer(p, stream, VP_ASYNC, __func__))
