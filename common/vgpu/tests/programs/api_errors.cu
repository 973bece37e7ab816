// Errors of the runtime: their codes; they are not sticky, and work continues after them. The program's name, which
// error messages of libc begin with, is known.
#include "vgpu/tests/check.cuh"
#include <cerrno>

__global__ void kernel(int *p)
{
    if (p)
        *p = 7;
}

__global__ void __launch_bounds__(64) small(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    if (p)
        *p = s[0];
}

static void expect(cudaError_t got, cudaError_t want, int line)
{
    if (got != want) {
        printf("FAIL api_errors:%d: got %s, expected %s\n", line, cudaGetErrorName(got),
               cudaGetErrorName(want));
        exit(1);
    }
}
#define WANT(call, error) expect((call), (error), __LINE__)
#define WANT_LAST(error)                                                                           \
    WANT(cudaPeekAtLastError(), error);                                                            \
    WANT(cudaGetLastError(), error);                                                               \
    WANT(cudaGetLastError(), cudaSuccess)

int main()
{
    int *d, n;
    void *p;
    EXPECT(strcmp(program_invocation_short_name, "api_errors") == 0);
    CHECK(cudaMalloc(&d, 1000));
    kernel<<<1, 1025>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    kernel<<<0, 32>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    kernel<<<dim3(1, 70000), 32>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    small<<<1, 65, 400>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    kernel<<<1, dim3(1, 1, 65)>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    kernel<<<1, 32, 60000>>>(d);
    WANT_LAST(cudaErrorInvalidValue);
    WANT(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    WANT_LAST(cudaErrorMemoryAllocation);
    WANT(cudaMemcpy(d, d, 10, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    WANT_LAST(cudaErrorInvalidMemcpyDirection);
    WANT(cudaSetDevice(1000), cudaErrorInvalidDevice);
    WANT_LAST(cudaErrorInvalidDevice);
    cudaDeviceProp prop;
    WANT(cudaGetDeviceProperties(&prop, -1), cudaErrorInvalidDevice);
    WANT_LAST(cudaErrorInvalidDevice);
    WANT(cudaFree((char *)d + 4), cudaErrorInvalidValue);
    WANT_LAST(cudaErrorInvalidValue);
    WANT(cudaFuncSetAttribute(small, cudaFuncAttributeMaxDynamicSharedMemorySize, 10 << 20),
         cudaErrorInvalidValue);
    WANT_LAST(cudaErrorInvalidValue);
    WANT(cudaMemcpy2D(d, 8, d, 16, 10, 2, cudaMemcpyDeviceToDevice), cudaErrorInvalidPitchValue);
    WANT_LAST(cudaErrorInvalidPitchValue);
    WANT(cudaGetSymbolAddress(&p, &n), cudaErrorInvalidSymbol);
    WANT_LAST(cudaErrorInvalidSymbol);
    WANT(cudaLaunchKernel((const void *)&n, dim3(1), dim3(1), nullptr, 0, 0),
         cudaErrorInvalidResourceHandle);
    WANT_LAST(cudaErrorInvalidResourceHandle);
    WANT(cudaGetDevice(nullptr), cudaErrorInvalidValue);
    WANT_LAST(cudaErrorInvalidValue);
    WANT(cudaMalloc((void **)nullptr, 10), cudaErrorInvalidValue);
    WANT_LAST(cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr));
    CHECK(cudaMalloc(&p, 0));
    EXPECT(p == nullptr);
    // A device is not its own peer.
    WANT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    WANT(cudaDeviceEnablePeerAccess(1000, 0), cudaErrorInvalidDevice);
    WANT(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
    WANT(cudaDeviceEnablePeerAccess(1000, 1), cudaErrorInvalidDevice);
    WANT(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    WANT(cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrAccessSupported, 0, 0),
         cudaErrorInvalidDevice);
    WANT_LAST(cudaErrorInvalidDevice);
    // A successful call in between does not clear an error.
    cudaSetDevice(1000);
    CHECK(cudaMemset(d, 0, 1000));
    WANT_LAST(cudaErrorInvalidDevice);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
    kernel<<<1, 1>>>(d);
    LAUNCHED();
    CHECK(cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    return verdict("api_errors", n == 7);
}
