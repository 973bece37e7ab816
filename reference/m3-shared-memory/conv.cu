/** @file
 * Milestone m3: the forward pass of a convolution layer on a GPU, with tiles in shared memory.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from. x, k and y are device pointers.
 */
/* BEGIN SOLUTION */
//~ /* You write a kernel that stages its part of x, and the weights it needs, in shared memory, and
//~  * conv_forward(), which launches it. Decide first, on paper, how large a tile is with its halo,
//~  * how many times each staged element is used, and where the two barriers belong; the assignment
//~  * page (README.md in this folder) has a drawing to begin with. Say here, in a few lines, what
//~  * was wrong with your m2, what gain you expected and why, and what you measured. */
//~
/*
 * The idea. The windows of a tile of outputs share elements, which are fetched from global memory
 * only once: the threads of a block together copy them into shared memory and read them there. A
 * thread also uses each element that it loads from shared memory several times, since it computes
 * outputs that need the same elements.
 *
 *     one input map                   shared memory              registers of a thread
 *
 *        w0        w0+16  w0+20       the tile and its halo
 *     h0 +-----------+------+         +---------------+
 *        |  tile of  | halo | stage_x |  a====+       |     a ---+
 *        |  16 x 16  |      |  ---->  |  |    |       |          +--->  sum[2][12]: two outputs
 *        +-----------+      |         |  +====+       |     b ---+      in each of 12 maps
 *        |       halo       |         |  b====+       |                        ^
 *  h0+20 +------------------+         |  |    |       |                        |
 *                                     +---------------+                        |
 *     12 filters, 5 x 5       stage_k +---------------+                        |
 *     for this input map       ---->  | [5][5][12]    |     12 weights, -------+
 *                                     +---------------+     for all threads the same
 *
 * Per input map: copy; barrier; for each of the K x K positions in the window, load 2 elements of x
 * (a and b are BLK_H rows apart) and 12 weights, for 24 multiply-adds; barrier.
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
#define PITCH 48 /* floats between rows of a staged tile; see "Banks" in README.md */
#endif
#define GRID_DIM_Y_Z 65535 /* maximum number of blocks along y, and along z */

static_assert(BLK_W + PART - 1 <= PITCH, "a row of the tile and its halo fits");

/* The part of the tensors that a block has in shared memory at a time. */
struct staged {
    float x[TILE_H + PART - 1][PITCH];     /* the tile and its halo, of one input map */
    alignas(16) float k[PART][PART][MAPS]; /* the filters' weights for that input map */
};

/** Copies rows x columns elements of one input map, from (h0, w0) on; zeros beyond the edges of the
 * map. All threads of the block take part. */
static __device__ void stage_x(struct staged *s, const float *map, size_t H, size_t W, size_t h0,
                               size_t w0, int rows, int columns)
{
    for (int i = threadIdx.y; i < rows; i += BLK_H)
        for (int j = threadIdx.x; j < columns; j += BLK_W) {
            const bool inside = h0 + i < H && w0 + j < W;
            s->x[i][j] = inside ? map[(h0 + i) * W + w0 + j] : 0.0f;
        }
}

/** Copies P rows of Q weights for each of MAPS output maps. filter points to the first weight in
 * the first map's filter; filters of successive maps are filter_elems apart; missing maps get
 * zeros. @param maps  number of maps that exist, from the first on */
static __device__ void stage_k(struct staged *s, const float *filter, size_t filter_elems,
                               size_t maps, int K, int P, int Q)
{
    for (int m = threadIdx.y; m < MAPS; m += BLK_H)
        for (int p = 0; p < P; p++)
            for (int q = threadIdx.x; q < Q; q += BLK_W)
                s->k[p][q][m] = m < maps ? filter[m * filter_elems + p * K + q] : 0.0f;
}

