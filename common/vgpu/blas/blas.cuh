// libcublas of the virtual GPU: the most used functions of cuBLAS, as kernels that the virtual GPU
// runs, checks and times like any others. The kernels are simple, so their times differ from
// cuBLAS's. All other functions are generated stubs (blas_stubs.sh).
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#define BLAS_API extern "C" __attribute__((visibility("default")))

// The target of a cublasHandle_t.
struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
    cublasAtomicsMode_t atomics_mode;
    void *result; // device memory for one result
};

// A factor such as alpha, which is in host or device memory, depending on the handle's mode.
template <class T> struct Factor {
    const T *device;
    T value;
    __device__ T get() const
    {
        return device ? *device : value;
    }
};

template <class T> Factor<T> factor_of(cublasHandle_t handle, const T *p)
{
    return handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? Factor<T>{p, T()}
                                                              : Factor<T>{nullptr, *p};
}

// @return the status of the last launch.
inline cublasStatus_t blas_launched()
{
    return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

// @return the first element of a vector: with a negative step, the last element in memory.
template <class T> __host__ __device__ T *blas_first(T *x, int n, int step)
{
    return step < 0 ? x - (long long)(n - 1) * step : x;
}
