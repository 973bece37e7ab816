// nvcc: -std=c++17 -arch=compute_90
// A kernel gets the address of data that is not a tensor map.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(const void *map, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD_BOX(tile, map, 0, &full); // expect: invalid_object
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    Device<int> map(32), out(64);
    map.zero();
    copy<<<1, 64>>>(map, out);
    return done(cudaErrorIllegalAddress);
}
