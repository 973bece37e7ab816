/** @file
 * A network being trained: where its parameters are, and the gradient of the loss for one image.
 *
 * The parameters of a network are one array, and so are their gradients:
 *
 *     | conv1.weight [M][1][K][K] | conv2.weight [M'][M][K][K] | dense.weight, dense.bias | ... |
 *
 * The loss is the cross entropy of the softmax of the scores. Results have the same bits on every
 * machine.
 */
#ifndef CONVLAB_TRAIN_NET_H
#define CONVLAB_TRAIN_NET_H

#include "base/rng.h"
#include "data/train/train_conv.h"
#include "nn/dataset.h"
#include "nn/network.h"

#include <stdbool.h>

/** The layers of a network. */
struct train_layers {
    int H, W;               /**< an input image, one map */
    int convs;              /**< 1 or 2 */
    int maps[NN_MAX_CONVS]; /**< output maps of each */
    int K;                  /**< filter width of all */
    int pool[NN_MAX_CONVS]; /**< side of the windows after each; 0: 2 */
    int hidden;             /**< outputs of a fully connected layer before the last; 0: none */
    enum nn_activation activation; /**< after each layer except the last */
};

/** A fully connected layer in the parameters. */
struct train_dense {
    int inputs, outputs;
    size_t weight, bias; /**< offsets in the parameters */
};

/** Layers and layout of a network. Plain values: copy it freely. */
struct train_net {
    int H, W;                             /**< an input image, one map */
    int convs;                            /**< 1 or 2 */
    struct conv_shape conv[NN_MAX_CONVS]; /**< with B = 1 */
    size_t conv_weight[NN_MAX_CONVS];     /**< offsets in the parameters */
    int pool[NN_MAX_CONVS];               /**< side of the windows after each */
    enum nn_activation activation;
    int denses;                             /**< 1 or 2 */
    struct train_dense dense[NN_MAX_DENSE]; /**< the last one has NN_CLASSES outputs */
    size_t params;                          /**< number of parameters */
};

/** Lays out a network. @pre K <= TRAIN_ROW, and the images are large enough for the layers. */
struct train_net train_net_define(const struct train_layers *layers);

/** Random parameters to start from: uniform, with a variance of 1 / inputs of a layer (LeCun et
 * al., "Efficient BackProp", 1998, section 4.6); zero biases. */
void train_net_init(const struct train_net *net, struct rng *r, float *params);

/** The convolutions' weights as the kernels read them, shared by all threads. */
struct train_weights {
    struct train_packed conv[NN_MAX_CONVS];
    void *storage;
};

/** @return false without memory; else free with train_weights_free(). */
bool train_weights_make(const struct train_net *net, struct train_weights *weights);
void train_weights_pack(const struct train_net *net, const float *params,
                        struct train_weights *weights);
void train_weights_free(struct train_weights *weights);

/** The buffers in which one thread computes one image: the image goes to x[0]. */
struct train_scratch {
    float *
        x[NN_MAX_CONVS + 1]; /**< inputs of every convolution, the last for the first dense layer */
    float *dx;               /**< gradient with respect to the largest of those */
    float *y;                /**< planes of the largest convolution */
    struct train_maxima maxima[NN_MAX_CONVS];
    float *hidden, *d_hidden; /**< outputs between the dense layers, and their gradient */
    float score[NN_CLASSES];
    void *storage;
};

/** @return false without memory; else free with train_scratch_free(). */
bool train_scratch_make(const struct train_net *net, struct train_scratch *scratch);
void train_scratch_free(struct train_scratch *scratch);

/** The scores of the image in scratch->x[0], into scratch->score. @return the most likely class. */
int train_net_forward(const struct train_net *net, const float *params,
                      const struct train_weights *weights, struct train_scratch *scratch);

/** Adds the gradient of the loss of the image in scratch->x[0] to @p gradient [params].
 * @return the most likely class. */
int train_net_gradient(const struct train_net *net, const float *params,
                       const struct train_weights *weights, struct train_scratch *scratch,
                       int label, float *gradient);

#endif
