// libcublas of the virtual GPU: the functions of cuBLAS that programs use most, as kernels which the virtual GPU
// runs, checks and times like any others. They are plain kernels: their times are their own, not cuBLAS's. The
// functions that are not written here are generated stubs (blas_stubs.sh).
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
    void *result; // room on the device for one result
};

// A factor such as alpha, which is on the host or, by the handle's mode, on the device.
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

// Result of a launch.
inline cublasStatus_t blas_launched()
{
    return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

// The first element of a vector, which with a negative step is its last in memory.
template <class T> __host__ __device__ T *blas_first(T *x, int n, int step)
{
    return step < 0 ? x - (long long)(n - 1) * step : x;
}
