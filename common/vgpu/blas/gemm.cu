// Level 3: products of matrices, single or batched, in the most used types.
#include "vgpu/blas/blas.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

static const int TILE = 64, DEPTH = 16, EACH = 4, SIDE = TILE / EACH;

// Converts elements to the type of the arithmetic (and narrowed() back).
template <class T, class X> __device__ T widened(X x)
{
    return (T)x;
}
template <> __device__ float widened<float, __half>(__half x)
{
    return __half2float(x);
}
template <> __device__ float widened<float, __nv_bfloat16>(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}
template <class X, class T> __device__ X narrowed(T x)
{
    return (X)x;
}
template <> __device__ __half narrowed<__half, float>(float x)
{
    return __float2half(x);
}
template <> __device__ __nv_bfloat16 narrowed<__nv_bfloat16, float>(float x)
{
    return __float2bfloat16(x);
}

// The matrices of a batch: a stride apart, or in a list of pointers. Columns are contiguous, as in
// Fortran.
template <class X> struct Matrices {
    X *first;
    X *const *list;
    long long stride;
    int step; // distance between columns
    bool transposed;
    __device__ X *of(int product) const
    {
        return list ? list[product] : first + product * stride;
    }
    __device__ long long at(int row, int column) const
    {
        return transposed ? column + (long long)row * step : row + (long long)column * step;
    }
};

// C = alpha A B + beta C. @tparam X type of A and B, Y of C, T of the arithmetic.
template <class X, class Y, class T> struct Product {
    int m, n, k, products;
    Factor<T> alpha, beta;
    Matrices<const X> a, b;
    Matrices<Y> c;
};

// A block computes a tile of C, a thread 4x4 elements of the tile that are SIDE apart.
template <class X, class Y, class T> __global__ void blas_gemm(const Product<X, Y, T> p)
{
    __shared__ T tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE + 1];
    const int row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int z = blockIdx.z; z < p.products; z += gridDim.z) {
        const X *a = p.a.of(z), *b = p.b.of(z);
        T sum[EACH][EACH] = {};
        for (int from = 0; from < p.k; from += DEPTH) {
            for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
                const int r = p.a.transposed ? i / DEPTH : i % TILE;
                const int d = p.a.transposed ? i % DEPTH : i / TILE;
                tile_a[d][r] = row + r < p.m && from + d < p.k
                                   ? widened<T>(a[p.a.at(row + r, from + d)])
                                   : T(0);
            }
            for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
                const int c = p.b.transposed ? i % TILE : i / DEPTH;
                const int d = p.b.transposed ? i / TILE : i % DEPTH;
                tile_b[d][c] = column + c < p.n && from + d < p.k
                                   ? widened<T>(b[p.b.at(from + d, column + c)])
                                   : T(0);
            }
            __syncthreads();
#pragma unroll
            for (int d = 0; d < DEPTH; d++)
#pragma unroll
                for (int i = 0; i < EACH; i++)
#pragma unroll
                    for (int j = 0; j < EACH; j++)
                        sum[i][j] += tile_a[d][tx + i * SIDE] * tile_b[d][ty + j * SIDE];
            __syncthreads();
        }
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < EACH; j++) {
                const int r = row + tx + i * SIDE, c = column + ty + j * SIDE;
                if (r >= p.m || c >= p.n)
                    continue;
                Y *to = p.c.of(z) + p.c.at(r, c);
                const T beta = p.beta.get(); // if beta is 0, C may be uninitialised
                const T old = beta == T(0) ? T(0) : beta * widened<T>(*to);
                *to = narrowed<Y>(p.alpha.get() * sum[i][j] + old);
            }
    }
}

