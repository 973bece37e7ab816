/** @file
 * The contract between a lab and the harness: the only function that a student writes.
 *
 * A lab is compiled into a shared library, libconv.so, that exports conv_forward() or, in milestone
 * m13, conv_forward_host(). The harness (common/runner) loads the library, and calls and times the
 * function. Tensors are dense float32 in NCHW order:
 *
 *     x [B][C][H][W]            input images, C maps each
 *     k [M][C][K][K]            weights
 *     y [B][M][H-K+1][W-K+1]    output maps; garbage on entry; every element must be written
 *
 * so element (b, c, h, w) of x is x[((b * C + c) * H + h) * W + w].
 */
#ifndef CONVLAB_CONV_H
#define CONVLAB_CONV_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The sizes of one convolution. All are at least 1, and K is at most H and at most W. */
struct conv_shape {
    int B; /**< images in the batch */
    int M; /**< output feature maps */
    int C; /**< input feature maps */
    int H; /**< height of an input map, in elements */
    int W; /**< width of an input map, in elements */
    int K; /**< height and width of a filter, in elements */
};

/** Forward pass of a convolution layer: valid (no padding), stride 1, no bias:
 *
 *     y[b,m,h,w] = sum over c,p,q of x[b,c,h+p,w+q] * k[m,c,p,q]
 *
 * @param shape  the sizes; read-only, valid only during the call
 * @param x      input [B][C][H][W], must not be changed
 * @param k      weights [M][C][K][K], must not be changed
 * @param y      output [B][M][H-K+1][W-K+1]
 * Milestone m1: host pointers. GPU milestones: device pointers.
 * Everything done in here is Op Time.
 * @return 0, or anything else to report that the shape cannot be computed. */
int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y);

/** The convolution from host memory to host memory, only for milestone m13: the function copies x
 * and k to the device, computes y there, and copies y back.
 * @param x, k, y  page-locked host memory, which the harness has allocated with cudaMallocHost():
 *        copies with cudaMemcpyAsync() from x and k and to y are asynchronous. Do not register or
 *        free this memory.
 * The whole call, including copies, is timed (Layer Time). The harness waits for all streams of the
 * device before it stops the clock.
 * @return 0, or anything else to report that the shape cannot be computed. */
int conv_forward_host(const struct conv_shape *shape, const float *x, const float *k, float *y);

/** Scratch memory for conv_forward(), owned and reused by the harness, so that not every call
 * spends time on allocation. Host memory in m1, device memory in GPU milestones.
 * @param bytes  the required size
 * @return at least @p bytes bytes, aligned to 256 and with any contents, valid until the next call
 * of conv_workspace() or the end of conv_forward(); NULL: out of memory. */
void *conv_workspace(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
