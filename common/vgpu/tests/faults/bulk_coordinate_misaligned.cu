// nvcc: -std=c++17 -arch=compute_90
// The first coordinate of a box is not a multiple of 16 bytes.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"
#include "vgpu/tests/tensor_map.cuh"

__global__ void copy(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD_BOX(tile, &map, 2, &full); // expect: misaligned
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    Device<int> in(128), out(64);
    in.zero();
    copy<<<1, 64>>>(row_map(in), out);
    return done(cudaErrorMisalignedAddress);
}
