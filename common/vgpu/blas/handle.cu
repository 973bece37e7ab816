// The handle and its modes, the names of statuses, and copies between host and device.
#include "vgpu/blas/blas.cuh"

#include <cstdio>

BLAS_API cublasStatus_t cublasCreate_v2(cublasHandle_t *to)
{
    if (!to)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasHandle_t handle = new cublasContext();
    if (cudaMalloc(&handle->result, sizeof(double)) != cudaSuccess) {
        delete handle;
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    *to = handle;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFree(handle->result);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

// cuBLASLt has a handle and no functions that use it: many programs make one for a part of their work.
BLAS_API cublasStatus_t cublasLtCreate(void **to)
{
    static char handle;
    if (!to)
        return CUBLAS_STATUS_INVALID_VALUE;
    *to = &handle;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtDestroy(void *handle)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// Defines the setter and the getter of a setting of the handle.
#define SETTING(set, get, type, field)                                                             \
    BLAS_API cublasStatus_t set(cublasHandle_t handle, type value)                                 \
    {                                                                                              \
        if (!handle)                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    BLAS_API cublasStatus_t get(cublasHandle_t handle, type *to)                                   \
    {                                                                                              \
        if (!handle)                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        *to = handle->field;                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
SETTING(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, stream)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointer_mode)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math_mode)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics_mode)

BLAS_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *to)
{
    *to = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

// no effect: our kernels need no workspace
BLAS_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *room, size_t bytes)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

BLAS_API const char *cublasGetStatusName(cublasStatus_t status)
{
#define NAME(name)                                                                                 \
    case name:                                                                                     \
        return #name;
    switch (status) {
        NAME(CUBLAS_STATUS_SUCCESS)
        NAME(CUBLAS_STATUS_NOT_INITIALIZED)
        NAME(CUBLAS_STATUS_ALLOC_FAILED)
        NAME(CUBLAS_STATUS_INVALID_VALUE)
        NAME(CUBLAS_STATUS_ARCH_MISMATCH)
        NAME(CUBLAS_STATUS_MAPPING_ERROR)
        NAME(CUBLAS_STATUS_EXECUTION_FAILED)
        NAME(CUBLAS_STATUS_INTERNAL_ERROR)
        NAME(CUBLAS_STATUS_NOT_SUPPORTED)
        NAME(CUBLAS_STATUS_LICENSE_ERROR)
    default:
        return "unknown status";
    }
#undef NAME
}

BLAS_API const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

// Rows of @p bytes each, @p from_step and @p to_step bytes apart; a vector with a step has rows of
// one element.
static cublasStatus_t copy(void *to, size_t to_step, const void *from, size_t from_step,
                           size_t bytes, size_t rows, cudaMemcpyKind kind, cudaStream_t stream,
                           bool async)
{
    cudaError_t error =
        async ? cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, rows, kind, stream)
              : cudaMemcpy2D(to, to_step, from, from_step, bytes, rows, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// Copies of vectors and matrices to the device (Set) and back (Get); blocking, and in a stream.
#define COPIES(direction, kind)                                                                    \
    BLAS_API cublasStatus_t cublas##direction##Vector(int n, int element, const void *x, int incx, \
                                                      void *y, int incy)                           \
    {                                                                                              \
        if (n < 0 || element <= 0 || incx <= 0 || incy <= 0)                                       \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return copy(y, (size_t)incy * element, x, (size_t)incx * element, element, n, kind, 0,     \
                    false);                                                                        \
    }                                                                                              \
    BLAS_API cublasStatus_t cublas##direction##VectorAsync(                                        \
        int n, int element, const void *x, int incx, void *y, int incy, cudaStream_t stream)       \
    {                                                                                              \
        if (n < 0 || element <= 0 || incx <= 0 || incy <= 0)                                       \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return copy(y, (size_t)incy * element, x, (size_t)incx * element, element, n, kind,        \
                    stream, true);                                                                 \
    }                                                                                              \
    BLAS_API cublasStatus_t cublas##direction##Matrix(int rows, int columns, int element,          \
                                                      const void *a, int lda, void *b, int ldb)    \
    {                                                                                              \
        if (rows < 0 || columns < 0 || element <= 0 || lda < rows || ldb < rows)                   \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return copy(b, (size_t)ldb * element, a, (size_t)lda * element, (size_t)rows * element,    \
                    columns, kind, 0, false);                                                      \
    }                                                                                              \
    BLAS_API cublasStatus_t cublas##direction##MatrixAsync(int rows, int columns, int element,     \
                                                           const void *a, int lda, void *b,        \
                                                           int ldb, cudaStream_t stream)           \
    {                                                                                              \
        if (rows < 0 || columns < 0 || element <= 0 || lda < rows || ldb < rows)                   \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return copy(b, (size_t)ldb * element, a, (size_t)lda * element, (size_t)rows * element,    \
                    columns, kind, stream, true);                                                  \
    }
COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)
