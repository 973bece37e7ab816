/** @file
 * Milestone m4: the forward pass of a convolution layer on a GPU, with weights in constant memory.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from. x, k and y are device pointers.
 */
/* BEGIN SOLUTION */
//~ /* You write a kernel that reads its weights from a __constant__ array, and conv_forward(),
//~  * which copies them there and launches it. All of constant memory is 64 KB: decide
//~  * first what happens when the weights do not fit, and in which order they are in it. The
//~  * assignment page (README.md in this folder) has a drawing to begin with. Say here, in a few
//~  * lines, what was wrong with your m3, what gain you expected and why, and what you
//~  * measured. */
//~
/*
 * The idea. All threads of a block need the same weight at the same time. Constant memory is made
 * for this: it broadcasts one word to all lanes of a warp, through a separate cache. So only x is
 * staged in shared memory; the rest is as in m3.
 *
 *     k [M][C][K][K]            packed, in scratch memory          c_k, __constant__, 64 KB
 *
 *     m=0  w w w w . . .        c=0 p=0 q=0:  m=0 m=1 ... m=11
 *     m=1  w w w w . . .  --->          q=1:  m=0 m=1 ... m=11  --->  the same  --->  x, y
 *     ...                               ...
 *     m=23 w w w w . . .        and the next 12 maps
 *
 *          1. pack_weights()        2. cudaMemcpyToSymbolAsync()     3. conv_constant_weights()
 *
 * conv_forward() queues these three steps and does not wait: each step begins when the previous one
 * has ended. Every call repeats them, because the weights may have changed.
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DBLK_W=32. */
#ifndef BLK_W
#define BLK_W 16 /* a block has BLK_H rows of BLK_W threads, */
#endif
#ifndef BLK_H
#define BLK_H 8 /* each of them computes ROWS outputs, one BLK_H below the other, */
#endif
#ifndef ROWS
#define ROWS 2 /* in each of MAPS output maps: */
#endif
#ifndef MAPS
#define MAPS 12 /* the block computes a tile of TILE_H x BLK_W */
#endif
#define TILE_H (BLK_H * ROWS) /* outputs in MAPS maps */
#ifndef PART
#define PART 8 /* larger filters are processed in parts of PART x PART */
#endif
#ifndef PITCH
#define PITCH 48 /* floats between rows of a staged tile; see "Banks" in README.md of m3 */
#endif
#define GRID_DIM_Y_Z 65535 /* maximum number of blocks along y, and along z */

static_assert(BLK_W + PART - 1 <= PITCH, "a row of the tile and its halo fits");

#define CONST_FLOATS    (65536 / (int)sizeof(float)) /* all of constant memory */
#define CONST_SIDE      36 /* the largest filter of which MAPS fit, for one input map */
#define THREADS_TO_PACK 256

static_assert(CONST_SIDE * CONST_SIDE * MAPS <= CONST_FLOATS, "that filter fits");

/* The weights that are in constant memory during a launch: of G groups of MAPS output maps, of C
 * input maps, and P rows of Q weights of each filter. For the layers of the course, all weights
 * fit. */
struct box {
    int g0, G; /* the groups, */
    int c0, C; /* the input maps, */
    int p0, P; /* the filter's rows, */
    int q0, Q; /* and its columns: first and number */
};

/* [G][C][P][Q][MAPS]: the weights are in the order in which a thread needs them. */
__constant__ alignas(16) float c_k[CONST_FLOATS];

/** Writes a box of k [M][C][K][K] into packed, in the order of c_k. Missing maps
 * get zeros. One thread per weight. */
__global__ void pack_weights(struct conv_shape shape, struct box box, const float *k, float *packed)
{
    const int n = blockIdx.x * THREADS_TO_PACK + threadIdx.x;
    int rest = n;
    const int i = rest % MAPS;
    rest /= MAPS;
    const int q = rest % box.Q;
    rest /= box.Q;
    const int p = rest % box.P;
    rest /= box.P;
    const int c = rest % box.C, g = rest / box.C;
    if (g >= box.G)
        return;
    const size_t m = (size_t)(box.g0 + g) * MAPS + i, K = shape.K;
    const size_t filter = m * shape.C + box.c0 + c;
    packed[n] = m < shape.M ? k[(filter * K + box.p0 + p) * K + box.q0 + q] : 0.0f;
}

/** Copies rows x columns elements of one input map, from (h0, w0) on; zeros beyond the edges of the
 * map. All threads of the block take part. */
static __device__ void stage_x(float s_x[][PITCH], const float *map, size_t H, size_t W, size_t h0,
                               size_t w0, int rows, int columns)
{
    for (int i = threadIdx.y; i < rows; i += BLK_H)
        for (int j = threadIdx.x; j < columns; j += BLK_W) {
            const bool inside = h0 + i < H && w0 + j < W;
            s_x[i][j] = inside ? map[(h0 + i) * W + w0 + j] : 0.0f;
        }
}

/** Adds the products of P x Q weights of one input map to this thread's outputs. Row p of the
 * weights begins at c_k[k + p * row_elems]. */
static __device__ void add_part(const float s_x[][PITCH], int k, int row_elems, int P, int Q,
                                float sum[ROWS][MAPS])
{
    for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const float value = s_x[r * BLK_H + threadIdx.y + p][threadIdx.x + q];
#pragma unroll
                for (int m = 0; m < MAPS; m++)
                    sum[r][m] += value * c_k[k + p * row_elems + q * MAPS + m];
            }
}

