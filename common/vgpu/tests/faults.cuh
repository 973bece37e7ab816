// Shared by the planted faults. Each program has one fault; a comment "expect: KIND" marks the line
// where it must be reported. On the virtual GPU, the error that the runtime returns is also
// checked; a real GPU may not notice the fault without compute-sanitizer.
#pragma once

#include "vgpu/tests/check.cuh"

static inline int done(cudaError_t want)
{
    cudaDeviceProp prop;
    cudaError_t got = cudaGetLastError();
    if (got == cudaSuccess)
        got = cudaDeviceSynchronize();
    cudaGetDeviceProperties(&prop, 0);
    printf("%s, expected %s\n", cudaGetErrorName(got), cudaGetErrorName(want));
    return got != want && strstr(prop.name, "(virtual)") ? 1 : 0;
}
