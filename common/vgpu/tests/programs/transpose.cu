// A matrix transpose through padded tiles in shared memory; the sizes are not multiples of the
// tile.
#include "vgpu/tests/check.cuh"

const int TILE = 32, ROWS = 8;

__global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int width = 131, height = 77;
    Random random(7);
    std::vector<float> in(width * height);
    for (float &v : in)
        v = random.unit();
    Device<float> din(in), dout(width * height);
    transpose<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(TILE, ROWS)>>>(din, dout, width,
                                                                                 height);
    LAUNCHED();
    std::vector<float> out = dout.host();
    bool ok = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ok &= out[x * height + y] == in[y * width + x];
    return verdict("transpose", ok, out);
}