template <class X, class Y, class T>
static cublasStatus_t launch(cublasHandle_t handle, const Product<X, Y, T> &p)
{
    enum { GRID_Z_MOST = 65535 };
    const int rows_a = p.a.transposed ? p.k : p.m, rows_b = p.b.transposed ? p.n : p.k;
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.products < 0 || p.a.step < (rows_a > 1 ? rows_a : 1) ||
        p.b.step < (rows_b > 1 ? rows_b : 1) || p.c.step < (p.m > 1 ? p.m : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (p.m == 0 || p.n == 0 || p.products == 0)
        return CUBLAS_STATUS_SUCCESS;
    const dim3 grid((p.m + TILE - 1) / TILE, (p.n + TILE - 1) / TILE,
                    p.products < GRID_Z_MOST ? p.products : GRID_Z_MOST);
    blas_gemm<<<grid, SIDE * SIDE, 0, handle->stream>>>(p);
    return blas_launched();
}

// The operands of a function, independent of their types.
struct Call {
    cublasOperation_t op_a, op_b;
    int m, n, k, products;
    const void *alpha, *beta, *a, *b;
    void *c;
    long long stride_a, stride_b, stride_c;
    int lda, ldb, ldc;
    bool is_list; // a, b and c are lists of pointers
};

template <class X, class Y, class T>
static cublasStatus_t run(cublasHandle_t handle, const Call &call)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Product<X, Y, T> p = {call.m, call.n, call.k, call.products};
    p.alpha = factor_of(handle, (const T *)call.alpha);
    p.beta = factor_of(handle, (const T *)call.beta);
    const bool list = call.is_list;
    p.a = {list ? nullptr : (const X *)call.a, list ? (const X *const *)call.a : nullptr,
           call.stride_a, call.lda, call.op_a != CUBLAS_OP_N};
    p.b = {list ? nullptr : (const X *)call.b, list ? (const X *const *)call.b : nullptr,
           call.stride_b, call.ldb, call.op_b != CUBLAS_OP_N};
    p.c = {list ? nullptr : (Y *)call.c, list ? (Y *const *)call.c : nullptr, call.stride_c,
           call.ldc, false};
    return launch(handle, p);
}

// ---- S, D and H ----

#define GEMM(T, S)                                                                                 \
    BLAS_API cublasStatus_t cublas##S##gemm_v2(                                                    \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,     \
        const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc)    \
    {                                                                                              \
        return run<T, T, T>(                                                                       \
            h, Call{op_a, op_b, m, n, k, 1, alpha, beta, a, b, c, 0, 0, 0, lda, ldb, ldc, false}); \
    }                                                                                              \
    BLAS_API cublasStatus_t cublas##S##gemmStridedBatched(                                         \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,     \
        const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,              \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int products)        \
    {                                                                                              \
        return run<T, T, T>(h, Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, c, stride_a, \
                                    stride_b, stride_c, lda, ldb, ldc, false});                    \
    }                                                                                              \
    BLAS_API cublasStatus_t cublas##S##gemmBatched(                                                \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,     \
        const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta,   \
        T *const c[], int ldc, int products)                                                       \
    {                                                                                              \
        return run<T, T, T>(h, Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, (void *)c,   \
                                    0, 0, 0, lda, ldb, ldc, true});                                \
    }
GEMM(float, S)
GEMM(double, D)

// Multiplies and adds half precision in float.
static cublasStatus_t run_half(cublasHandle_t h, Call call)
{
    if (h && h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const float alpha = __half2float(*(const __half *)call.alpha),
                beta = __half2float(*(const __half *)call.beta);
    call.alpha = &alpha;
    call.beta = &beta;
    return run<__half, __half, float>(h, call);
}

BLAS_API cublasStatus_t cublasHgemm(cublasHandle_t h, cublasOperation_t op_a,
                                    cublasOperation_t op_b, int m, int n, int k,
                                    const __half *alpha, const __half *a, int lda, const __half *b,
                                    int ldb, const __half *beta, __half *c, int ldc)
{
    return run_half(
        h, Call{op_a, op_b, m, n, k, 1, alpha, beta, a, b, c, 0, 0, 0, lda, ldb, ldc, false});
}

BLAS_API cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t h, cublasOperation_t op_a,
                                                  cublasOperation_t op_b, int m, int n, int k,
                                                  const __half *alpha, const __half *a, int lda,
                                                  long long stride_a, const __half *b, int ldb,
                                                  long long stride_b, const __half *beta, __half *c,
                                                  int ldc, long long stride_c, int products)
{
    return run_half(h, Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, c, stride_a, stride_b,
                            stride_c, lda, ldb, ldc, false});
}

BLAS_API cublasStatus_t cublasHgemmBatched(cublasHandle_t h, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const __half *alpha, const __half *const a[], int lda,
                                           const __half *const b[], int ldb, const __half *beta,
                                           __half *const c[], int ldc, int products)
{
    return run_half(h, Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, (void *)c, 0, 0, 0,
                            lda, ldb, ldc, true});
}

// ---- types given by the call ----

