/** @file
 * Models as safetensors files: an 8-byte little-endian header length, a JSON header
 * {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, "__metadata__": {..}},
 * then the data. Format: github.com/huggingface/safetensors.
 */
#ifndef CONVLAB_NN_SAFETENSORS_H
#define CONVLAB_NN_SAFETENSORS_H

#include "base/status.h"

#include <stddef.h>

/** Maximum dimensions of a tensor, and maximum header size in bytes; files beyond these limits are
 * rejected. */
enum { NN_MAX_DIMS = 4, NN_MAX_HEADER_BYTES = 1 << 20 };

/** One named float32 tensor. */
struct nn_tensor {
    char name[64];
    int dims;                  /**< 0 to NN_MAX_DIMS */
    size_t shape[NN_MAX_DIMS]; /**< only the first `dims` elements are used */
    size_t elems;              /**< product of the shape */
    float *data;               /**< [elems], aligned to 64, owned by the file */
};

/** One pair of the header's __metadata__. */
struct nn_metadata {
    char key[64], value[256];
};

/** A file's contents. Free with nn_safetensors_free(). */
struct nn_safetensors {
    size_t tensors;
    struct nn_tensor *tensor; /**< [tensors], in the order of their data */
    size_t metadata_pairs;
    struct nn_metadata *metadata; /**< [metadata_pairs] */
    void *storage;
};

/** Reads and checks a file. Only F32 is accepted. A wrong header gives ST_BAD_FORMAT or
 * ST_TRUNCATED with file, tensor, expected, got: if it is not JSON or longer than the file; if data
 * are outside the file, overlap, have gaps or do not fit the shape; if sizes overflow, names are
 * repeated or a dtype is wrong.
 * @return ST_OK; on error @p file is zeroed. */
enum st_code nn_safetensors_read(struct nn_safetensors *file, const char *path,
                                 struct st_error *err);

/** Like nn_safetensors_read(), from memory. @param name  the file's name in messages
 * @param bytes  [size], only read during the call */
enum st_code nn_safetensors_parse(struct nn_safetensors *file, const char *name, const void *bytes,
                                  size_t size, struct st_error *err);

/** Writes tensors in the given order, completely or not at all; the same input gives the same
 * bytes. The data begins at a multiple of 64 bytes.
 * @pre names are unique, not empty and not "__metadata__"; elems is the product of the shape; keys
 * of the metadata are unique (writing a file that nn_safetensors_read() rejects is a bug). */
enum st_code nn_safetensors_write(const char *path, const struct nn_tensor *tensor, size_t tensors,
                                  const struct nn_metadata *metadata, size_t metadata_pairs,
                                  struct st_error *err);

/** @return a tensor by name, or NULL. */
const struct nn_tensor *nn_safetensors_find(const struct nn_safetensors *file, const char *name);

/** @return a metadata value by key, or NULL. */
const char *nn_safetensors_metadata(const struct nn_safetensors *file, const char *key);

/** Releases a file; harmless on a zeroed struct. */
void nn_safetensors_free(struct nn_safetensors *file);

#endif
