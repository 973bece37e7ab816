// Different warps write different bytes of a word, which is right. But one warp reads another's
// byte, and two warps write one byte.
#include "vgpu/tests/faults.cuh"

__global__ void overlap(unsigned char *out)
{
    __shared__ unsigned char s[256], both[256];
    const int t = threadIdx.x, at = t % 64 * 4 + t / 64;
    s[at] = both[at] = 0;
    __syncthreads();
    s[at] = (unsigned char)t;
    out[t] = s[t == 5 ? at ^ 1 : at];     // expect: race_raw
    both[t == 200 ? 3 : at] = out[t] + t; // expect: race_waw
    __syncthreads();
    out[t] = both[at];
}

int main()
{
    Device<unsigned char> out(256);
    overlap<<<1, 256>>>(out);
    return done(cudaSuccess);
}
