/* Attributes of kernels, read and set by the program, and occupancy. */
#include "vgpu/cudart/shim.h"

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *to, const void *symbol)
{
    struct function *f;
    struct vp_kernel_info info;
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_function(symbol, &f);
    if (!error) {
        struct call c = rt_call(VP_KERNEL_INFO, __func__, 0, f->kernel);
        c.reply_payload = &info;
        c.reply_room = sizeof info;
        error = rt_exchange(&c);
    }
    const struct vg_profile *p = rt_profile();
    if (error || !p)
        return rt_return(error ? error : cudaErrorNoDevice);
    int most = p->max_threads_per_block;
    if (info.attributes.max_threads_per_block > 0 && info.attributes.max_threads_per_block < most)
        most = info.attributes.max_threads_per_block;
    *to = (struct cudaFuncAttributes){
        .sharedSizeBytes = info.attributes.static_shared_bytes,
        .constSizeBytes = info.attributes.constant_bytes,
        .localSizeBytes = info.attributes.local_bytes,
        .maxThreadsPerBlock = most,
        .numRegs = info.attributes.registers,
        .ptxVersion = info.attributes.ptx_sm,
        .binaryVersion = info.attributes.binary_sm,
        .maxDynamicSharedSizeBytes = (int)info.max_dynamic_shared_bytes,
        .preferredShmemCarveout = info.carveout,
        .clusterDimMustBeSet = info.must_set_cluster,
        .requiredClusterWidth = (int)info.required_cluster[0],
        .requiredClusterHeight = (int)info.required_cluster[1],
        .requiredClusterDepth = (int)info.required_cluster[2],
        .nonPortableClusterSizeAllowed = info.non_portable_cluster,
    };
    return cudaSuccess;
}

API cudaError_t cudaFuncSetAttribute(const void *symbol, enum cudaFuncAttribute attribute,
                                     int value)
{
    struct function *f;
    cudaError_t error = rt_function(symbol, &f);
    if (error)
        return rt_return(error);
    static const enum vp_kernel_setting settings[] = {
        [cudaFuncAttributeMaxDynamicSharedMemorySize] = VP_SET_DYNAMIC_SHARED + 1,
        [cudaFuncAttributePreferredSharedMemoryCarveout] = VP_SET_CARVEOUT + 1,
        [cudaFuncAttributeClusterDimMustBeSet] = VP_SET_CLUSTER_MUST_BE_SET + 1,
        [cudaFuncAttributeRequiredClusterWidth] = VP_SET_CLUSTER_WIDTH + 1,
        [cudaFuncAttributeRequiredClusterHeight] = VP_SET_CLUSTER_HEIGHT + 1,
        [cudaFuncAttributeRequiredClusterDepth] = VP_SET_CLUSTER_DEPTH + 1,
        [cudaFuncAttributeNonPortableClusterSizeAllowed] = VP_SET_NON_PORTABLE_CLUSTER + 1,
    };
    if (attribute == cudaFuncAttributeClusterSchedulingPolicyPreference)
        return rt_return(cudaSuccess); /* ignored: programs cannot observe where blocks run */
    if ((size_t)attribute >= sizeof settings / sizeof *settings || !settings[attribute])
        return rt_return(cudaErrorInvalidValue);
    return rt_return(
        rt_request(VP_KERNEL_SET, __func__, 0, f->kernel, settings[attribute] - 1, value));
}

static cudaError_t is_kernel(const void *symbol)
{
    struct function *f;
    return rt_function(symbol, &f);
}

RT(cudaFuncSetCacheConfig, (const void *symbol, enum cudaFuncCache config), is_kernel(symbol))
RT(cudaFuncSetSharedMemConfig, (const void *symbol, enum cudaSharedMemConfig config),
   is_kernel(symbol))

API cudaError_t cudaFuncGetName(const char **name, const void *symbol)
{
    if (!name)
        return rt_return(cudaErrorInvalidValue);
    struct function *f;
    cudaError_t error = rt_function(symbol, &f);
    if (!error)
        *name = f->name;
    return rt_return(error);
}

API cudaError_t cudaFuncGetParamInfo(const void *symbol, size_t i, size_t *offset, size_t *bytes)
{
    struct function *f;
    cudaError_t error = rt_function(symbol, &f);
    if (error || i >= f->parameters)
        return rt_return(error ? error : cudaErrorInvalidValue);
    if (offset)
        *offset = f->table[2 * i];
    if (bytes)
        *bytes = f->table[2 * i + 1];
    return cudaSuccess;
}

static cudaError_t occupancy(struct call *c, const void *symbol, int threads, size_t shared_bytes,
                             int blocks, const char *api)
{
    struct function *f;
    cudaError_t error = rt_function(symbol, &f);
    if (error || threads <= 0 || blocks <= 0)
        return error ? error : cudaErrorInvalidValue;
    *c = rt_call(VP_OCCUPANCY, api, 0, f->kernel, threads, shared_bytes, blocks);
    return rt_exchange(c);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *symbol, int threads, size_t shared_bytes, unsigned flags)
{
    if (!blocks)
        return rt_return(cudaErrorInvalidValue);
    struct call c;
    cudaError_t error =
        occupancy(&c, symbol, threads, shared_bytes, 1, "cudaOccupancyMaxActiveBlocks");
    if (!error)
        *blocks = (int)c.reply.r[0];
    return rt_return(error);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *symbol,
                                                              int threads, size_t shared_bytes)
{
    if (!blocks)
        return rt_return(cudaErrorInvalidValue);
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, threads,
                                                                  shared_bytes, 0);
}

API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *symbol,
                                                          int blocks, int threads)
{
    if (!bytes)
        return rt_return(cudaErrorInvalidValue);
    struct call c;
    cudaError_t error = occupancy(&c, symbol, threads, 0, blocks, "cudaOccupancyAvailableSMem");
    if (!error)
        *bytes = c.reply.r[1];
    return rt_return(error);
}
