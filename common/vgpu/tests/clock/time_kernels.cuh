// Times kernels of several instructions: transpositions and products of matrices.
#pragma once

#include "vgpu/tests/clock/measure.cuh"

__global__ void transpose_plain(float *to, const float *from, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        to[(size_t)x * n + y + i] = from[(size_t)(y + i) * n + x];
}

template <int PAD> __global__ void transpose_shared(float *to, const float *from, int n)
{
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = from[(size_t)(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        to[(size_t)(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void matmul_plain(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

template <int T> __global__ void matmul_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float s_a[T][T], s_b[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        s_a[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        s_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; k++)
            sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// 64 x 64 outputs per block of 16 x 16 threads, 4 x 4 each.
__global__ void matmul_registers(float *c, const float *a, const float *b, int n)
{
    __shared__ float s_a[16][64], s_b[16][64];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    float r[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s_a[t % 16][t / 16 + 16 * i] = a[(y0 + t / 16 + 16 * i) * n + k0 + t % 16];
            s_b[t / 64 + 4 * i][t % 64] = b[(k0 + t / 64 + 4 * i) * n + x0 + t % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    r[i][j] += s_a[k][ty * 4 + i] * s_b[k][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = r[i][j];
}

static void time_kernels()
{
    if (!wanted("transpose") && !wanted("matmul"))
        return;
    const int n = 2048 / quick, m = quick > 1 ? 256 : 512;
    float *a = device<float>(n * n), *b = device<float>(n * n), *c = device<float>(n * n);
    const dim3 tiles(n / 32, n / 32), block(32, 8);
    measure("transpose", "plain", [=] { transpose_plain<<<tiles, block>>>(a, b, n); });
    measure("transpose", "shared, 32 conflicts",
            [=] { transpose_shared<0><<<tiles, block>>>(a, b, n); });
    measure("transpose", "shared, padded", [=] { transpose_shared<1><<<tiles, block>>>(a, b, n); });
    for (int side = 8; side <= 32; side *= 2)
        measure("matmul", text("plain, blocks of %g squared", side),
                [=] { matmul_plain<<<dim3(m / side, m / side), dim3(side, side)>>>(c, a, b, m); });
    measure("matmul", "tiles of 16",
            [=] { matmul_tiled<16><<<dim3(m / 16, m / 16), dim3(16, 16)>>>(c, a, b, m); });
    measure("matmul", "tiles of 32",
            [=] { matmul_tiled<32><<<dim3(m / 32, m / 32), dim3(32, 32)>>>(c, a, b, m); });
    measure("matmul", "register tiles",
            [=] { matmul_registers<<<dim3(m / 64, m / 64), dim3(16, 16)>>>(c, a, b, m); });
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}
