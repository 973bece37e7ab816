/* Memory pools. They allocate like cudaMalloc(); this library counts the memory of each pool, with
 * the sizes that a GPU reports: units of 512 bytes, taken from reserved blocks of 32 MiB. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <pthread.h>

#define DEFAULT_POOL  ((cudaMemPool_t)0x700L)
#define POOLS         65 /* the default pool, and those that the program creates */
#define USED_UNIT     ((uint64_t)512)
#define RESERVED_UNIT ((uint64_t)32 << 20)

static struct pool {
    bool exists;
    int no_reuse[3]; /* by attribute, cudaMemPoolReuseFollowEventDependencies first */
    uint64_t most;   /* that may be allocated; 0: any number */
    uint64_t threshold, used, used_high, reserved, reserved_high;
} pools[POOLS] = {{.exists = true}};

/* Memory that was allocated from pools. */
static struct block {
    const void *at;
    uint64_t bytes;
    struct pool *pool;
} * blocks;
static size_t block_count;
static struct pool *current = pools;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t in_units(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* @return NULL if it is not a pool */
static struct pool *pool_of(cudaMemPool_t handle)
{
    uintptr_t i = (uintptr_t)handle - (uintptr_t)DEFAULT_POOL;
    return i < POOLS && pools[i].exists ? &pools[i] : NULL;
}

static cudaMemPool_t handle_of(const struct pool *pool)
{
    return (cudaMemPool_t)((uintptr_t)DEFAULT_POOL + (uintptr_t)(pool - pools));
}

/* Releases reserved memory that is not used, except for @p keep bytes. */
static void trim(struct pool *pool, uint64_t keep)
{
    if (pool->reserved > keep)
        pool->reserved = in_units(pool->used > keep ? pool->used : keep, RESERVED_UNIT);
}

static void count(struct pool *pool, const void *at, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (ARRAY_ROOM(blocks, block_count)) {
        struct block *b = &blocks[block_count++];
        *b = (struct block){at, in_units(bytes, USED_UNIT), pool};
        pool->used += b->bytes;
        uint64_t reserved = in_units(pool->used, RESERVED_UNIT);
        pool->reserved = reserved > pool->reserved ? reserved : pool->reserved;
        pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
        pool->reserved_high =
            pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
    }
    pthread_mutex_unlock(&lock);
}

static void uncount(const void *p)
{
    pthread_mutex_lock(&lock);
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].at != p)
            continue;
        struct pool *pool = blocks[i].pool;
        pool->used -= blocks[i].bytes;
        trim(pool, pool->threshold);
        blocks[i] = blocks[--block_count];
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* Allocates; in a captured stream, adds a node that allocates. */
static cudaError_t alloc(void **to, size_t bytes, struct pool *pool, cudaStream_t stream,
                         const char *api)
{
    struct graph_block *block;
    if (!to || !pool)
        return cudaErrorInvalidValue;
    if (pool->most && in_units(bytes, USED_UNIT) > pool->most - pool->used)
        return cudaErrorMemoryAllocation;
    if (!bytes || !capture_is_active(stream)) {
        cudaError_t error = rt_alloc(to, bytes, api);
        if (!error && bytes)
            count(pool, *to, bytes);
        return error;
    }
    cudaError_t error = graph_block_new(&block, bytes, api);
    if (error)
        return error;
    *to = block->address;
    return capture_alloc(stream, block) ? cudaSuccess : cudaErrorIllegalState;
}

RT(cudaMallocAsync, (void **to, size_t bytes, cudaStream_t stream),
   alloc(to, bytes, current, stream, __func__))
RT(cudaMallocFromPoolAsync, (void **to, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
   alloc(to, bytes, pool_of(pool), stream, __func__))

static cudaError_t free_device(void *p, bool in_order, cudaStream_t stream, const char *api)
{
    cudaError_t error = rt_free(p, VP_MEMORY_DEVICE, in_order, stream, api);
    if (!error)
        uncount(p);
    return error;
}

RT(cudaFree, (void *p), free_device(p, false, 0, __func__))

API cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    if (capture_free(stream, p))
        return cudaSuccess;
    return rt_return(free_device(p, true, stream, "cudaFreeAsync"));
}

