/** @file
 * Milestone m2: the forward pass of a convolution layer on a GPU, one thread per output element.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from. From this milestone on, x, k and y are device pointers: kernels may
 * read and write through them, conv_forward() itself may only pass them on.
 */
/* BEGIN SOLUTION */
//~ /* You write a kernel, and conv_forward(), which launches it. Decide first, on paper, which
//~  * thread of which block computes which y[b,m,h,w]; the assignment page (README.md in this
//~  * folder) has a drawing to begin with. Add functions, constants and #include lines as you need
//~  * them; everything stays in this one file. Say here, in a few lines, how threads map to
//~  * outputs, what gain over m1 you expected and what you measured. */
//~
/*
 * The idea. No output element depends on another. So each element gets a separate thread: the four
 * outer loops of m1 (b, m, h, w) become the indices of blocks and threads, and each thread runs the
 * three inner loops (c, p, q).
 *
 * Which thread computes which element? A block computes a tile of 16 x 16 outputs in one map of one
 * image. Here the map has 35 rows of 40 outputs, hence 3 x 3 tiles, numbered row by row:
 *
 *     map (b, m)                          tile 4: blockDim = (16, 16)
 *        w: 0      16      32  40         threadIdx.x:  0 1 2 . . . . . . . . . . . . 15
 *     h: 0  +-------+-------+---+ - +     threadIdx.y:  0 . . . . . . . . . . . . . . . | warp 0
 *           |   0   |   1   | 2 |   :                   1 . . . . . . . . . . . . . . . |
 *       16  +-------+-------+---+ - +                   2 . . . . . . . . . . . . . . . | warp 1
 *           |   3   |   4   | 5 |   :                   3 . . . . . . . . . . . . . . . |
 *       32  +-------+-------+---+ - +                   ...
 *       35  |___6___|___7___|_8_|   :                  15 . . . . . . . . . . . . . . . | warp 7
 *           :       :       :       :
 *           + - - - + - - - + - - - +     threads past the edges have no output, and leave
 *
 *     w = column of the tile * 16 + threadIdx.x       m = blockIdx.y
 *     h = row of the tile    * 16 + threadIdx.y       b = blockIdx.z
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DBLK_W=32. */
#ifndef BLK_W
#define BLK_W 16 /* a block computes BLK_H rows of BLK_W outputs */
#endif
#ifndef BLK_H
#define BLK_H 16
#endif
#define GRID_DIM_Y_Z 65535 /* maximum number of blocks along y, and along z */

/** One thread per output element. x [B][C][H][W], k [M][C][K][K] and y [B][M][H_out][W_out] are
 * device pointers.
 * @pre blockDim = (BLK_W, BLK_H), gridDim = (tiles of a map, at most M, at most B) */
__global__ void conv_thread_per_output(struct conv_shape shape, const float *x, const float *k,
                                       float *y)
{
    const int C = shape.C, K = shape.K;
    const size_t B = shape.B, M = shape.M, H = shape.H, W = shape.W;
    const size_t H_out = H - K + 1, W_out = W - K + 1;

    /* Which element is mine? */
    const unsigned tiles_across = (W_out + BLK_W - 1) / BLK_W;
    const size_t h = blockIdx.x / tiles_across * BLK_H + threadIdx.y;
    const size_t w = blockIdx.x % tiles_across * BLK_W + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return; /* the tile extends past the edge of the map */

    for (size_t b = blockIdx.z; b < B; b += gridDim.z)       /* once, unless B > 65535 */
        for (size_t m = blockIdx.y; m < M; m += gridDim.y) { /* once, unless M > 65535 */
            const float *weight = k + m * C * K * K;         /* read in the order of memory */
            float sum = 0.0f;
            for (int c = 0; c < C; c++)       /* every input map */
                for (int p = 0; p < K; p++) { /* every row of the filter */
                    const float *row = x + ((b * C + c) * H + h + p) * W + w;
                    for (int q = 0; q < K; q++) /* every column of the filter */
                        sum += row[q] * *weight++;
                }
            y[((b * M + m) * H_out + h) * W_out + w] = sum;
        }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Launch your kernel here, check with
    //~  * cudaGetLastError() that the launch was accepted, and return 0 if so. x, k and y are
    //~  * device pointers: do not read or write through them in this function. shape is a host
    //~  * pointer: pass *shape to the kernel by value. Delete the next line when you use its
    //~  * parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t H_out = shape->H - shape->K + 1, W_out = shape->W - shape->K + 1;
    const size_t tiles = ((H_out + BLK_H - 1) / BLK_H) * ((W_out + BLK_W - 1) / BLK_W);
    const dim3 block(BLK_W, BLK_H);
    const dim3 grid((unsigned)tiles, shape->M < GRID_DIM_Y_Z ? shape->M : GRID_DIM_Y_Z,
                    shape->B < GRID_DIM_Y_Z ? shape->B : GRID_DIM_Y_Z);
    conv_thread_per_output<<<grid, block>>>(*shape, x, k, y);

    /* A launch returns nothing: cudaGetLastError() reports whether it was accepted. There is no
     * need to wait for its end here; the code that reads y or stops the clock does this. */
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        fprintf(stderr, "m2: launch of %u x %u x %u blocks of %u x %u threads: %s\n", grid.x,
                grid.y, grid.z, block.x, block.y, cudaGetErrorString(launched));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
