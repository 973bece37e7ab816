/* Arrays, mipmaps, textures and surfaces. Their handles are those of the runtime. */
#include "vgpu/cudart/array.h"
#include "vgpu/driver/driver.h"

/* ---- texels ---------------------------------------------------------------------------------- */

static const struct {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
               {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* @return the runtime's description of texels; without channels if arrays cannot have such texels */
static struct cudaChannelFormatDesc texel_of(CUarray_format format, unsigned channels)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].format == format) {
            const int b = formats[i].bits;
            return cudaCreateChannelDesc(b, channels > 1 ? b : 0, channels > 2 ? b : 0,
                                         channels > 3 ? b : 0, formats[i].kind);
        }
    static bool said;
    rt_say_once(&said, "arrays of format 0x%x are not supported", (unsigned)format);
    return (struct cudaChannelFormatDesc){0};
}

static CUarray_format format_of(const struct cudaChannelFormatDesc *d)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].bits == d->x && formats[i].kind == d->f)
            return formats[i].format;
    return (CUarray_format)0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static cudaError_t array_create(CUarray *to, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (!to || !d)
        return cudaErrorInvalidValue;
    const struct cudaChannelFormatDesc texel = texel_of(d->Format, d->NumChannels);
    return cudaMalloc3DArray((cudaArray_t *)to, &texel,
                             (struct cudaExtent){d->Width, d->Height, d->Depth}, d->Flags);
}

static cudaError_t array_create_2d(CUarray *to, const CUDA_ARRAY_DESCRIPTOR *d)
{
    return d ? array_create(to, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = d->Width,
                                                           .Height = d->Height,
                                                           .Format = d->Format,
                                                           .NumChannels = d->NumChannels})
             : cudaErrorInvalidValue;
}

static cudaError_t array_describe(CUDA_ARRAY3D_DESCRIPTOR *to, CUarray handle)
{
    const struct cudaArray *a = rt_array((cudaArray_t)handle);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    const struct cudaChannelFormatDesc *d = &a->desc;
    return PUT(
        to,
        ((CUDA_ARRAY3D_DESCRIPTOR){.Width = a->extent.width,
                                   .Height = a->extent.height,
                                   .Depth = a->extent.depth,
                                   .Format = format_of(d),
                                   .NumChannels = 1 + (d->y != 0) + (d->z != 0) + (d->w != 0),
                                   .Flags = a->flags}),
        cudaSuccess);
}

static cudaError_t array_describe_2d(CUDA_ARRAY_DESCRIPTOR *to, CUarray handle)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = array_describe(&d, handle);
    return error ? error
                 : PUT(to, ((CUDA_ARRAY_DESCRIPTOR){d.Width, d.Height, d.Format, d.NumChannels}),
                       cudaSuccess);
}

static cudaError_t mipmap_create(CUmipmappedArray *to, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                 unsigned levels)
{
    if (!to || !d)
        return cudaErrorInvalidValue;
    const struct cudaChannelFormatDesc texel = texel_of(d->Format, d->NumChannels);
    return cudaMallocMipmappedArray((cudaMipmappedArray_t *)to, &texel,
                                    (struct cudaExtent){d->Width, d->Height, d->Depth}, levels,
                                    d->Flags);
}

DRIVER(cuArrayCreate, (CUarray * to, const CUDA_ARRAY_DESCRIPTOR *d), array_create_2d(to, d))
DRIVER(cuArray3DCreate, (CUarray * to, const CUDA_ARRAY3D_DESCRIPTOR *d), array_create(to, d))
DRIVER(cuArrayGetDescriptor, (CUDA_ARRAY_DESCRIPTOR * to, CUarray array),
       array_describe_2d(to, array))
DRIVER(cuArray3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR * to, CUarray array),
       array_describe(to, array))
DRIVER(cuArrayDestroy, (CUarray array),
       array ? cudaFreeArray((cudaArray_t)array) : cudaErrorInvalidResourceHandle)
DRIVER(cuMipmappedArrayCreate,
       (CUmipmappedArray * to, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels),
       mipmap_create(to, d, levels))
