/** @file
 * Runs one whole inference, and prints the lines that the course's reports quote.
 */
#ifndef CONVLAB_RUNNER_INFER_H
#define CONVLAB_RUNNER_INFER_H

#include "nn/network.h"

/** Loads data set and model, runs the network on the first test images and prints to stdout:
 *
 *     Loading fashion-mnist data... done
 *     Loading model... done
 *     New Inference
 *     (what conv prints per layer: on a GPU Layer Time, then Op Time)
 *     Correctness: 0.91 Model: two-layer
 *
 * @param model   a model's name in data/models, or the path of a file
 * @param conv    computes each convolution, see nn_network_run()
 * @return ST_OK; ST_CHILD if conv returned non-zero; otherwise the error of loading. */
enum st_code infer_and_print(const char *model, size_t images, nn_conv_function *conv,
                             void *context, struct st_error *err);

#endif
