/* Launches: the call configuration of <<<...>>>, and every entry point that starts a kernel. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

#define CONFIGURATIONS_MAX 16 /* kernel arguments may themselves launch kernels */

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

cudaError_t rt_launch(const struct graph_kernel *k, cudaStream_t stream, const char *api)
{
    struct call c =
        rt_call(VP_LAUNCH, api, stream, k->function->kernel, k->grid.x | (uint64_t)k->grid.y << 32,
                k->grid.z | (uint64_t)k->block.z << 32, k->block.x | (uint64_t)k->block.y << 32,
                k->shared_bytes, k->cooperative);
    c.payload = k->parameters;
    c.request.payload_bytes = k->function->parameter_bytes;
    rt_managed_push();
    return rt_exchange(&c);
}

static cudaError_t launch(const void *symbol, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream, bool cooperative,
                          const char *api)
{
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
    struct graph_kernel k = {f, grid, block, shared_bytes, cooperative, parameters};
    if (!capture_is_active(stream))
        return rt_launch(&k, stream, api);
    k.parameters = malloc((size_t)f->parameter_bytes + 1);
    if (!k.parameters)
        return cudaErrorMemoryAllocation;
    memcpy(k.parameters, parameters, f->parameter_bytes);
    capture_kernel(stream, &k);
    return cudaSuccess;
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
    /* nvcc's code asks once per kernel and ignores the error; the launch will report it. */
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
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative)
            cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeClusterDimension &&
            a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z > 1) {
            static bool said;
            rt_say_once(&said, "thread block clusters are not supported");
            return rt_return(cudaErrorNotSupported);
        }
    }
    return rt_return(launch(symbol, config->gridDim, config->blockDim, arguments,
                            config->dynamicSmemBytes, config->stream, cooperative,
                            "cudaLaunchKernelExC"));
}

API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes,
                              stream ? stream : cudaStreamPerThread);
}