DRIVER(cuMipmappedArrayGetLevel, (CUarray * to, CUmipmappedArray mipmap, unsigned level),
       cudaGetMipmappedArrayLevel((cudaArray_t *)to, (cudaMipmappedArray_t)mipmap, level))
DRIVER(cuMipmappedArrayDestroy, (CUmipmappedArray mipmap),
       mipmap ? cudaFreeMipmappedArray((cudaMipmappedArray_t)mipmap)
              : cudaErrorInvalidResourceHandle)

/* ---- textures and surfaces ------------------------------------------------------------------- */

static cudaError_t resource_of(struct cudaResourceDesc *to, const CUDA_RESOURCE_DESC *r)
{
    *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)r->resType};
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)r->res.array.hArray;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)r->res.mipmap.hMipmappedArray;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = POINTER(r->res.linear.devPtr);
        to->res.linear.desc = texel_of(r->res.linear.format, r->res.linear.numChannels);
        to->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = POINTER(r->res.pitch2D.devPtr);
        to->res.pitch2D.desc = texel_of(r->res.pitch2D.format, r->res.pitch2D.numChannels);
        to->res.pitch2D.width = r->res.pitch2D.width;
        to->res.pitch2D.height = r->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

/* @return the texels of a resource. */
static struct cudaChannelFormatDesc texel_in(const struct cudaResourceDesc *r)
{
    const struct cudaMipmappedArray *m =
        r->resType == cudaResourceTypeMipmappedArray ? rt_mipmap(r->res.mipmap.mipmap) : NULL;
    const struct cudaArray *a = m                                     ? m->level
                                : r->resType == cudaResourceTypeArray ? rt_array(r->res.array.array)
                                                                      : NULL;
    return a                                       ? a->desc
           : r->resType == cudaResourceTypeLinear  ? r->res.linear.desc
           : r->resType == cudaResourceTypePitch2D ? r->res.pitch2D.desc
                                                   : (struct cudaChannelFormatDesc){0};
}

static cudaError_t texture_create(CUtexObject *to, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct cudaResourceDesc r;
    if (!to || !resource || !t)
        return cudaErrorInvalidValue;
    cudaError_t error = resource_of(&r, resource);
    if (error)
        return error;
    /* Integers of 32 bits are never read as fractions. */
    const bool as_is = t->flags & CU_TRSF_READ_AS_INTEGER || texel_in(&r).x == 32;
    struct cudaTextureDesc d = {
        .filterMode = (enum cudaTextureFilterMode)t->filterMode,
        .readMode = as_is ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
        .sRGB = (t->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = t->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode,
        .mipmapLevelBias = t->mipmapLevelBias,
        .minMipmapLevelClamp = t->minMipmapLevelClamp,
        .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
        .seamlessCubemap = (t->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0};
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
    for (int i = 0; i < 4; i++)
        d.borderColor[i] = t->borderColor[i];
    return cudaCreateTextureObject((cudaTextureObject_t *)to, &r, &d,
                                   (const struct cudaResourceViewDesc *)(const void *)view);
}

static cudaError_t surface_create(CUsurfObject *to, const CUDA_RESOURCE_DESC *resource)
{
    struct cudaResourceDesc r;
    cudaError_t error = to && resource ? resource_of(&r, resource) : cudaErrorInvalidValue;
    return error ? error : cudaCreateSurfaceObject((cudaSurfaceObject_t *)to, &r);
}

DRIVER(cuTexObjectCreate,
       (CUtexObject * to, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
        const CUDA_RESOURCE_VIEW_DESC *view),
       texture_create(to, resource, texture, view))
DRIVER(cuTexObjectDestroy, (CUtexObject texture), cudaDestroyTextureObject(texture))
DRIVER(cuSurfObjectCreate, (CUsurfObject * to, const CUDA_RESOURCE_DESC *resource),
       surface_create(to, resource))
DRIVER(cuSurfObjectDestroy, (CUsurfObject surface), cudaDestroySurfaceObject(surface))
