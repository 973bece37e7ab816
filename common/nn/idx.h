/** @file
 * The idx format of the MNIST family: big-endian, plain or gzip-compressed.
 *
 *     byte 0   0 0        magic
 *          2   type       0x08: unsigned bytes, the only type read here
 *          3   dims       number of dimensions
 *          4   sizes      dims times u32; the first is the number of items
 *              data       row-major
 *
 * Source: yann.lecun.com/exdb/mnist, "The IDX file format".
 */
#ifndef CONVLAB_NN_IDX_H
#define CONVLAB_NN_IDX_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** The maximum dimensions and items, and the largest side of an item; files beyond these limits are
 * rejected. */
enum { NN_IDX_MAX_DIMS = 3, NN_IDX_MAX_ITEMS = 1 << 24, NN_IDX_MAX_SIDE = 4096 };

/** The first items of an idx file. Free with nn_idx_free(). */
struct nn_idx {
    size_t items;                     /**< number of items read */
    size_t items_in_file;             /**< number of items according to the file */
    size_t size[NN_IDX_MAX_DIMS - 1]; /**< size of one item */
    size_t item_bytes;                /**< product of size */
    uint8_t *data;                    /**< [items][item_bytes] */
};

/** Reads an idx file of unsigned bytes.
 * @param dims   number of dimensions that the file must have, 1 to NN_IDX_MAX_DIMS
 * @param limit  read at most this many items; 0 for all. After the file's last item no bytes may
 * follow
 * @return ST_OK; on error @p idx is zeroed and @p err has file, expected and got: ST_NOT_FOUND,
 * ST_IO; ST_BAD_FORMAT (magic, type, dimensions, sizes, damaged gzip stream, trailing bytes);
 * ST_TRUNCATED; ST_NO_MEMORY. */
enum st_code nn_idx_read(struct nn_idx *idx, const char *path, int dims, size_t limit,
                         struct st_error *err);

/** Releases the items; harmless on a zeroed struct. */
void nn_idx_free(struct nn_idx *idx);

#endif
