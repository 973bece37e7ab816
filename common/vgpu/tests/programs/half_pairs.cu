// nvcc: -arch=compute_90
// Pairs of halves, bfloat16 and 8-bit floats with the instructions of newer GPUs (conversions of
// pairs, for which older GPUs need several instructions).
#include "vgpu/tests/check.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void pairs(const float2 *in, int n, float *out)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    float2 v = in[i];
    __half2 h = __float22half2_rn(v);
    __nv_bfloat162 b = __float22bfloat162_rn(v);
    float2 hf = __half22float2(__hfma2(h, h, h)), bf = __bfloat1622float2(__hmul2(b, b));
    float *to = out + 8 * i;
    to[0] = hf.x, to[1] = hf.y, to[2] = bf.x, to[3] = bf.y;
    to[4] = (float)__nv_fp8_e4m3(v.x);
    to[5] = (float)__nv_fp8_e5m2(v.y);
    float2 q = (float2)__nv_fp8x2_e4m3(h);
    to[6] = q.x, to[7] = q.y;
}

int main()
{
    const std::vector<float2> in = {{0, 1},         {0.1f, -2.5f},   {100, 448},
                                    {1e-3f, 7e-3f}, {-3.25f, 0.75f}, {1.0625f, 1.1875f},
                                    {-0.0f, 57344}, {240, -17}};
    // x and y of each pair above as e4m3, e5m2 and e4m3 pairs: to nearest, ties to even
    const float want[][4] = {{0, 1, 0, 1},
                             {0.1015625f, -2.5f, 0.1015625f, -2.5f},
                             {96, 448, 96, 448},
                             {0.001953125f, 0.0068359375f, 0.001953125f, 0.0078125f},
                             {-3.25f, 0.75f, -3.25f, 0.75f},
                             {1, 1.25f, 1, 1.25f},
                             {0, 57344, 0, 448},
                             {240, -16, 240, -16}};
    const int n = (int)in.size();
    Device<float2> d(in);
    Device<float> out(8 * n);
    pairs<<<1, 32>>>(d, n, out);
    LAUNCHED();
    std::vector<float> got = out.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        float x = __half2float(__float2half(in[i].x)), y = __half2float(__float2half(in[i].y));
        ok &= got[8 * i] == __half2float(__float2half(x * x + x));
        ok &= got[8 * i + 1] == __half2float(__double2half((double)y * y + y));
        x = __bfloat162float(__float2bfloat16(in[i].x)),
        y = __bfloat162float(__float2bfloat16(in[i].y));
        ok &= got[8 * i + 2] == __bfloat162float(__float2bfloat16(x * x));
        ok &= got[8 * i + 3] == __bfloat162float(__float2bfloat16(y * y));
        for (int k = 0; k < 4; k++)
            if (got[8 * i + 4 + k] != want[i][k]) {
                printf("%d %d: %.9g, expected %.9g\n", i, k, got[8 * i + 4 + k], want[i][k]);
                ok = false;
            }
    }
    return verdict("half_pairs", ok, got);
}
