/* Submissions for m8: kernels chosen by the layer. */
#include "common.cuh"

/* One thread computes MAPS output maps at one position; WHICH makes copies of the same kernel. */
template <int MAPS, int WHICH>
__global__ void maps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int groups = (M + MAPS - 1) / MAPS;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * MAPS;
    const int h = blockIdx.y * blockDim.y + threadIdx.y, w = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum[MAPS] = {};
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const float v = X(b, c, h + i / K, w + i % K);
#pragma unroll
            for (int j = 0; j < MAPS; j++)
                sum[j] += v * KK(min(m0 + j, M - 1), c, 0, i);
        }
#pragma unroll
    for (int j = 0; j < MAPS; j++)
        if (m0 + j < M)
            Y(b, m0 + j, h, w) = sum[j];
}

template <int MAPS, int WHICH> static int launch(ARGUMENTS, dim3 block)
{
    const dim3 grid((s->W - s->K + block.x) / block.x, (s->H - s->K + block.y) / block.y,
                    (s->M + MAPS - 1) / MAPS * s->B);
    maps<MAPS, WHICH><<<grid, block>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_tiles, s->C > 4 ? launch<8, 0>(s, x, k, y, dim3(16, 16))
                                 : launch<4, 0>(s, x, k, y, dim3(16, 16)))

/* expect: pass */
SUBMISSION(right_blocks, launch<4, 0>(s, x, k, y, s->W < 40 ? dim3(32, 4) : dim3(64, 2)))

/* expect: pass */
SUBMISSION(right_kernels,
           s->C > 4 ? launch<8, 0>(s, x, k, y, dim3(16, 16)) : launch_plain(s, x, k, y))

/* expect: the same kernel and blocks for both layers */
SUBMISSION(decoy_one_kernel, launch<4, 0>(s, x, k, y, dim3(16, 16)))

/* expect: the same kernel and blocks for both layers */
SUBMISSION(decoy_copies, s->C > 4 ? launch<4, 0>(s, x, k, y, dim3(16, 16))
                                  : launch<4, 1>(s, x, k, y, dim3(16, 16)))

/* Also launches the other kernel, uselessly. */
__global__ void nothing(float *y, int n)
{
    if ((int)threadIdx.x < n)
        y[threadIdx.x] = 0;
}

/* expect: the same kernel and blocks for both layers */
int decoy_on_the_side(ARGUMENTS)
{
    if (s->C > 4)
        nothing<<<1, 32>>>(y, 1);
    else
        nothing<<<1, 64>>>(y, 1);
    return launch<4, 0>(s, x, k, y, dim3(16, 16));
}

/* Twice the grid, half of it idle. */
/* expect: the same kernel and blocks for both layers */
int decoy_grid_only(ARGUMENTS)
{
    dim3 grid = tiles(s, 16, s->B * s->M);
    if (s->C > 4)
        grid.x *= 2;
    plain<<<grid, dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

/* Unused dynamic shared memory. */
/* expect: the same kernel and blocks for both layers */
int decoy_empty_memory(ARGUMENTS)
{
    const int bytes = s->C > 4 ? 4096 : 0;
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16), bytes>>>(*s, x, k, y);
    return failed();
}

/* Threads that exit at once, and memory that is never written. */
template <int MORE>
__global__ void some_leave(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float unused[1 + MORE];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.x;
    const int h = blockIdx.y * 16 + t / 16, w = blockIdx.x * 16 + t % 16;
    if (t >= 256 || h >= H_out || w >= W_out)
        return;
    if (shape.B < 0)
        unused[t % (1 + MORE)] = x[t], y[0] = unused[0];
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* expect: the same kernel and blocks for both layers */
int decoy_some_leave(ARGUMENTS)
{
    const dim3 grid = tiles(s, 16, s->B * s->M);
    if (s->C > 4)
        some_leave<32><<<grid, 288>>>(*s, x, k, y);
    else
        some_leave<1><<<grid, 256>>>(*s, x, k, y);
    return failed();
}
