/* Texture and surface objects: records in device memory (api/texture.h), whose addresses are the
 * handles passed to kernels. */
#include "vgpu/cudart/array.h"
#include "vgpu/api/texture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The size of the part of cudaResourceDesc that CUDA 12 and 13 have in common; CUDA 13 has reserved
 * fields after it. */
enum { RESOURCE_BYTES = 64 };

/* The descriptors that a program may query. */
struct object {
    struct object *next;
    uint64_t handle;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
};

static struct object *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void array_read(struct vg_texture *to, const struct cudaArray *a,
                       struct cudaChannelFormatDesc *desc)
{
    *desc = a->desc;
    to->address = a->address;
    to->width = (uint32_t)a->extent.width;
    to->height = (uint32_t)a->rows;
    to->depth = (uint32_t)a->slices;
    to->row_bytes = a->row_bytes;
    to->slice_bytes = a->row_bytes * a->rows;
}

static cudaError_t resource_read(struct vg_texture *to, const struct cudaResourceDesc *r,
                                 struct cudaChannelFormatDesc *desc)
{
    to->height = to->depth = 1;
    switch (r->resType) {
    case cudaResourceTypeArray: {
        const struct cudaArray *a = rt_array(r->res.array.array);
        if (!a)
            return cudaErrorInvalidValue;
        array_read(to, a, desc);
        return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
        const struct cudaMipmappedArray *m = rt_mipmap(r->res.mipmap.mipmap);
        if (!m)
            return cudaErrorInvalidValue;
        array_read(to, m->level, desc);
        to->levels = (uint8_t)m->levels;
        to->shrinks_depth = !(m->level[0].flags & (cudaArrayLayered | cudaArrayCubemap));
        return cudaSuccess;
    }
    case cudaResourceTypeLinear:
        *desc = r->res.linear.desc;
        if (!rt_is_texel(desc))
            return cudaErrorInvalidValue;
        to->address = (uintptr_t)r->res.linear.devPtr;
        to->width = (uint32_t)(r->res.linear.sizeInBytes / rt_texel_bytes(desc));
        to->is_buffer = 1;
        return cudaSuccess;
    case cudaResourceTypePitch2D:
        *desc = r->res.pitch2D.desc;
        to->address = (uintptr_t)r->res.pitch2D.devPtr;
        to->width = (uint32_t)r->res.pitch2D.width;
        to->height = (uint32_t)r->res.pitch2D.height;
        to->row_bytes = r->res.pitch2D.pitchInBytes;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

static int32_t level_steps(float level)
{
    const float steps = level * VG_LEVEL_STEPS;
    return steps >= VG_LEVEL_LIMIT    ? VG_LEVEL_LIMIT
           : steps <= -VG_LEVEL_LIMIT ? -VG_LEVEL_LIMIT
                                      : (int32_t)steps;
}

/* Measured on an H200: textures of mipmaps always have normalised coordinates. */
static void levels_read(struct vg_texture *to, const struct cudaTextureDesc *d)
{
    to->normalised_coordinates = true;
    to->linear_levels = d->mipmapFilterMode == cudaFilterModeLinear;
    to->level_bias = level_steps(d->mipmapLevelBias);
    to->level_min = level_steps(d->minMipmapLevelClamp);
    to->level_max = level_steps(d->maxMipmapLevelClamp);
}

static cudaError_t texture_read(struct vg_texture *to, const struct cudaTextureDesc *d,
                                const struct cudaChannelFormatDesc *desc)
{
    const bool is_integer = desc->f != cudaChannelFormatKindFloat;
    to->normalised_read = is_integer && d->readMode == cudaReadModeNormalizedFloat;
    to->linear_filter = d->filterMode == cudaFilterModeLinear;
    to->normalised_coordinates = d->normalizedCoords != 0;
    for (int i = 0; i < 3; i++)
        to->address_mode[i] = (uint8_t)d->addressMode[i];
    for (int i = 0; i < 4; i++)
        to->border[i] = d->borderColor[i];
    if (to->levels)
        levels_read(to, d);
    /* As in the real runtime, integers cannot be filtered, and 32-bit channels cannot be read
     * normalised. */
    if ((to->linear_filter && is_integer && !to->normalised_read) ||
        (to->normalised_read && desc->x == 32))
        return cudaErrorInvalidValue;
    /* Anisotropy selects among the levels of a mipmap. */
    if (d->sRGB || (to->levels && d->maxAnisotropy > 1) || d->seamlessCubemap) {
        static bool said;
        rt_say_once(&said, "sRGB and seamless textures and anisotropic mipmaps are not supported");
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

static cudaError_t object_make(uint64_t *handle, const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *texture, const char *api)
{
    struct vg_texture t = {.magic = VG_TEXTURE_MAGIC, .is_surface = texture == NULL};
    struct cudaChannelFormatDesc desc = {0};
    if (!handle || !resource)
        return cudaErrorInvalidValue;
    cudaError_t error = resource_read(&t, resource, &desc);
    if (!error && (!rt_is_texel(&desc) || !t.width || !t.height ||
                   (!texture && resource->resType != cudaResourceTypeArray)))
        error = cudaErrorInvalidValue;
    if (!error && texture)
        error = texture_read(&t, texture, &desc);
    if (error)
        return error;
    t.channels = (uint8_t)(1 + (desc.y != 0) + 2 * (desc.w != 0));
    t.channel_bytes = (uint8_t)(desc.x / 8);
    t.format = desc.f == cudaChannelFormatKindFloat    ? VG_TEXEL_FLOAT
               : desc.f == cudaChannelFormatKindSigned ? VG_TEXEL_SIGNED
                                                       : VG_TEXEL_UNSIGNED;
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        return cudaErrorMemoryAllocation;
    struct call c = rt_call(VP_ALLOC, api, 0, sizeof t);
    error = rt_exchange(&c);
    if (!error)
        error = rt_copy(POINTER(c.reply.r[0]), sizeof t, &t, sizeof t, sizeof t, 1,
                        cudaMemcpyHostToDevice, 0, 0, "");
    if (error) {
        free(o);
        return error;
    }
    *handle = o->handle = c.reply.r[0];
    memcpy(&o->resource, resource, RESOURCE_BYTES);
    if (texture)
        o->texture = *texture;
    pthread_mutex_lock(&lock);
    o->next = objects;
    objects = o;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* @return the object's record; @p remove: removes it from the list; the caller frees it. */
static struct object *object_find(uint64_t handle, bool remove)
{
    pthread_mutex_lock(&lock);
    struct object **at = &objects;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct object *o = *at;
    if (o && remove)
        *at = o->next;
    pthread_mutex_unlock(&lock);
    return o;
}

static cudaError_t object_destroy(uint64_t handle, const char *api)
{
    struct object *o = object_find(handle, true);
    if (!o)
        return handle ? cudaErrorInvalidValue : cudaSuccess;
    free(o);
    return rt_request(VP_FREE, api, 0, handle, VP_MEMORY_DEVICE);
}

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *to, const struct cudaResourceDesc *r,
                                        const struct cudaTextureDesc *d,
                                        const struct cudaResourceViewDesc *view)
{
    if (view) {
        static bool said;
        rt_say_once(&said, "resource views of textures are not supported");
        return rt_return(cudaErrorNotSupported);
    }
    if (!d)
        return rt_return(cudaErrorInvalidValue);
    uint64_t handle = 0;
    cudaError_t error = object_make(&handle, r, d, "cudaCreateTextureObject");
    if (!error && to)
        *to = handle;
    return rt_return(error);
}

RT(cudaDestroyTextureObject, (cudaTextureObject_t object), object_destroy(object, __func__))

API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *to, const struct cudaResourceDesc *r)
{
    uint64_t handle = 0;
    cudaError_t error = object_make(&handle, r, NULL, "cudaCreateSurfaceObject");
    if (!error && to)
        *to = handle;
    return rt_return(error);
}

RT(cudaDestroySurfaceObject, (cudaSurfaceObject_t object), object_destroy(object, __func__))

API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *to,
                                                 cudaTextureObject_t object)
{
    const struct object *o = object_find(object, false);
    if (!o || !to)
        return rt_return(cudaErrorInvalidValue);
    memcpy(to, &o->resource, RESOURCE_BYTES);
    return cudaSuccess;
}

API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *to,
                                                cudaTextureObject_t object)
{
    const struct object *o = object_find(object, false);
    if (!o || !to)
        return rt_return(cudaErrorInvalidValue);
    *to = o->texture;
    return cudaSuccess;
}

API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *to,
                                                 cudaSurfaceObject_t object)
{
    return cudaGetTextureObjectResourceDesc(to, object);
}
