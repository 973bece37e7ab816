/** @file
 * The course's networks: convolution, activation and max-pool, once or twice, then one or two fully
 * connected layers with that activation between them.
 *
 *     one-layer      28x28 -> conv 50@5 -> tanh -> pool 2 -> FC 10
 *     two-layer      70x70 -> conv 12@5 -> tanh -> pool 2 -> conv 24@5 -> tanh -> pool 2 -> FC 10
 *     two-layer-86   86x86 -> conv 4@7 -> ReLU -> pool 2 -> conv 16@7 -> ReLU -> pool 4 -> FC 32
 *                    -> ReLU -> FC 10
 *
 * The lab computes the convolutions, through a function pointer; layers.h has everything else.
 */
#ifndef CONVLAB_NN_NETWORK_H
#define CONVLAB_NN_NETWORK_H

#include "base/status.h"
#include "conv.h"
#include "nn/safetensors.h"

#include <limits.h>

enum { NN_MAX_CONVS = 2, NN_MAX_DENSE = 2 };

enum nn_activation { NN_TANH, NN_RELU };

/** A fully connected layer. */
struct nn_dense_layer {
    int inputs, outputs;
    const float *weight; /**< [outputs][inputs] */
    const float *bias;   /**< [outputs] */
};

/** A network with its weights. Free with nn_network_free(). */
struct nn_network {
    char name[64];                             /**< "two-layer" */
    int H, W;                                  /**< size of an input image */
    int convs;                                 /**< 1 or 2 */
    struct conv_shape conv[NN_MAX_CONVS];      /**< B is 0 here, and is set for each run */
    const float *conv_weight[NN_MAX_CONVS];    /**< [M][C][K][K] each */
    int pool[NN_MAX_CONVS];                    /**< side of the pooling windows after each
                                                    convolution */
    enum nn_activation activation;             /**< after every layer except the last */
    int denses;                                /**< 1 or 2 */
    struct nn_dense_layer dense[NN_MAX_DENSE]; /**< the last layer has NN_CLASSES outputs */
    struct nn_safetensors file;                /**< owner of the weights */
};

/** Splits a model on a command line, a name or the path of a file, into folder and name.
 * @param folder, name  set to the arguments for nn_network_load() */
enum st_code nn_model_place(const char *model, char folder[PATH_MAX], char name[256],
                            struct st_error *err);

/** Loads FOLDER/NAME.safetensors and checks that its tensors and metadata make a network like those
 * listed above: the preceding layers determine each tensor's shape.
 *
 * Tensors: conv1.weight, [conv2.weight,] fc.weight, fc.bias; with two fully connected layers
 * fc1.weight, fc1.bias, fc2.weight, fc2.bias. Metadata: image "70x70"; [activation "relu", else
 * tanh;] [pool "2,4", the windows' sides, else 2 each]. */
enum st_code nn_network_load(struct nn_network *net, const char *folder, const char *name,
                             struct st_error *err);

/** Releases a network; harmless on a zeroed struct. */
void nn_network_free(struct nn_network *net);

/** Computes convolution number @p layer (from 0) of shape @p shape: y from x and k, host pointers.
 * @return 0 to continue, anything else ends the inference. */
typedef int nn_conv_function(void *context, int layer, const struct conv_shape *shape,
                             const float *x, const float *k, float *y);

/** @return elements of @p B images after convolution @p layer and its pooling. */
size_t nn_network_pooled_elems(const struct nn_network *net, int layer, size_t B);

/** @return "tanh" or "ReLU". */
const char *nn_activation_name(enum nn_activation activation);

/** Computes the layers after convolution @p layer: pooled = pool(activation(y)), computed as
 * activation(pool(y)), which is equal for a non-decreasing activation and less work.
 * @param y       [B][M][H-K+1][W-K+1] of that layer
 * @param pooled  [B][M][(H-K+1)/pool][(W-K+1)/pool]: input of the next convolution or dense layer */
void nn_network_activate(const struct nn_network *net, int layer, size_t B, const float *y,
                         float *pooled);

/** Computes the fully connected layers. @param pooled [B][dense[0].inputs] @param classes [B], the
 * most likely class of each image; if scores are equal, the lowest of these classes. */
void nn_network_classify(const struct nn_network *net, size_t B, const float *pooled,
                         unsigned char *classes);

/** Runs a whole inference: images through every layer, in one batch.
 * @param images   [B][H][W] (one map), in [0, 1]
 * @param classes  [B], filled
 * @return ST_OK; ST_NO_MEMORY; ST_CHILD if @p conv returned non-zero. */
enum st_code nn_network_run(const struct nn_network *net, size_t B, const float *images,
                            nn_conv_function *conv, void *context, unsigned char *classes,
                            struct st_error *err);

/** @return the share of @p classes equal to @p labels. */
double nn_accuracy(const unsigned char *classes, const unsigned char *labels, size_t n);

#endif
