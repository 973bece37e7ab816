/* Preloaded into a program, this library makes each kernel start on an idle GPU with none of its
 * data in the L2 cache. ncu runs kernels one by one, without effects of earlier kernels. With this
 * library, vprof measures under the same conditions. (Programs compiled by nvcc 13 call
 * __cudaLaunchKernel.) */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLUSH_BYTES = 256 << 20 };

cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream);

cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream)
{
    static __typeof__(&__cudaLaunchKernel) launch;
    static void *flush;
    if (!launch)
        launch = (__typeof__(launch))dlsym(RTLD_NEXT, "__cudaLaunchKernel");
    if (!launch || (!flush && cudaMalloc(&flush, FLUSH_BYTES)) ||
        cudaMemset(flush, 0, FLUSH_BYTES) || cudaDeviceSynchronize()) {
        fprintf(stderr, "alone: the L2 cache cannot be emptied\n");
        exit(2);
    }
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
}
