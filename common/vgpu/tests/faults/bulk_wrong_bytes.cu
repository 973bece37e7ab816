// nvcc: -std=c++17 -arch=compute_90
// A barrier object expects more bytes than the bulk copy delivers.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 260);
        LOAD(tile, in, 256, &full);
    }
    __syncthreads();
    WAIT(&full, 0); // expect: no_progress
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    Device<int> in(64), out(64);
    in.zero();
    copy<<<1, 64>>>(in, out);
    return done(cudaErrorLaunchTimeout);
}
