// A sum with warp shuffles: down, butterfly, and one shared slot per warp.
#include "vgpu/tests/check.cuh"

__device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

__global__ void reduce(const float *in, float *out, int n)
{
    __shared__ float warps[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    v = warp_sum(v);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0)
        warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (blockDim.x >> 5) ? warps[lane] : 0;
        v = warp_sum(v);
        if (lane == 0)
            out[blockIdx.x] = v;
    }
}

__global__ void lanes(int *out)
{
    int lane = threadIdx.x;
    int v = lane * lane;
    out[lane] = __shfl_sync(0xffffffffu, v, (lane * 7) & 31);
    out[32 + lane] = __shfl_xor_sync(0xffffffffu, v, 5);
    out[64 + lane] = __shfl_up_sync(0xffffffffu, v, 3);
    out[96 + lane] = __shfl_down_sync(0xffffffffu, v, 9, 16);
    double d = __shfl_sync(0xffffffffu, lane * 0.5, 31 - lane);
    out[128 + lane] = (int)(d * 2);
}

int main()
{
    const int n = 100000;
    Random random(4);
    std::vector<float> in(n);
    double want = 0;
    for (float &v : in)
        v = random.exact(), want += v;
    Device<float> din(in), dout(8);
    Device<int> dl(160);
    reduce<<<8, 256>>>(din, dout, n);
    lanes<<<1, 32>>>(dl);
    LAUNCHED();
    double got = 0;
    for (float v : dout.host())
        got += v;
    std::vector<int> l = dl.host();
    bool ok = got == want;
    for (int i = 0; i < 32; i++) {
        int up = i >= 3 ? i - 3 : i, down = (i & 15) + 9 < 16 ? i + 9 : i, at = (i * 7) & 31;
        ok &= l[i] == at * at && l[32 + i] == (i ^ 5) * (i ^ 5) && l[64 + i] == up * up;
        ok &= l[96 + i] == down * down && l[128 + i] == 31 - i;
    }
    return verdict("reduce_shuffle", ok, l);
}
