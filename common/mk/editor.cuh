/* Lets clangd understand CUDA without NVIDIA's compiler; build/compile_commands.json includes this
 * file, because clang's own CUDA wrapper knows only toolkits older than clang. Only editors use
 * this file. */
#include <cuda_runtime.h>
#include <math.h>
#include <utility>

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

/* Without nvcc, these headers declare functions for the host only. */
#pragma clang force_cuda_host_device begin
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#pragma clang force_cuda_host_device end

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

extern "C" {
__device__ float fabsf(float x) noexcept;
__device__ float fmaf(float x, float y, float z) noexcept;
__device__ float fmaxf(float x, float y) noexcept;
__device__ float fminf(float x, float y) noexcept;
__device__ float sqrtf(float x) noexcept;
__device__ float expf(float x) noexcept;
}
__device__ unsigned __float_as_uint(float number);
__device__ int __float_as_int(float number);
__device__ float __uint_as_float(unsigned bits);
__device__ float __int_as_float(int bits);
__device__ unsigned __umulhi(unsigned a, unsigned b);
__device__ size_t __cvta_generic_to_shared(const void *address);
__device__ void __barrier_sync_count(unsigned barrier, unsigned threads);

__device__ float2 make_float2(float x, float y);
__device__ float3 make_float3(float x, float y, float z);
__device__ float4 make_float4(float x, float y, float z, float w);
__device__ int2 make_int2(int x, int y);
__device__ int4 make_int4(int x, int y, int z, int w);
__device__ uint2 make_uint2(unsigned x, unsigned y);
__device__ uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w);

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
template <typename T> __device__ T __reduce_max_sync(unsigned mask, T value);
template <typename T> __device__ T __reduce_min_sync(unsigned mask, T value);
template <typename T> __device__ T __reduce_add_sync(unsigned mask, T value);

/* Arithmetic with halves and with matrices, which cuda_fp16.h and mma.h define for nvcc only. */
template <typename T> __device__ T __hadd(T a, T b);
template <typename T> __device__ T __hsub(T a, T b);
template <typename T> __device__ T __hmul(T a, T b);
template <typename T> __device__ T __hfma(T a, T b, T c);
template <typename T> __device__ T __hadd2(T a, T b);
template <typename T> __device__ T __hsub2(T a, T b);
template <typename T> __device__ T __hmul2(T a, T b);
template <typename T> __device__ T __hfma2(T a, T b, T c);

namespace nvcuda
{
namespace wmma
{
enum layout_t { mem_row_major, mem_col_major };
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision
{
struct tf32;
}
template <typename T> struct element {
    typedef T type;
};
template <> struct element<precision::tf32> {
    typedef float type;
};
template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment {
    enum { num_elements = 8, num_storage_elements = 8 };
    typename element<T>::type x[num_elements];
};
template <typename F, typename T> __device__ void fill_fragment(F &to, T value);
template <typename F, typename T>
__device__ void load_matrix_sync(F &to, const T *from, unsigned pitch);
template <typename F, typename T>
__device__ void load_matrix_sync(F &to, const T *from, unsigned pitch, layout_t layout);
template <typename F, typename T>
__device__ void store_matrix_sync(T *to, const F &from, unsigned pitch, layout_t layout);
template <typename D, typename A, typename B>
__device__ void mma_sync(D &d, const A &a, const B &b, const D &c);
__device__ float __float_to_tf32(float number);
} /* namespace wmma */
} /* namespace nvcuda */
