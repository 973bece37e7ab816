/** @file
 * The layers that the lab does not compute: tanh, ReLU, max-pool, fully connected, softmax. They
 * work on host memory, float32, NCHW, on all cores, with the same bits on every machine (no library
 * math, no contraction).
 */
#ifndef CONVLAB_NN_LAYERS_H
#define CONVLAB_NN_LAYERS_H

#include <stddef.h>

/** to[i] = tanh(from[i]); to may be from. Non-decreasing in from, so it commutes with max.
 * Largest error: see layers.c and its test. NaN stays NaN. */
void nn_tanh(const float *from, float *to, size_t n);

/** to[i] = max(from[i], 0); to may be from. NaN stays NaN. */
void nn_relu(const float *from, float *to, size_t n);

/** Max-pool over windows of @p side x @p side, stride @p side; rows and columns that do not fill a
 * window are dropped.
 * @param from  [maps][H][W] @param to  [maps][H/side][W/side], must not overlap @p from. A NaN in a
 * window may be lost or kept. */
void nn_pool(const float *from, float *to, size_t maps, int H, int W, int side);

/** Fully connected: to[b][o] = bias[o] + sum over i of from[b][i] * weight[o][i]. */
void nn_dense(const float *from, const float *weight, const float *bias, float *to, size_t batch,
              int inputs, int outputs);

/** Softmax over rows of @p n. to may be from. */
void nn_softmax(const float *from, float *to, size_t batch, int n);

#endif