/** Adds the products of P x Q staged weights to this thread's outputs. */
static __device__ void add_part(const struct staged *s, int P, int Q, float sum[ROWS][MAPS])
{
    for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const float value = s->x[r * BLK_H + threadIdx.y + p][threadIdx.x + q];
#pragma unroll
                for (int m = 0; m < MAPS; m++)
                    sum[r][m] += value * s->k[p][q][m];
            }
}

/** A block computes a tile of outputs, at the same position in MAPS output maps. x [B][C][H][W], k
 * [M][C][K][K] and y [B][M][H_out][W_out] are device pointers.
 * @pre blockDim = (BLK_W, BLK_H), gridDim = (tiles of a map, at most M / MAPS rounded up, at most
 * B) */
__global__ void conv_shared_tile(struct conv_shape shape, const float *x, const float *k, float *y)
{
    __shared__ struct staged s;
    const int C = shape.C, K = shape.K;
    const size_t B = shape.B, M = shape.M, H = shape.H, W = shape.W;
    const size_t H_out = H - K + 1, W_out = W - K + 1;

    /* The position of the tile. */
    const unsigned tiles_across = (W_out + BLK_W - 1) / BLK_W;
    const size_t h0 = blockIdx.x / tiles_across * TILE_H;
    const size_t w0 = blockIdx.x % tiles_across * BLK_W;

    for (size_t b = blockIdx.z; b < B; b += gridDim.z) /* once, unless B > 65535 */
        for (size_t m0 = (size_t)blockIdx.y * MAPS; m0 < M; m0 += (size_t)gridDim.y * MAPS) {
            float sum[ROWS][MAPS] = {};
            for (int c = 0; c < C; c++)                    /* every input map, */
                for (int p0 = 0; p0 < K; p0 += PART)       /* every part of its filters: */
                    for (int q0 = 0; q0 < K; q0 += PART) { /* one part, if K is at most PART */
                        const int P = min(PART, K - p0), Q = min(PART, K - q0);
                        __syncthreads(); /* no thread reads the previous tiles any longer */
                        stage_x(&s, x + (b * C + c) * H * W, H, W, h0 + p0, w0 + q0, TILE_H + P - 1,
                                BLK_W + Q - 1);
                        stage_k(&s, k + ((m0 * C + c) * K + p0) * K + q0, (size_t)C * K * K, M - m0,
                                K, P, Q);
                        __syncthreads(); /* the tiles are complete */
                        add_part(&s, P, Q, sum);
                    }

            /* Positions past the edges were computed with the others, but are not stored. */
            const size_t w = w0 + threadIdx.x;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const size_t h = h0 + r * BLK_H + threadIdx.y;
                if (h < H_out && w < W_out)
#pragma unroll
                    for (int m = 0; m < MAPS; m++)
                        if (m0 + m < M)
                            y[((b * M + m0 + m) * H_out + h) * W_out + w] = sum[r][m];
            }
        }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Launch your kernel here, check with
    //~  * cudaGetLastError() that the launch was accepted, and return 0 if so. A block has 48
    //~  * KB of shared memory: what does your kernel do when K is too large for that? Delete the
    //~  * next line when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t H_out = shape->H - shape->K + 1, W_out = shape->W - shape->K + 1;
    const size_t tiles = ((H_out + TILE_H - 1) / TILE_H) * ((W_out + BLK_W - 1) / BLK_W);
    const int groups = (shape->M - 1) / MAPS + 1;
    const dim3 block(BLK_W, BLK_H);
    const dim3 grid((unsigned)tiles, groups < GRID_DIM_Y_Z ? groups : GRID_DIM_Y_Z,
                    shape->B < GRID_DIM_Y_Z ? shape->B : GRID_DIM_Y_Z);
    conv_shared_tile<<<grid, block>>>(*shape, x, k, y);

    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        fprintf(stderr, "m3: launch of %u x %u x %u blocks of %u x %u threads: %s\n", grid.x,
                grid.y, grid.z, block.x, block.y, cudaGetErrorString(launched));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