static cublasStatus_t run_typed(cublasHandle_t h, Call call, cudaDataType a, cudaDataType b,
                                cudaDataType c, cublasComputeType_t compute)
{
    const bool is_half = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    if (a != b || (is_half && (a != CUDA_R_16F || c != CUDA_R_16F)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (is_half) // then alpha and beta are also half precision
        return run_half(h, call);
    if (a == CUDA_R_32F && c == CUDA_R_32F)
        return run<float, float, float>(h, call);
    if (a == CUDA_R_64F && c == CUDA_R_64F)
        return run<double, double, double>(h, call);
    if (a == CUDA_R_16F && c == CUDA_R_16F)
        return run<__half, __half, float>(h, call);
    if (a == CUDA_R_16F && c == CUDA_R_32F)
        return run<__half, float, float>(h, call);
    if (a == CUDA_R_16BF && c == CUDA_R_16BF)
        return run<__nv_bfloat16, __nv_bfloat16, float>(h, call);
    if (a == CUDA_R_16BF && c == CUDA_R_32F)
        return run<__nv_bfloat16, float, float>(h, call);
    if (a == CUDA_R_8I && c == CUDA_R_32I)
        return run<signed char, int, int>(h, call);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

BLAS_API cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t op_a,
                                     cublasOperation_t op_b, int m, int n, int k, const void *alpha,
                                     const void *a, cudaDataType type_a, int lda, const void *b,
                                     cudaDataType type_b, int ldb, const void *beta, void *c,
                                     cudaDataType type_c, int ldc, cublasComputeType_t compute,
                                     cublasGemmAlgo_t algorithm)
{
    return run_typed(
        h, Call{op_a, op_b, m, n, k, 1, alpha, beta, a, b, c, 0, 0, 0, lda, ldb, ldc, false},
        type_a, type_b, type_c, compute);
}

BLAS_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long stride_a,
    const void *b, cudaDataType type_b, int ldb, long long stride_b, const void *beta, void *c,
    cudaDataType type_c, int ldc, long long stride_c, int products, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm)
{
    return run_typed(h,
                     Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, c, stride_a, stride_b,
                          stride_c, lda, ldb, ldc, false},
                     type_a, type_b, type_c, compute);
}

BLAS_API cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *const a[], cudaDataType type_a, int lda, const void *const b[],
    cudaDataType type_b, int ldb, const void *beta, void *const c[], cudaDataType type_c, int ldc,
    int products, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return run_typed(h,
                     Call{op_a, op_b, m, n, k, products, alpha, beta, a, b, (void *)c, 0, 0, 0, lda,
                          ldb, ldc, true},
                     type_a, type_b, type_c, compute);
}

// ---- C = alpha op(A) + beta op(B) ----

template <class T> struct Sum {
    int m, n;
    Factor<T> alpha, beta;
    Matrices<const T> a, b;
    Matrices<T> c;
};

template <class T> __global__ void blas_geam(const Sum<T> s)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const T alpha = s.alpha.get(), beta = s.beta.get(); // if 0, the matrix is not read
    for (int column = blockIdx.y; row < s.m && column < s.n; column += gridDim.y) {
        const T a = alpha == T(0) ? T(0) : alpha * s.a.first[s.a.at(row, column)];
        const T b = beta == T(0) ? T(0) : beta * s.b.first[s.b.at(row, column)];
        s.c.first[s.c.at(row, column)] = a + b;
    }
}

template <class T>
static cublasStatus_t geam(cublasHandle_t h, const Matrices<const T> &a, const Matrices<const T> &b,
                           const Matrices<T> &c, int m, int n, const T *alpha, const T *beta)
{
    enum { GRID_Y_MOST = 65535, THREADS = 128 };
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || a.step < (a.transposed ? n : m) || b.step < (b.transposed ? n : m) ||
        c.step < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    const dim3 grid((m + THREADS - 1) / THREADS, n < GRID_Y_MOST ? n : GRID_Y_MOST);
    blas_geam<<<grid, THREADS, 0, h->stream>>>(
        Sum<T>{m, n, factor_of(h, alpha), factor_of(h, beta), a, b, c});
    return blas_launched();
}

#define GEAM(T, S)                                                                                 \
    BLAS_API cublasStatus_t cublas##S##geam(                                                       \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,            \
        const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc)    \
    {                                                                                              \
        return geam<T>(h, {a, nullptr, 0, lda, op_a != CUBLAS_OP_N},                               \
                       {b, nullptr, 0, ldb, op_b != CUBLAS_OP_N}, {c, nullptr, 0, ldc, false}, m,  \
                       n, alpha, beta);                                                            \
    }
GEAM(float, S)
GEAM(double, D)
