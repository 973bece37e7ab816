// Level 1 (vectors) and level 2 (a matrix and a vector), in float and double.
#include "vgpu/blas/blas.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

static const int THREADS = 256;

static int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

// ---- element by element ----

template <class T>
__global__ void blas_axpy(int n, Factor<T> alpha, const T *x, int incx, T *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[(long long)i * incy] += alpha.get() * x[(long long)i * incx];
}

template <class T> __global__ void blas_scal(int n, Factor<T> alpha, T *x, int incx)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[(long long)i * incx] *= alpha.get();
}

template <class T> __global__ void blas_copy(int n, T *x, int incx, T *y, int incy, bool swap)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const T moved = x[(long long)i * incx];
    if (swap)
        x[(long long)i * incx] = y[(long long)i * incy];
    y[(long long)i * incy] = moved;
}

// ---- reductions: a block adds or compares in a tree, always in the same order ----

enum Reduction { DOT, NRM2, ASUM };

template <class T> struct Best {
    T value;
    int at; // index from 1; 0: none
};

// The better of two; the first of equal ones.
template <class T> __device__ Best<T> better(Best<T> a, Best<T> b, bool least)
{
    if (!a.at || !b.at)
        return a.at ? a : b;
    const bool b_wins = least ? b.value < a.value : b.value > a.value;
    return b_wins || (b.value == a.value && b.at < a.at) ? b : a;
}

template <class T>
__global__ void blas_sum(int n, const T *x, int incx, const T *y, int incy, T *to, Reduction what)
{
    __shared__ double part[THREADS]; // a thread may add millions of floats
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const double a = x[(long long)i * incx];
        const double b = y[(long long)i * incy];
        sum += what == DOT ? a * b : what == NRM2 ? a * a : a < 0 ? -a : a;
    }
    part[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *to = (T)(what == NRM2 ? sqrt(part[0]) : part[0]);
}

template <class T> __global__ void blas_extreme(int n, const T *x, int incx, int *to, bool least)
{
    __shared__ Best<T> part[THREADS];
    Best<T> best = {0, 0};
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const T a = x[(long long)i * incx];
        best = better(best, Best<T>{a < 0 ? -a : a, i + 1}, least);
    }
    part[threadIdx.x] = best;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] = better(part[threadIdx.x], part[threadIdx.x + half], least);
    }
    if (threadIdx.x == 0)
        *to = part[0].at;
}

// Stores the kernel's result on the host or device, depending on the handle's mode.
template <class R, class Launch>
static cublasStatus_t with_result(cublasHandle_t handle, R *to, Launch launch)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const bool on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
    launch(on_device ? to : (R *)handle->result);
    cublasStatus_t status = blas_launched();
    if (status != CUBLAS_STATUS_SUCCESS || on_device)
        return status;
    if (cudaMemcpyAsync(to, handle->result, sizeof(R), cudaMemcpyDeviceToHost, handle->stream) ||
        cudaStreamSynchronize(handle->stream))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}

// ---- a matrix and a vector ----

template <class T>
__global__ void blas_gemv(bool transposed, int m, int n, Factor<T> alpha, const T *a, int lda,
                          const T *x, int incx, Factor<T> beta, T *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (transposed ? n : m))
        return;
    T sum = 0;
    for (int j = 0; j < (transposed ? m : n); j++)
        sum += a[transposed ? j + (long long)i * lda : i + (long long)j * lda] *
               x[(long long)j * incx];
    T *to = y + (long long)i * incy;
    const T old = beta.get() == T(0) ? T(0) : beta.get() * *to; // y may be uninitialised
    *to = alpha.get() * sum + old;
}

template <class T>
__global__ void blas_ger(int m, int n, Factor<T> alpha, const T *x, int incx, const T *y, int incy,
                         T *a, int lda)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y;
    if (i < m)
        a[i + (long long)j * lda] += alpha.get() * x[(long long)i * incx] * y[(long long)j * incy];
}

// ---- the functions ----

// Launches a kernel for n elements; does nothing if n = 0.
template <class Launch> static cublasStatus_t launch(cublasHandle_t handle, int n, Launch kernel)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    kernel(dim3(blocks_for(n)), dim3(THREADS), handle->stream);
    return blas_launched();
}

template <class T>
static cublasStatus_t axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y,
                           int incy)
{
    return launch(handle, n, [&](dim3 grid, dim3 block, cudaStream_t stream) {
        blas_axpy<<<grid, block, 0, stream>>>(n, factor_of(handle, alpha), blas_first(x, n, incx),
                                              incx, blas_first(y, n, incy), incy);
    });
}

template <class T>
static cublasStatus_t scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)
{
    return launch(handle, n, [&](dim3 grid, dim3 block, cudaStream_t stream) {
        blas_scal<<<grid, block, 0, stream>>>(n, factor_of(handle, alpha), x, incx);
    });
}

template <class T>
static cublasStatus_t move(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, bool swap)
{
    return launch(handle, n, [&](dim3 grid, dim3 block, cudaStream_t stream) {
        blas_copy<<<grid, block, 0, stream>>>(n, blas_first(x, n, incx), incx,
                                              blas_first(y, n, incy), incy, swap);
    });
}

