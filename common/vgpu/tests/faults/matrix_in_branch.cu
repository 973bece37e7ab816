// vgpu: faults
// Only half of a warp executes a matrix instruction; the other half waits at the barrier.
#include "vgpu/tests/faults.cuh"

#define TURN "movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"

__global__ void transpose(unsigned *tile)
{
    unsigned turned = 0;
    if (threadIdx.x < 16)
        asm volatile(TURN : "=r"(turned) : "r"(tile[threadIdx.x])); // expect: undefined_shuffle
    __syncthreads();
    tile[threadIdx.x] = turned;
}

int main()
{
    unsigned *tile;
    cudaMalloc(&tile, 32 * sizeof *tile);
    cudaMemset(tile, 0, 32 * sizeof *tile);
    transpose<<<1, 32>>>(tile);
    return done(cudaSuccess);
}
