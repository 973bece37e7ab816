// Iteration counts of the Mandelbrot set: loops of very different lengths, without fused
// arithmetic.
#include "vgpu/tests/check.cuh"

__global__ void iterate(int *out, int width, int height)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cx = -2.f + 3.f * (float)x / 64, cy = -1.f + 2.f * (float)y / 64, zx = 0, zy = 0;
    int i = 0;
    for (; i < 100; i++) {
        float xx = __fmul_rn(zx, zx), yy = __fmul_rn(zy, zy);
        if (__fadd_rn(xx, yy) > 4)
            break;
        zy = __fadd_rn(__fmul_rn(__fadd_rn(zx, zx), zy), cy);
        zx = __fadd_rn(__fadd_rn(xx, -yy), cx);
    }
    out[y * width + x] = i;
}

int main()
{
    const int width = 61, height = 47;
    Device<int> d(width * height);
    iterate<<<dim3(4, 6), dim3(16, 8)>>>(d, width, height);
    LAUNCHED();
    std::vector<int> out = d.host();
    bool ok = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            volatile float xx, yy, a, b;
            float cx = -2.f + 3.f * (float)x / 64, cy = -1.f + 2.f * (float)y / 64, zx = 0, zy = 0;
            int i = 0;
            for (; i < 100; i++) {
                xx = zx * zx, yy = zy * zy, a = xx + yy;
                if (a > 4)
                    break;
                a = zx + zx, a = a * zy, a = a + cy;
                b = xx - yy, b = b + cx;
                zy = a, zx = b;
            }
            ok &= out[y * width + x] == i;
        }
    return verdict("mandelbrot", ok, out);
}
