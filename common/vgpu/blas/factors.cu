// Factors of many small matrices: LU with partial pivoting. Solutions with triangular matrices.
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

// op(A) X = alpha B or X op(A) = alpha B. The latter is op(A)^T X^T = alpha B^T, so both are M X =
// alpha B with a triangular matrix M. A thread computes a column of X in place.
template <class T> struct Triangle {
    const T *a;
    int lda, n;
    bool is_lower, is_transposed, has_unit_diagonal;
    __device__ T at(int i, int k) const
    {
        return is_transposed ? a[k + (long long)i * lda] : a[i + (long long)k * lda];
    }
};

template <class T>
__global__ void blas_trsm(Triangle<T> m, Factor<T> alpha, T *b, int columns, long long step,
                          long long column_step)
{
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= columns)
        return;
    T *const x = b + column * column_step;
    for (int done = 0; done < m.n; done++) {
        const int i = m.is_lower ? done : m.n - 1 - done;
        T sum = alpha.get() * x[i * step];
        for (int j = 0; j < done; j++) {
            const int k = m.is_lower ? j : m.n - 1 - j;
            sum -= m.at(i, k) * x[k * step];
        }
        x[i * step] = m.has_unit_diagonal ? sum : sum / m.at(i, i);
    }
}

#define TRSM(T, S)                                                                                 \
    BLAS_API cublasStatus_t cublas##S##trsm_v2(cublasHandle_t h, cublasSideMode_t side,            \
                                               cublasFillMode_t fill, cublasOperation_t op,        \
                                               cublasDiagType_t diagonal, int m, int n,            \
                                               const T *alpha, const T *a, int lda, T *b, int ldb) \
    {                                                                                              \
        if (!h)                                                                                    \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        const bool left = side == CUBLAS_SIDE_LEFT, transposed = (op != CUBLAS_OP_N) == left;      \
        const int size = left ? m : n, columns = left ? n : m;                                     \
        if (m < 0 || n < 0 || !alpha || lda < (size > 1 ? size : 1) || ldb < (m > 1 ? m : 1))      \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        if (m == 0 || n == 0)                                                                      \
            return CUBLAS_STATUS_SUCCESS;                                                          \
        const Triangle<T> triangle = {a,          lda,                                             \
                                      size,       (fill == CUBLAS_FILL_MODE_LOWER) != transposed,  \
                                      transposed, diagonal == CUBLAS_DIAG_UNIT};                   \
        blas_trsm<<<(columns + THREADS - 1) / THREADS, THREADS, 0, h->stream>>>(                   \
            triangle, factor_of(h, alpha), b, columns, left ? 1 : ldb, left ? ldb : 1);            \
        return blas_launched();                                                                    \
    }
TRSM(float, S)
TRSM(double, D)
