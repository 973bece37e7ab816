// Exchanges through shared memory in blocks of one warp and of two, ordered by __syncwarp. It orders a block
// of one warp as __syncthreads does; without it, and between two warps, threads race.
#include "vgpu/tests/faults.cuh"

const int ROUNDS = 3;

// No race.
__global__ void exchange(int *out)
{
    __shared__ int tile[32];
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        tile[threadIdx.x] = i;
        __syncwarp();
        sum += tile[31 - threadIdx.x];
        __syncwarp();
    }
    out[threadIdx.x] = sum;
}

__global__ void one_missing(int *out)
{
    __shared__ int tile[32];
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        tile[threadIdx.x] = i; // expect: race_war
        __syncwarp();
        sum += tile[31 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

__global__ void two_warps(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = 0;
    __syncthreads();
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // expect: race_raw
}

int main()
{
    Device<int> out(64);
    exchange<<<2, 32>>>(out);
    one_missing<<<1, 32>>>(out);
    two_warps<<<1, 64>>>(out);
    return done(cudaSuccess);
}
