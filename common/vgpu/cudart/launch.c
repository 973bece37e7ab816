/* Launches: the call configuration of <<<...>>>, and every entry point that starts a kernel. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

#define CONFIGURATIONS_MAX 16 /* nested: expressions in kernel arguments may launch kernels */

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

static _Thread_local struct {
    struct configuration stack[CONFIGURATIONS_MAX];
    int n;
} configurations;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st *stream);
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                           void *stream);
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry);
API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                   size_t shared_bytes, cudaStream_t stream);
API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream);

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st *stream)
{
    if (configurations.n == CONFIGURATIONS_MAX)
        return 1; /* nvcc's code then does not call the kernel's stub */
    configurations.stack[configurations.n++] =
        (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                           void *stream)
{
    if (configurations.n == 0)
        return rt_return(cudaErrorMissingConfiguration);
    const struct configuration *c = &configurations.stack[--configurations.n];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* Packs three sizes into 16 bits each; no GPU allows larger sizes. */
static uint64_t rt_pack_three(dim3 d)
{
    const uint64_t most = 0xffff;
    return (d.x < most ? d.x : most) | (d.y < most ? d.y : most) << 16 |
           (d.z < most ? d.z : most) << 32;
}

cudaError_t rt_launch(const struct graph_kernel *k, cudaStream_t stream, const char *api)
{
    struct call c =
        rt_call(VP_LAUNCH, api, stream, k->function->kernel, k->grid.x | (uint64_t)k->grid.y << 32,
                k->grid.z | (uint64_t)k->block.z << 32, k->block.x | (uint64_t)k->block.y << 32,
                k->shared_bytes, k->cooperative, rt_pack_three(k->cluster));
    c.payload = k->parameters;
    c.request.payload_bytes = k->function->parameter_bytes;
    rt_managed_push();
    return rt_exchange(&c);
}

static cudaError_t launch_clusters(const void *symbol, const cudaLaunchConfig_t *config,
                                   dim3 cluster, void **arguments, bool cooperative,
                                   const char *api)
{
    const cudaStream_t stream = config->stream;
    struct function *f;
    cudaError_t error = rt_function(symbol, &f);
    if (error)
        return error;
    unsigned char parameters[VP_PAYLOAD_MAX];
    if (f->parameter_bytes > sizeof parameters || (f->parameters && !arguments))
        return cudaErrorInvalidValue;
    memset(parameters, 0, f->parameter_bytes);
    for (uint32_t i = 0; i < f->parameters; i++) {
        uint32_t offset = f->table[2 * i], bytes = f->table[2 * i + 1];
        if (offset <= f->parameter_bytes && bytes <= f->parameter_bytes - offset)
            memcpy(parameters + offset, arguments[i], bytes);
    }
    struct graph_kernel k = {f,         config->gridDim,          config->blockDim,
                             cluster,   config->dynamicSmemBytes, cooperative,
                             parameters};
    if (!capture_is_active(stream))
        return rt_launch(&k, stream, api);
    k.parameters = malloc((size_t)f->parameter_bytes + 1);
    if (!k.parameters)
        return cudaErrorMemoryAllocation;
    memcpy(k.parameters, parameters, f->parameter_bytes);
    capture_kernel(stream, &k);
    return cudaSuccess;
}

static cudaError_t launch(const void *symbol, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream, bool cooperative,
                          const char *api)
{
    const cudaLaunchConfig_t config = {
        .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared_bytes, .stream = stream};
    return launch_clusters(symbol, &config, (dim3){0}, arguments, cooperative, api);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
    /* nvcc's code calls this once per kernel and ignores the error; the launch will report it. */
    *kernel = (cudaKernel_t)(uintptr_t)entry;
    return cudaSuccess;
}

API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
    struct function *f;
    cudaError_t error = rt_function(entry, &f);
    if (!error)
        *kernel = (cudaKernel_t)(void *)f;
    return rt_return(error);
}

RT(__cudaLaunchKernel,
   (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
    cudaStream_t stream),
   launch((const void *)kernel, grid, block, arguments, shared_bytes, stream, false,
          "cudaLaunchKernel"))
RT(cudaLaunchKernel,
   (const void *symbol, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
    cudaStream_t stream),
   launch(symbol, grid, block, arguments, shared_bytes, stream, false, __func__))
RT(cudaLaunchCooperativeKernel,
   (const void *symbol, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
    cudaStream_t stream),
   launch(symbol, grid, block, arguments, shared_bytes, stream, true, __func__))

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *symbol,
                                    void **arguments)
{
    bool cooperative = false;
    dim3 cluster = {0};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative)
            cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeClusterDimension)
            cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    }
    return rt_return(
        launch_clusters(symbol, config, cluster, arguments, cooperative, "cudaLaunchKernelExC"));
}

static cudaError_t clusters(struct call *c, const void *symbol, const cudaLaunchConfig_t *config)
{
    struct function *f;
    dim3 cluster = {0};
    cudaError_t error = config ? rt_function(symbol, &f) : cudaErrorInvalidValue;
    if (error)
        return error;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            cluster = (dim3){config->attrs[i].val.clusterDim.x, config->attrs[i].val.clusterDim.y,
                             config->attrs[i].val.clusterDim.z};
    const dim3 b = config->blockDim;
    *c = rt_call(VP_CLUSTERS, "cudaOccupancyMaxActiveClusters", 0, f->kernel,
                 (uint64_t)b.x * b.y * b.z, config->dynamicSmemBytes, rt_pack_three(cluster),
                 rt_pack_three(config->gridDim));
    return rt_exchange(c);
}

API cudaError_t cudaOccupancyMaxActiveClusters(int *to, const void *symbol,
                                               const cudaLaunchConfig_t *config)
{
    struct call c;
    const cudaError_t error = to ? clusters(&c, symbol, config) : cudaErrorInvalidValue;
    if (!error)
        *to = (int)c.reply.r[0];
    return rt_return(error);
}

API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *to, const void *symbol,
                                                     const cudaLaunchConfig_t *config)
{
    struct call c;
    const cudaError_t error = to ? clusters(&c, symbol, config) : cudaErrorInvalidValue;
    if (!error)
        *to = (int)c.reply.r[1];
    return rt_return(error);
}

API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes,
                              stream ? stream : cudaStreamPerThread);
}