/** A block computes a tile of outputs, at the same position in MAPS output maps, as far as the
 * weights in c_k allow. x [B][C][H][W] and y [B][M][H_out][W_out] are device pointers.
 * @pre blockDim = (BLK_W, BLK_H), gridDim = (tiles of a map, box.G, at most B) */
__global__ void conv_constant_weights(struct conv_shape shape, struct box box, const float *x,
                                      float *y)
{
    __shared__ float s_x[TILE_H + PART - 1][PITCH];
    const size_t B = shape.B, M = shape.M, C = shape.C, H = shape.H, W = shape.W;
    const size_t H_out = H - shape.K + 1, W_out = W - shape.K + 1;

    /* The position of the tile, and where its weights begin. */
    const unsigned tiles_across = (W_out + BLK_W - 1) / BLK_W;
    const size_t h0 = blockIdx.x / tiles_across * TILE_H;
    const size_t w0 = blockIdx.x % tiles_across * BLK_W;
    const size_t m0 = ((size_t)box.g0 + blockIdx.y) * MAPS;
    const int row_elems = box.Q * MAPS, map_elems = box.P * row_elems;
    const int k0 = (blockIdx.y + threadIdx.z) * (box.C * map_elems); /* z is 0: see "Two ways" */

    for (size_t b = blockIdx.z; b < B; b += gridDim.z) { /* once, unless B > 65535 */
        float sum[ROWS][MAPS] = {};
        for (int c = 0; c < box.C; c++)                    /* every input map, */
            for (int p0 = 0; p0 < box.P; p0 += PART)       /* every part of its filters: */
                for (int q0 = 0; q0 < box.Q; q0 += PART) { /* one part, if K is at most PART */
                    const int P = min(PART, box.P - p0), Q = min(PART, box.Q - q0);
                    __syncthreads(); /* no thread reads the previous tiles any longer */
                    stage_x(s_x, x + (b * C + box.c0 + c) * H * W, H, W, h0 + box.p0 + p0,
                            w0 + box.q0 + q0, TILE_H + P - 1, BLK_W + Q - 1);
                    __syncthreads(); /* the tiles are complete */
                    add_part(s_x, k0 + c * map_elems + p0 * row_elems + q0 * MAPS, row_elems, P, Q,
                             sum);
                }

        const size_t w = w0 + threadIdx.x;
        const bool first = box.c0 == 0 && box.p0 == 0 && box.q0 == 0; /* these outputs' first box */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const size_t h = h0 + r * BLK_H + threadIdx.y;
            if (h < H_out && w < W_out)
#pragma unroll
                for (int m = 0; m < MAPS; m++)
                    if (m0 + m < M) {
                        float *to = &y[((b * M + m0 + m) * H_out + h) * W_out + w];
                        *to = first ? sum[r][m] : *to + sum[r][m];
                    }
        }
    }
}

/** Copies one box of weights into constant memory, and adds its products to y. All three steps are
 * queued; each waits for the previous one. */
static void add_box(const struct conv_shape *shape, struct box box, const float *x, const float *k,
                    float *y, float *packed)
{
    const int weights = box.G * box.C * box.P * box.Q * MAPS;
    pack_weights<<<(weights - 1) / THREADS_TO_PACK + 1, THREADS_TO_PACK>>>(*shape, box, k, packed);
    cudaMemcpyToSymbolAsync(c_k, packed, weights * sizeof(float), 0, cudaMemcpyDeviceToDevice);

    const size_t H_out = shape->H - shape->K + 1, W_out = shape->W - shape->K + 1;
    const size_t tiles = ((H_out + TILE_H - 1) / TILE_H) * ((W_out + BLK_W - 1) / BLK_W);
    const dim3 block(BLK_W, BLK_H);
    const dim3 grid((unsigned)tiles, box.G, min(shape->B, GRID_DIM_Y_Z));
    conv_constant_weights<<<grid, block>>>(*shape, box, x, y);
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Copy the weights to your
    //~  * __constant__ array (cudaMemcpyToSymbolAsync; they are in device memory already), launch
    //~  * your kernel, check with cudaGetLastError() that all was accepted, and return 0 if
    //~  * so. Delete the next line when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const int C = shape->C, K = shape->K, groups = (shape->M - 1) / MAPS + 1;

    /* The size of a box: whole filters if the filters of one input map fit, then as many input maps
     * as fit, then as many groups. The next box must wait until this one has been used. */
    const int side = min(K, CONST_SIDE);
    const int most_C = K <= CONST_SIDE ? min(C, CONST_FLOATS / (K * K * MAPS)) : 1;
    const int most_G = min(groups, CONST_FLOATS / (side * side * MAPS * most_C));

    float *packed = (float *)conv_workspace(sizeof(float) * CONST_FLOATS);
    if (!packed) {
        fprintf(stderr, "m4: no memory to put %d weights in order\n", CONST_FLOATS);
        return 1;
    }
    struct box box;
    for (box.g0 = 0; box.g0 < groups; box.g0 += most_G)
        for (box.c0 = 0; box.c0 < C; box.c0 += most_C)
            for (box.p0 = 0; box.p0 < K; box.p0 += side)
                for (box.q0 = 0; box.q0 < K; box.q0 += side) {
                    box.G = min(most_G, groups - box.g0);
                    box.C = min(most_C, C - box.c0);
                    box.P = min(side, K - box.p0);
                    box.Q = min(side, K - box.q0);
                    add_box(shape, box, x, k, y, packed);
                }

    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "m4: copy of weights or launch: %s\n", cudaGetErrorString(error));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
