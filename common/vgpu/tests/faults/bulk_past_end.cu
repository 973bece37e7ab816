// nvcc: -std=c++17 -arch=compute_90
// A bulk copy reads past the end of its source.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD(tile, in, 256, &full); // expect: out_of_bounds
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    Device<int> in(60), out(64);
    in.zero();
    copy<<<1, 64>>>(in, out);
    return done(cudaErrorIllegalAddress);
}
