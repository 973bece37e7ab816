/* Functions and launches. */
#include "vgpu/driver/driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32 };

/* ---- launches ------------------------------------------------------------------------------- */

struct launch {
    CUfunction function;
    dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
    void **parameters, **extra;
};

/* Handles parameters in one buffer (an older form of launch). */
static cudaError_t parameters_of_buffer(const struct function *f, void **extra, void **to)
{
    char *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            bytes = *(size_t *)extra[1];
        else
            return cudaErrorInvalidValue;
    }
    if (!buffer || bytes < f->parameter_bytes || f->parameters > DRIVER_PARAMETERS)
        return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < f->parameters; i++)
        to[i] = buffer + f->table[2 * i];
    return cudaSuccess;
}

cudaError_t driver_parameters(CUfunction function, void **extra, void ***parameters, void **room)
{
    struct function *f;
    cudaError_t error = rt_function(function, &f);
    if (error || !extra)
        return error;
    if (*parameters)
        return cudaErrorInvalidValue;
    *parameters = room;
    return parameters_of_buffer(f, extra, room);
}

static cudaError_t launch(struct launch l, bool cooperative)
{
    void *room[DRIVER_PARAMETERS];
    cudaError_t error = driver_parameters(l.function, l.extra, &l.parameters, room);
    if (error)
        return error;
    return (cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel)(
        l.function, l.grid, l.block, l.parameters, l.shared_bytes, l.stream);
}

static cudaLaunchConfig_t config_of(const CUlaunchConfig *c)
{
    return (cudaLaunchConfig_t){
        .gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
        .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
        .dynamicSmemBytes = c->sharedMemBytes,
        .stream = c->hStream,
        .attrs = (cudaLaunchAttribute *)(void *)c->attrs, /* both have the same layout */
        .numAttrs = c->numAttrs,
    };
}

static cudaError_t launch_with(const CUlaunchConfig *c, CUfunction f, void **parameters,
                               void **extra)
{
    if (!c)
        return cudaErrorInvalidValue;
    void *room[DRIVER_PARAMETERS];
    cudaError_t error = driver_parameters(f, extra, &parameters, room);
    const cudaLaunchConfig_t config = config_of(c);
    return error ? error : cudaLaunchKernelExC(&config, f, parameters);
}

DRIVER(cuLaunchKernel,
       (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
        unsigned shared, CUstream stream, void **parameters, void **extra),
       launch((struct launch){f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra},
              false))
DRIVER(cuLaunchCooperativeKernel,
       (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
        unsigned shared, CUstream stream, void **parameters),
       launch((struct launch){f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, NULL},
              true))
DRIVER(cuLaunchKernelEx,
       (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),
       launch_with(config, f, parameters, extra))

/* ---- the oldest form of a launch: settings of a function are kept until its launch -------- */

struct settings {
    struct settings *next;
    CUfunction function;
    dim3 block;
    unsigned shared_bytes;
    char parameters[VP_PAYLOAD_MAX];
};

static struct settings *kept; /* for each function that was launched in this form */
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static struct settings *settings_of(CUfunction f)
{
    pthread_mutex_lock(&kept_lock);
    struct settings *s = kept;
    while (s && s->function != f)
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s))) {
        s->function = f;
        s->block = (dim3){1, 1, 1};
        s->next = kept;
        kept = s;
    }
    pthread_mutex_unlock(&kept_lock);
    return s;
}

