// Factors of many small matrices: LU with partial pivoting.
#include "vgpu/blas/blas.cuh"

static const int THREADS = 128;

// A block factors a matrix in place; columns are contiguous. Pivots count from 1. info becomes 0,
// or the number of the first pivot that is 0.
template <class T>
__global__ void blas_getrf(int n, T *const *matrices, int lda, int *pivots, int *info)
{
    __shared__ int best;
    T *const a = matrices[blockIdx.x];
    int singular = 0;
    for (int k = 0; k < n; k++) {
        T *const column = a + (long long)k * lda;
        if (threadIdx.x == 0) {
            best = k;
            for (int i = k + 1; i < n && pivots; i++)
                if (fabs(column[i]) > fabs(column[best]))
                    best = i;
            if (pivots)
                pivots[(long long)blockIdx.x * n + k] = best + 1;
        }
        __syncthreads();
        if (best != k)
            for (int j = threadIdx.x; j < n; j += THREADS) {
                const T moved = a[k + (long long)j * lda];
                a[k + (long long)j * lda] = a[best + (long long)j * lda];
                a[best + (long long)j * lda] = moved;
            }
        __syncthreads();
        const T pivot = column[k];
        if (pivot == T(0)) {
            singular = singular ? singular : k + 1;
            continue;
        }
        for (int i = k + 1 + threadIdx.x; i < n; i += THREADS)
            column[i] /= pivot;
        __syncthreads();
        for (int j = k + 1 + threadIdx.x; j < n; j += THREADS) {
            T *const other = a + (long long)j * lda;
            for (int i = k + 1; i < n; i++)
                other[i] -= column[i] * other[k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        info[blockIdx.x] = singular;
}

#define GETRF(T, S)                                                                                \
    BLAS_API cublasStatus_t cublas##S##getrfBatched(cublasHandle_t h, int n, T *const a[],         \
                                                    int lda, int *pivots, int *info, int batch)    \
    {                                                                                              \
        if (!h)                                                                                    \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (n < 0 || batch < 0 || lda < (n > 1 ? n : 1))                                           \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        if (n == 0 || batch == 0)                                                                  \
            return CUBLAS_STATUS_SUCCESS;                                                          \
        blas_getrf<<<batch, THREADS, 0, h->stream>>>(n, a, lda, pivots, info);                     \
        return blas_launched();                                                                    \
    }
GETRF(float, S)
GETRF(double, D)