template <class T>
static cublasStatus_t sum(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,
                          T *to, Reduction what)
{
    return with_result(handle, to, [&](T *p) {
        blas_sum<<<1, THREADS, 0, handle->stream>>>(n, blas_first(x, n, incx), incx,
                                                    blas_first(y, n, incy), incy, p, what);
    });
}

template <class T>
static cublasStatus_t extreme(cublasHandle_t handle, int n, const T *x, int incx, int *to,
                              bool least)
{
    return with_result(handle, to, [&](int *p) {
        blas_extreme<<<1, THREADS, 0, handle->stream>>>(n, x, incx, p, least);
    });
}

template <class T>
static cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                           const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta,
                           T *y, int incy)
{
    const bool transposed = op != CUBLAS_OP_N;
    const int rows = transposed ? n : m, columns = transposed ? m : n;
    if (lda < m || !incx || !incy)
        return CUBLAS_STATUS_INVALID_VALUE;
    return launch(handle, rows, [&](dim3 grid, dim3 block, cudaStream_t stream) {
        blas_gemv<<<grid, block, 0, stream>>>(
            transposed, m, n, factor_of(handle, alpha), a, lda, blas_first(x, columns, incx), incx,
            factor_of(handle, beta), blas_first(y, rows, incy), incy);
    });
}

template <class T>
static cublasStatus_t ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,
                          const T *y, int incy, T *a, int lda)
{
    if (lda < m || !incx || !incy || n < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return launch(handle, n ? m : 0, [&](dim3 grid, dim3 block, cudaStream_t stream) {
        blas_ger<<<dim3(grid.x, n), block, 0, stream>>>(m, n, factor_of(handle, alpha),
                                                        blas_first(x, m, incx), incx,
                                                        blas_first(y, n, incy), incy, a, lda);
    });
}

// ---- their names ----

#define FUNCTION(name, parameters, call)                                                           \
    BLAS_API cublasStatus_t name parameters                                                        \
    {                                                                                              \
        return call;                                                                               \
    }
#define LEVELS_1_AND_2(T, S, s)                                                                    \
    FUNCTION(cublas##S##axpy_v2,                                                                   \
             (cublasHandle_t h, int n, const T *alpha, const T *x, int incx, T *y, int incy),      \
             axpy(h, n, alpha, x, incx, y, incy))                                                  \
    FUNCTION(cublas##S##scal_v2, (cublasHandle_t h, int n, const T *alpha, T *x, int incx),        \
             scal(h, n, alpha, x, incx))                                                           \
    FUNCTION(cublas##S##copy_v2, (cublasHandle_t h, int n, const T *x, int incx, T *y, int incy),  \
             move(h, n, const_cast<T *>(x), incx, y, incy, false))                                 \
    FUNCTION(cublas##S##swap_v2, (cublasHandle_t h, int n, T *x, int incx, T *y, int incy),        \
             move(h, n, x, incx, y, incy, true))                                                   \
    FUNCTION(cublas##S##dot_v2,                                                                    \
             (cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, T *to),         \
             sum(h, n, x, incx, y, incy, to, DOT))                                                 \
    FUNCTION(cublas##S##nrm2_v2, (cublasHandle_t h, int n, const T *x, int incx, T *to),           \
             sum(h, n, x, incx, x, incx, to, NRM2))                                                \
    FUNCTION(cublas##S##asum_v2, (cublasHandle_t h, int n, const T *x, int incx, T *to),           \
             sum(h, n, x, incx, x, incx, to, ASUM))                                                \
    FUNCTION(cublasI##s##amax_v2, (cublasHandle_t h, int n, const T *x, int incx, int *to),        \
             extreme(h, n, x, incx, to, false))                                                    \
    FUNCTION(cublasI##s##amin_v2, (cublasHandle_t h, int n, const T *x, int incx, int *to),        \
             extreme(h, n, x, incx, to, true))                                                     \
    FUNCTION(cublas##S##gemv_v2,                                                                   \
             (cublasHandle_t h, cublasOperation_t op, int m, int n, const T *alpha, const T *a,    \
              int lda, const T *x, int incx, const T *beta, T *y, int incy),                       \
             gemv(h, op, m, n, alpha, a, lda, x, incx, beta, y, incy))                             \
    FUNCTION(cublas##S##ger_v2,                                                                    \
             (cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y,    \
              int incy, T *a, int lda),                                                            \
             ger(h, m, n, alpha, x, incx, y, incy, a, lda))
LEVELS_1_AND_2(float, S, s)
LEVELS_1_AND_2(double, D, d)

// ---- types given by the call ----

template <class T>
static cublasStatus_t dot(cublasHandle_t h, int n, const void *x, int incx, const void *y, int incy,
                          void *to)
{
    return sum(h, n, (const T *)x, incx, (const T *)y, incy, (T *)to, DOT);
}

BLAS_API cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void *x, cudaDataType type_x,
                                    int incx, const void *y, cudaDataType type_y, int incy,
                                    void *to, cudaDataType type, cudaDataType arithmetic)
{
    if (type_x != type_y || type_x != type)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (type) {
    case CUDA_R_32F:
        return dot<float>(h, n, x, incx, y, incy, to);
    case CUDA_R_64F:
        return dot<double>(h, n, x, incx, y, incy, to);
    case CUDA_R_16F:
        return dot<__half>(h, n, x, incx, y, incy, to);
    case CUDA_R_16BF:
        return dot<__nv_bfloat16>(h, n, x, incx, y, incy, to);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