static cudaError_t set_shape(CUfunction f, int x, int y, int z)
{
    struct settings *s = settings_of(f);
    if (!s)
        return cudaErrorMemoryAllocation;
    s->block = (dim3){(unsigned)x, (unsigned)y, (unsigned)z};
    return x > 0 && y > 0 && z > 0 ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t set_shared(CUfunction f, unsigned bytes)
{
    struct settings *s = settings_of(f);
    if (s)
        s->shared_bytes = bytes;
    return s ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t set_parameter(CUfunction f, int at, const void *value, size_t bytes)
{
    struct settings *s = settings_of(f);
    if (!s)
        return cudaErrorMemoryAllocation;
    if (at < 0 || bytes > sizeof s->parameters || (size_t)at > sizeof s->parameters - bytes)
        return cudaErrorInvalidValue;
    memcpy(s->parameters + at, value, bytes);
    return cudaSuccess;
}

static cudaError_t launch_set(CUfunction f, int width, int height, CUstream stream)
{
    struct settings *s = settings_of(f);
    size_t bytes = sizeof s->parameters;
    if (!s || width <= 0 || height <= 0)
        return s ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, s->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    return launch((struct launch){f,
                                  {(unsigned)width, (unsigned)height, 1},
                                  s->block,
                                  s->shared_bytes,
                                  stream,
                                  NULL,
                                  extra},
                  false);
}

DRIVER(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z), set_shape(f, x, y, z))
DRIVER(cuFuncSetSharedSize, (CUfunction f, unsigned bytes), set_shared(f, bytes))
DRIVER(cuParamSetSize, (CUfunction f, unsigned bytes),
       bytes <= VP_PAYLOAD_MAX ? cudaSuccess : cudaErrorInvalidValue)
DRIVER(cuParamSeti, (CUfunction f, int at, unsigned value),
       set_parameter(f, at, &value, sizeof value))
DRIVER(cuParamSetf, (CUfunction f, int at, float value), set_parameter(f, at, &value, sizeof value))
DRIVER(cuParamSetv, (CUfunction f, int at, void *value, unsigned bytes),
       set_parameter(f, at, value, bytes))
DRIVER(cuLaunch, (CUfunction f), launch_set(f, 1, 1, NULL))
DRIVER(cuLaunchGrid, (CUfunction f, int width, int height), launch_set(f, width, height, NULL))
DRIVER(cuLaunchGridAsync, (CUfunction f, int width, int height, CUstream stream),
       launch_set(f, width, height, stream))

/* ---- facts of functions --------------------------------------------------------------------- */

static cudaError_t attribute(int *to, CUfunction_attribute which, const void *f)
{
    struct cudaFuncAttributes a;
    cudaError_t error = to ? cudaFuncGetAttributes(&a, f) : cudaErrorInvalidValue;
    if (error)
        return error;
    switch (which) {
#define ATTRIBUTE(NAME, member)                                                                    \
    case CU_FUNC_ATTRIBUTE_##NAME:                                                                 \
        return PUT(to, (int)a.member, cudaSuccess)
        ATTRIBUTE(MAX_THREADS_PER_BLOCK, maxThreadsPerBlock);
        ATTRIBUTE(SHARED_SIZE_BYTES, sharedSizeBytes);
        ATTRIBUTE(CONST_SIZE_BYTES, constSizeBytes);
        ATTRIBUTE(LOCAL_SIZE_BYTES, localSizeBytes);
        ATTRIBUTE(NUM_REGS, numRegs);
        ATTRIBUTE(PTX_VERSION, ptxVersion);
        ATTRIBUTE(BINARY_VERSION, binaryVersion);
        ATTRIBUTE(MAX_DYNAMIC_SHARED_SIZE_BYTES, maxDynamicSharedSizeBytes);
        ATTRIBUTE(PREFERRED_SHARED_MEMORY_CARVEOUT, preferredShmemCarveout);
        ATTRIBUTE(CLUSTER_SIZE_MUST_BE_SET, clusterDimMustBeSet);
        ATTRIBUTE(REQUIRED_CLUSTER_WIDTH, requiredClusterWidth);
        ATTRIBUTE(REQUIRED_CLUSTER_HEIGHT, requiredClusterHeight);
        ATTRIBUTE(REQUIRED_CLUSTER_DEPTH, requiredClusterDepth);
        ATTRIBUTE(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, nonPortableClusterSizeAllowed);
#undef ATTRIBUTE
    default:
        return which < CU_FUNC_ATTRIBUTE_MAX ? PUT(to, 0, cudaSuccess) : cudaErrorInvalidValue;
    }
}

DRIVER(cuFuncGetAttribute, (int *to, CUfunction_attribute which, CUfunction f),
       attribute(to, which, f))
DRIVER(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute which, int value),
       cudaFuncSetAttribute(f, (enum cudaFuncAttribute)which, value))
DRIVER(cuFuncSetCacheConfig, (CUfunction f, CUfunc_cache config),
       cudaFuncSetCacheConfig(f, (enum cudaFuncCache)config))
