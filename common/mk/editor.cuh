/* Lets clangd understand CUDA without NVIDIA's compiler; build/compile_commands.json includes this
 * file, because clang's own CUDA wrapper knows only toolkits older than clang. Only editors use
 * this file. */
#include <cuda_runtime.h>
#include <math.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#undef __align__
#define __global__       __attribute__((global))
#define __device__       __attribute__((device))
#define __host__         __attribute__((host))
#define __shared__       __attribute__((shared))
#define __constant__     __attribute__((constant))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define alignas(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
extern __device__ const int warpSize;

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                void *stream = 0);
template <typename T>
cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value);
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t at = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t at = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = 0);
template <typename T> cudaError_t cudaGetSymbolAddress(void **to, const T &symbol);

__device__ void __syncthreads(void);
__device__ void __syncwarp(unsigned mask = ~0u);
__device__ int __syncthreads_or(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_count(int predicate);
__device__ void __threadfence(void);
__device__ void __threadfence_block(void);
__device__ void __trap(void);
__device__ long long clock64(void);
__device__ unsigned __isGlobal(const void *address);
__device__ unsigned __isShared(const void *address);
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ unsigned __activemask(void);
__device__ float __fmaf_rn(float a, float b, float c);
__device__ float __fdividef(float a, float b);

__device__ float2 make_float2(float x, float y);
__device__ float3 make_float3(float x, float y, float z);
__device__ float4 make_float4(float x, float y, float z, float w);
__device__ int2 make_int2(int x, int y);
__device__ int4 make_int4(int x, int y, int z, int w);

template <typename T> __device__ T __ldg(const T *from);
template <typename T> __device__ T atomicAdd(T *to, T value);
template <typename T> __device__ T atomicExch(T *to, T value);
template <typename T> __device__ T atomicCAS(T *to, T expected, T value);
template <typename T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <typename T>
__device__ T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32);
template <typename T>
__device__ T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32);
template <typename T> __device__ T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32);
template <typename T> __host__ __device__ T min(T a, T b);
template <typename T> __host__ __device__ T max(T a, T b);
