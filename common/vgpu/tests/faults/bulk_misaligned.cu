// nvcc: -std=c++17 -arch=compute_90
// The destination of a bulk copy is a multiple of 4, but not of 16 bytes.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int tile[72];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD(tile + 1, in, 256, &full); // expect: misaligned
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

int main()
{
    Device<int> in(64), out(64);
    in.zero();
    copy<<<1, 64>>>(in, out);
    return done(cudaErrorMisalignedAddress);
}
