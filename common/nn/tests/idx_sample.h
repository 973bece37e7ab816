/* Makes right and wrong idx files for tests. */
#ifndef CONVLAB_NN_TESTS_IDX_SAMPLE_H
#define CONVLAB_NN_TESTS_IDX_SAMPLE_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { IDX_IMAGES = 6, IDX_HEIGHT = 4, IDX_WIDTH = 3 };

/* The bytes of a file. */
struct blob {
    uint8_t bytes[1024];
    size_t size;
};

/* An idx file of unsigned bytes; item i, element j is (31 * i + 7 * j) % modulus. */
static inline struct blob idx_make(int dims, const uint32_t *size, int modulus)
{
    struct blob b = {.bytes = {0, 0, 8, (uint8_t)dims}, .size = 4};
    size_t item_bytes = 1;
    for (int d = 0; d < dims; d++) {
        for (int shift = 24; shift >= 0; shift -= 8)
            b.bytes[b.size++] = (uint8_t)(size[d] >> shift);
        item_bytes *= d ? size[d] : 1;
    }
    cr_assert(b.size + size[0] * item_bytes < sizeof b.bytes);
    for (size_t i = 0; i < size[0]; i++)
        for (size_t j = 0; j < item_bytes; j++)
            b.bytes[b.size++] = (uint8_t)((31 * i + 7 * j) % (size_t)modulus);
    return b;
}

static inline struct blob idx_images(void)
{
    return idx_make(3, (uint32_t[]){IDX_IMAGES, IDX_HEIGHT, IDX_WIDTH}, 256);
}

static inline struct blob idx_labels(void)
{
    return idx_make(1, (uint32_t[]){IDX_IMAGES}, 10);
}

/* Compresses a file. */
static inline struct blob gzip(struct blob plain)
{
    struct blob packed = {.size = 0};
    z_stream z = {.next_in = plain.bytes,
                  .avail_in = (unsigned)plain.size,
                  .next_out = packed.bytes,
                  .avail_out = sizeof packed.bytes};
    int gzip_format = 16 + MAX_WBITS;
    cr_assert_eq(
        deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY), Z_OK);
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.size = z.total_out;
    deflateEnd(&z);
    return packed;
}

#endif
