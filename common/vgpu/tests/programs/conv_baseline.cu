// A convolution with one thread per output element.
#include "vgpu/tests/check.cuh"

struct Shape {
    int B, M, C, H, W, K;
};

__global__ void conv(Shape s, const float *x, const float *k, float *y)
{
    int ho = s.H - s.K + 1, wo = s.W - s.K + 1;
    int w = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
    int b = blockIdx.z / s.M, m = blockIdx.z % s.M;
    if (w >= wo || h >= ho)
        return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                       k[((m * s.C + c) * s.K + p) * s.K + q];
    y[((b * s.M + m) * ho + h) * wo + w] = sum;
}

int main()
{
    Shape s = {2, 5, 3, 19, 23, 5};
    int ho = s.H - s.K + 1, wo = s.W - s.K + 1;
    Random random(2);
    std::vector<float> x(s.B * s.C * s.H * s.W), k(s.M * s.C * s.K * s.K);
    for (float &v : x)
        v = random.exact();
    for (float &v : k)
        v = random.exact();
    Device<float> dx(x), dk(k), dy((size_t)s.B * s.M * ho * wo);
    conv<<<dim3((wo + 15) / 16, (ho + 15) / 16, s.B * s.M), dim3(16, 16)>>>(s, dx, dk, dy);
    LAUNCHED();
    std::vector<float> y = dy.host();
    bool ok = true;
    for (int b = 0; b < s.B; b++)
        for (int m = 0; m < s.M; m++)
            for (int h = 0; h < ho; h++)
                for (int w = 0; w < wo; w++) {
                    float sum = 0;
                    for (int c = 0; c < s.C; c++)
                        for (int p = 0; p < s.K; p++)
                            for (int q = 0; q < s.K; q++)
                                sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                                       k[((m * s.C + c) * s.K + p) * s.K + q];
                    ok &= y[((b * s.M + m) * ho + h) * wo + w] == sum;
                }
    return verdict("conv_baseline", ok, y);
}
