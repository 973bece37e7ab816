/** @file
 * data/models/expected.tsv: the accuracy of each model in a folder.
 */
#ifndef CONVLAB_TRAIN_EXPECTED_H
#define CONVLAB_TRAIN_EXPECTED_H

#include "base/status.h"
#include "nn/dataset.h"

/** Computes the accuracy of those of the course's models that are in a folder, on the first 100,
 * 1000 and 10000 test images, with the oracle for the convolutions, and writes DIR/expected.tsv
 * (columns model, images, accuracy), atomically.
 * @param test  the test images, at least 10000 */
enum st_code train_expected_write(const char *dir, const struct nn_dataset *test,
                                  struct st_error *err);

#endif
