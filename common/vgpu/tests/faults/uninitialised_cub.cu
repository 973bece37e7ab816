// A kernel of CUB reads elements of its shared memory that nothing wrote: not a finding. But it is one if
// they are copies of unwritten elements of the program.
#include "vgpu/tests/faults.cuh"

namespace cub
{
__global__ void merge(const int *in, int *out)
{
    __shared__ int keys[33];
    keys[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = keys[threadIdx.x] + 1; // expect: uninitialised
    out[threadIdx.x + 32] = 2 * keys[32] + threadIdx.x;
}
} // namespace cub

int main()
{
    Device<int> in(32), out(64);
    cub::merge<<<1, 32>>>(in, out);
    return done(cudaSuccess);
}
