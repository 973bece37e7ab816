/** @file
 * Fashion-MNIST from its four idx files (plain or .gz), and upscaling to a model's image size.
 *
 * Debian's package dataset-fashion-mnist has the files; the environment variable CONVLAB_DATA sets
 * another folder with these file names. An archive (make handout, make bundle) includes the test
 * images in data/fashion-mnist.
 */
#ifndef CONVLAB_NN_DATASET_H
#define CONVLAB_NN_DATASET_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** Classes of Fashion-MNIST. */
enum { NN_CLASSES = 10 };

/** Largest height or width of an image, before and after scaling. */
enum { NN_MAX_SIDE = 4096 };

enum nn_split { NN_TRAIN, NN_TEST };

/** Images and labels as stored: bytes, row-major. Free with nn_dataset_free(). */
struct nn_dataset {
    size_t images;   /**< number of loaded images */
    int height;      /**< rows per image */
    int width;       /**< columns per image */
    uint8_t *pixels; /**< [images][height][width], 0 black to 255 white */
    uint8_t *labels; /**< [images], each below NN_CLASSES */
};

/** @return the folder of the data set: CONVLAB_DATA if set and not empty, else data/fashion-mnist
 * of this checkout or archive if it exists, else Debian's. */
const char *nn_dataset_folder(void);

/** Loads the first images of a split.
 * @param folder  the folder of the idx files, or NULL for nn_dataset_folder()
 * @param limit   at most this many images; 0 for all
 * @return ST_OK; on error @p set is zeroed and @p err names file, expected and got (missing folder
 * or file: hint how to install; wrong magic, type or dimensions; truncated or damaged; bytes after
 * the data; images and labels of different counts; label too large; sizes of 0 or beyond
 * NN_MAX_SIDE). Images beyond the limit are neither read nor checked. */
enum st_code nn_dataset_load(struct nn_dataset *set, const char *folder, enum nn_split split,
                             size_t limit, struct st_error *err);

/** Releases a data set; harmless on a zeroed struct. */
void nn_dataset_free(struct nn_dataset *set);

/** Upscales (or copies) images to H x W floats in [0, 1]: bilinear, pixel centres aligned
 * (half-pixel rule: source = (target + 0.5) * in / out - 0.5, clamped at the border).
 * Runs on all cores; the result does not depend on their number.
 * @param to  [count][H][W], not owned
 * @pre first + count <= set->images; H and W from 1 to NN_MAX_SIDE. */
void nn_dataset_scale(const struct nn_dataset *set, size_t first, size_t count, int H, int W,
                      float *to);

#endif
