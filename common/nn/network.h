/** @file
 * The course's networks: convolution, tanh, max-pool, once or twice, then one fully connected
 * layer.
 *
 *     one-layer   28x28 -> conv 50@5 -> tanh -> pool -> FC 10
 *     two-layer   70x70 -> conv 12@5 -> tanh -> pool -> conv 24@5 -> tanh -> pool -> FC 10
 *
 * The convolutions are the lab's and come in as a function; everything else is in layers.h.
 */
#ifndef CONVLAB_NN_NETWORK_H
#define CONVLAB_NN_NETWORK_H

#include "base/status.h"
#include "conv.h"
#include "nn/safetensors.h"

#include <limits.h>

enum { NN_MAX_CONVS = 2 };

/** A network with its weights. Free with nn_network_free(). */
struct nn_network {
    char name[64];                          /**< "two-layer" */
    int H, W;                               /**< size of an input image */
    int convs;                              /**< 1 or 2 */
    struct conv_shape conv[NN_MAX_CONVS];   /**< with B = 0: set when run */
    const float *conv_weight[NN_MAX_CONVS]; /**< [M][C][K][K] each */
    int features;                           /**< inputs of the fully connected layer */
    const float *dense_weight;              /**< [NN_CLASSES][features] */
    const float *dense_bias;                /**< [NN_CLASSES] */
    struct nn_safetensors file;             /**< what owns the weights */
};

/** Where a model is that is named on a command line: by its name, or by the path of a file of one's
 * own. @param folder, name  as nn_network_load() takes them */
enum st_code nn_model_place(const char *model, char folder[PATH_MAX], char name[256],
                            struct st_error *err);

/** Loads FOLDER/NAME.safetensors and checks that its tensors (conv1.weight, [conv2.weight,]
 * fc.weight, fc.bias) and metadata (image "70x70") make one of the networks above: each tensor's
 * shape follows from the layers before it. */
enum st_code nn_network_load(struct nn_network *net, const char *folder, const char *name,
                             struct st_error *err);

/** Releases a network; harmless on a zeroed one. */
void nn_network_free(struct nn_network *net);

/** Computes convolution number @p layer (from 0) of shape @p shape: y from x and k, host pointers.
 * @return 0 to continue, anything else ends the inference. */
typedef int nn_conv_function(void *context, int layer, const struct conv_shape *shape,
                             const float *x, const float *k, float *y);

/** The layers after convolution @p layer: pooled = pool(tanh(y)) (computed as tanh(pool(y)), the
 * same for a non-decreasing tanh and a quarter of the work).
 * @param y       [B][M][H-K+1][W-K+1] of that layer
 * @param pooled  [B][M][(H-K+1)/2][(W-K+1)/2]: input of the next convolution or the dense layer */
void nn_network_activate(const struct nn_network *net, int layer, size_t B, const float *y,
                         float *pooled);

/** The end of the network. @param pooled [B][features] @param classes [B], the most likely class;
 * of equal scores the lowest. */
void nn_network_classify(const struct nn_network *net, size_t B, const float *pooled,
                         unsigned char *classes);

/** A whole inference: images through every layer, in one batch.
 * @param images   [B][H][W] (one map), in [0, 1]
 * @param classes  [B], filled
 * @return ST_OK; ST_NO_MEMORY; ST_CHILD if @p conv returned non-zero. */
enum st_code nn_network_run(const struct nn_network *net, size_t B, const float *images,
                            nn_conv_function *conv, void *context, unsigned char *classes,
                            struct st_error *err);

/** @return the share of @p classes equal to @p labels. */
double nn_accuracy(const unsigned char *classes, const unsigned char *labels, size_t n);

#endif
