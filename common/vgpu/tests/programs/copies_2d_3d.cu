// Pitched memory, copies of rectangles and boxes, fills of rectangles.
#include "vgpu/tests/check.cuh"

__global__ void bump(char *p, size_t pitch, int width, int height)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height)
        ((int *)(p + y * pitch))[x] += y * 100 + x;
}

int main()
{
    const int width = 13, height = 7;
    char *d;
    size_t pitch;
    CHECK(cudaMallocPitch(&d, &pitch, width * sizeof(int), height));
    EXPECT(pitch >= width * sizeof(int) && pitch % 32 == 0);
    std::vector<int> h(height * 20), got(height * width);
    for (size_t i = 0; i < h.size(); i++)
        h[i] = (int)i;
    CHECK(cudaMemcpy2D(d, pitch, h.data(), 20 * sizeof(int), width * sizeof(int), height,
                       cudaMemcpyHostToDevice));
    bump<<<1, dim3(16, 8)>>>(d, pitch, width, height);
    LAUNCHED();
    CHECK(cudaMemcpy2D(got.data(), width * sizeof(int), d, pitch, width * sizeof(int), height,
                       cudaMemcpyDeviceToHost));
    bool ok = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ok &= got[y * width + x] == y * 20 + x + y * 100 + x;
    CHECK(cudaMemset2D(d + 4, pitch, 0xff, 8, 3));
    CHECK(cudaMemcpy2D(got.data(), width * sizeof(int), d, pitch, width * sizeof(int), height,
                       cudaMemcpyDefault));
    for (int y = 0; y < height; y++)
        ok &= (got[y * width + 1] == -1) == (y < 3) && got[y * width + 3] != -1;
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(12, 3, 2)));
    std::vector<char> from(12 * 3 * 2), to(12 * 3 * 2);
    for (size_t i = 0; i < from.size(); i++)
        from[i] = (char)(i + 1);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(from.data(), 12, 12, 3);
    p.dstPtr = box;
    p.extent = make_cudaExtent(12, 3, 2);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    p.srcPtr = box;
    p.dstPtr = make_cudaPitchedPtr(to.data(), 12, 12, 3);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    ok &= from == to;
    CHECK(cudaFree(box.ptr));
    CHECK(cudaFree(d));
    return verdict("copies_2d_3d", ok, got);
}