DRIVER(cuFuncGetName, (const char **to, CUfunction f), cudaFuncGetName(to, f))
DRIVER(cuFuncGetParamInfo, (CUfunction f, size_t i, size_t *offset, size_t *bytes),
       cudaFuncGetParamInfo(f, i, offset, bytes))
DRIVER(cuFuncIsLoaded, (CUfunctionLoadingState * to, CUfunction f),
       PUT(to, CU_FUNCTION_LOADING_STATE_LOADED, cudaSuccess))
DRIVER(cuFuncLoad, (CUfunction f), cudaSuccess)
DRIVER(cuKernelGetAttribute, (int *to, CUfunction_attribute which, CUkernel f, CUdevice device),
       attribute(to, which, f))
DRIVER(cuKernelSetAttribute, (CUfunction_attribute which, int value, CUkernel f, CUdevice device),
       cudaFuncSetAttribute(f, (enum cudaFuncAttribute)which, value))
DRIVER(cuKernelGetName, (const char **to, CUkernel f), cudaFuncGetName(to, f))

/* Finds the function of a kernel of the program, or the module of a function. */
static cudaError_t function_of(void *to, const void *kernel, bool wants_module)
{
    struct function *f;
    cudaError_t error = to ? rt_function(kernel, &f) : cudaErrorInvalidValue;
    if (!error)
        *(void **)to = wants_module ? (void *)f->binary : (void *)f;
    return error;
}

DRIVER(cuFuncGetModule, (CUmodule * to, CUfunction f), function_of(to, f, true))
DRIVER(cuKernelGetLibrary, (CUlibrary * to, CUkernel f), function_of(to, f, true))
DRIVER(cuFuncSetSharedMemConfig, (CUfunction f, CUsharedconfig config), cudaSuccess)
RT(cudaGetFuncBySymbol, (cudaFunction_t * to, const void *symbol), function_of(to, symbol, false))

/* ---- occupancy ------------------------------------------------------------------------------ */

/* Finds the block size with the most resident threads; among equal ones, the largest. */
static cudaError_t best_block(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                              size_t shared, int limit)
{
    struct cudaFuncAttributes a;
    cudaError_t error = grid && block ? cudaFuncGetAttributes(&a, f) : cudaErrorInvalidValue;
    if (error)
        return error;
    const int most = limit > 0 && limit < a.maxThreadsPerBlock ? limit : a.maxThreadsPerBlock;
    int best_threads = 0;
    for (int threads = most; threads > 0 && !error; threads = (threads - 1) / WARP * WARP) {
        int blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, f, threads, shared_of ? shared_of(threads) : shared);
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            *block = threads;
            *grid = blocks * rt_profile()->multiprocessors;
        }
    }
    return error;
}

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
       (int *to, CUfunction f, int threads, size_t shared),
       cudaOccupancyMaxActiveBlocksPerMultiprocessor(to, f, threads, shared))
DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
       (int *to, CUfunction f, int threads, size_t shared, unsigned flags),
       cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, f, threads, shared, flags))
DRIVER(cuOccupancyAvailableDynamicSMemPerBlock,
       (size_t * to, CUfunction f, int blocks, int threads),
       cudaOccupancyAvailableDynamicSMemPerBlock(to, f, blocks, threads))
DRIVER(cuOccupancyMaxPotentialBlockSize,
       (int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of, size_t shared,
        int limit),
       best_block(grid, block, f, shared_of, shared, limit))
DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags,
       (int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of, size_t shared, int limit,
        unsigned flags),
       best_block(grid, block, f, shared_of, shared, limit))

static cudaError_t clusters(cudaError_t (*ask)(int *, const void *, const cudaLaunchConfig_t *),
                            int *to, CUfunction f, const CUlaunchConfig *c)
{
    if (!c)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t config = config_of(c);
    return ask(to, f, &config);
}

DRIVER(cuOccupancyMaxActiveClusters, (int *to, CUfunction f, const CUlaunchConfig *config),
       clusters(cudaOccupancyMaxActiveClusters, to, f, config))
DRIVER(cuOccupancyMaxPotentialClusterSize, (int *to, CUfunction f, const CUlaunchConfig *config),
       clusters(cudaOccupancyMaxPotentialClusterSize, to, f, config))
