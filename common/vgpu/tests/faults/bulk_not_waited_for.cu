// nvcc: -std=c++17 -arch=compute_90
// Reads the data of a bulk copy before the barrier object reports its arrival.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD(tile, in, 256, &full);
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x]; // expect: race_raw
    WAIT(&full, 0);
}

int main()
{
    Device<int> in(64), out(64);
    in.zero();
    copy<<<1, 64>>>(in, out);
    return done(cudaSuccess);
}