RT(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device),
   PUT(pool, DEFAULT_POOL, device ? cudaErrorInvalidDevice : cudaSuccess))
RT(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device),
   PUT(pool, device ? DEFAULT_POOL : handle_of(current),
       device ? cudaErrorInvalidDevice : cudaSuccess))

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (device || !pool_of(pool))
        return rt_return(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    current = pool_of(pool);
    return cudaSuccess;
}

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    if (!pool || !props || props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice || props->location.id != 0)
        return rt_return(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    struct pool *free = pools;
    while (free < pools + POOLS && free->exists)
        free++;
    if (free < pools + POOLS)
        *free = (struct pool){.exists = true, .most = in_units(props->maxSize, RESERVED_UNIT)};
    pthread_mutex_unlock(&lock);
    if (free == pools + POOLS)
        return rt_return(cudaErrorMemoryAllocation);
    *pool = handle_of(free);
    return rt_return(rt_request(VP_CALL, "cudaMemPoolCreate", 0));
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
    struct pool *pool = pool_of(handle);
    if (!pool || pool == pools)
        return rt_return(cudaErrorInvalidValue);
    pool->exists = false;
    if (current == pool)
        current = pools;
    return cudaSuccess;
}

/* @return the counter that an attribute names, or NULL */
static uint64_t *counter(struct pool *pool, enum cudaMemPoolAttr attribute)
{
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        return &pool->threshold;
    case cudaMemPoolAttrReservedMemCurrent:
        return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh:
        return &pool->reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
        return &pool->used;
    case cudaMemPoolAttrUsedMemHigh:
        return &pool->used_high;
    default:
        return NULL;
    }
}

static int *no_reuse(struct pool *pool, enum cudaMemPoolAttr attribute)
{
    return attribute >= cudaMemPoolReuseFollowEventDependencies &&
                   attribute <= cudaMemPoolReuseAllowInternalDependencies
               ? &pool->no_reuse[attribute - cudaMemPoolReuseFollowEventDependencies]
               : NULL;
}

API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    struct pool *pool = pool_of(handle);
    if (!pool || !value)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    if (no_reuse(pool, attribute))
        *no_reuse(pool, attribute) = !*(int *)value;
    else if (attribute == cudaMemPoolAttrReleaseThreshold)
        pool->threshold = *(uint64_t *)value;
    else if (attribute == cudaMemPoolAttrReservedMemHigh && !*(uint64_t *)value)
        pool->reserved_high = pool->reserved;
    else if (attribute == cudaMemPoolAttrUsedMemHigh && !*(uint64_t *)value)
        pool->used_high = pool->used;
    else
        error = cudaErrorInvalidValue;
    pthread_mutex_unlock(&lock);
    return rt_return(error);
}

API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    struct pool *pool = pool_of(handle);
    if (!pool || !value || (!no_reuse(pool, attribute) && !counter(pool, attribute)))
        return rt_return(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    if (no_reuse(pool, attribute))
        *(int *)value = !*no_reuse(pool, attribute);
    else
        *(uint64_t *)value = *counter(pool, attribute);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep)
{
    struct pool *pool = pool_of(handle);
    if (!pool)
        return rt_return(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    trim(pool, keep);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

RT(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t n),
   pool_of(pool) && (list || !n) ? cudaSuccess : cudaErrorInvalidValue)

API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                     struct cudaMemLocation *location)
{
    if (!pool_of(pool) || !location)
        return rt_return(cudaErrorInvalidValue);
    bool own = location->type == cudaMemLocationTypeDevice && location->id == 0;
    return rt_return(PUT(flags, own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone,
                         cudaSuccess));
}
