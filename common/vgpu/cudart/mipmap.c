/* Mipmapped arrays: one allocation with all levels, each of which is also a CUDA array. */
#include "vgpu/cudart/array.h"
#include "vgpu/api/texture.h"

#include <pthread.h>
#include <stdlib.h>

static struct cudaMipmappedArray *mipmaps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct cudaMipmappedArray *rt_mipmap(const struct cudaMipmappedArray *handle)
{
    pthread_mutex_lock(&lock);
    struct cudaMipmappedArray *m = mipmaps;
    while (m && m != handle)
        m = m->next;
    pthread_mutex_unlock(&lock);
    return m;
}

static size_t half(size_t n)
{
    return n > 1 ? n / 2 : n;
}

/* @return the number of levels, of which the last has one texel, or as many as requested. */
static unsigned count_levels(struct cudaExtent e, bool shrinks_depth, unsigned requested)
{
    size_t most = e.width > e.height ? e.width : e.height;
    unsigned n = 1;
    for (most = shrinks_depth && e.depth > most ? e.depth : most; most > 1; most /= 2)
        n++;
    return requested < n ? requested : n;
}

static cudaError_t mipmap_make(cudaMipmappedArray_t *to, const struct cudaChannelFormatDesc *desc,
                               struct cudaExtent e, unsigned levels, unsigned flags,
                               const char *api)
{
    const bool shrinks_depth = !(flags & (cudaArrayLayered | cudaArrayCubemap));
    const unsigned n = count_levels(e, shrinks_depth, levels);
    struct cudaMipmappedArray *m =
        to && n && n <= VG_LEVELS_MAX ? calloc(1, sizeof *m + n * sizeof *m->level) : NULL;
    if (!m)
        return to && n && n <= VG_LEVELS_MAX ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n && !error; i++) {
        struct cudaArray *a = &m->level[i];
        error = rt_array_describe(a, desc, e, flags, api);
        a->is_level = true;
        a->address = bytes;
        bytes += a->row_bytes * a->rows * a->slices;
        e = (struct cudaExtent){half(e.width), half(e.height),
                                shrinks_depth ? half(e.depth) : e.depth};
    }
    struct call c = rt_call(VP_ALLOC, api, 0, bytes);
    error = error ? error : rt_exchange(&c);
    if (error) {
        free(m);
        return error;
    }
    for (unsigned i = 0; i < n; i++)
        m->level[i].address += c.reply.r[0];
    m->levels = n;
    rt_arrays_add(m->level, n);
    pthread_mutex_lock(&lock);
    m->next = mipmaps;
    mipmaps = m;
    pthread_mutex_unlock(&lock);
    *to = m;
    return cudaSuccess;
}

static cudaError_t mipmap_free(cudaMipmappedArray_t handle, const char *api)
{
    struct cudaMipmappedArray **at = &mipmaps, *m;
    if (!handle)
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    while (*at && *at != handle)
        at = &(*at)->next;
    if ((m = *at))
        *at = m->next;
    pthread_mutex_unlock(&lock);
    if (!m)
        return cudaErrorInvalidResourceHandle;
    rt_arrays_remove(m->level, m->levels);
    cudaError_t error = rt_request(VP_FREE, api, 0, m->level[0].address, VP_MEMORY_DEVICE);
    free(m);
    return error;
}

static cudaError_t level_get(cudaArray_t *to, cudaMipmappedArray_const_t handle, unsigned level)
{
    struct cudaMipmappedArray *m = rt_mipmap(handle);
    if (!m || !to || level >= m->levels)
        return m ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *to = &m->level[level];
    return cudaSuccess;
}

RT(cudaMallocMipmappedArray,
   (cudaMipmappedArray_t * to, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
    unsigned levels, unsigned flags),
   mipmap_make(to, desc, extent, levels, flags, __func__))
RT(cudaFreeMipmappedArray, (cudaMipmappedArray_t mipmap), mipmap_free(mipmap, __func__))
RT(cudaGetMipmappedArrayLevel,
   (cudaArray_t * to, cudaMipmappedArray_const_t mipmap, unsigned level),
   level_get(to, mipmap, level))
