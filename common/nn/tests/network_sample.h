/** @file
 * Small networks, as files in the folder of a test.
 */
#pragma once

#include "nn/dataset.h"
#include "nn/network.h"

enum { H = 15, W = 12, M1 = 3, M2 = 4, K = 3, FEATURES = M2 * 2 * 1, MOST_TENSORS = 6, HIDDEN = 5 };

/** A two-layer network on 15x12 images: 15x12 -> 13x10 -> 6x5 -> 4x3 -> 2x1. */
struct model {
    float conv1[M1 * K * K], conv2[M2 * M1 * K * K], fc[NN_CLASSES * FEATURES], bias[NN_CLASSES];
    float fc1[HIDDEN * FEATURES], fc2[NN_CLASSES * HIDDEN], bias1[HIDDEN];
    struct nn_tensor tensor[MOST_TENSORS];
    size_t tensors;
    struct nn_metadata metadata[3];
    size_t metadata_pairs;
};

void model_make(struct model *m);

/** These convolutions on 23x14 images, with ReLU, windows of 3 and 2, and two fully connected
 * layers: 23x14 -> 21x12 -> 7x4 -> 5x2 -> 2x1. */
void model_make_relu(struct model *m);

/** Writes the model to a file of the test's folder (temp_folder.h), or fails the test. */
void model_write(const struct model *m, const char *name);
