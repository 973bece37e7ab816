// A reduction in one launch: the last block to finish, found by an atomic counter, adds the partial
// sums that the others made visible with __threadfence().
#include "vgpu/tests/check.cuh"

__device__ unsigned finished;

__global__ void sum(const float *in, int n, volatile float *partial, float *total)
{
    __shared__ float s[128];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        v += in[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float t = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            t += partial[i];
        *total = t;
    }
}

int main()
{
    const int n = 20000, blocks = 9;
    Random random(33);
    std::vector<float> in(n);
    float want = 0;
    for (float &v : in)
        v = random.exact(), want += v;
    Device<float> din(in), partial(blocks), total(1);
    bool ok = true;
    for (int round = 0; round < 2; round++) {
        total.zero();
        sum<<<blocks, 128>>>(din, n, partial, total);
        LAUNCHED();
        ok &= total.host()[0] == want;
    }
    return verdict("last_block", ok, total.host());
}
