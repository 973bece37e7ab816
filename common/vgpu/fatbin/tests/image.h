/* Builds fat binaries for the tests byte by byte, as nvcc does. */
#pragma once

#include "vgpu/fatbin/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct image {
    unsigned char *bytes;
    size_t n;
};

static inline void image_put(struct image *to, const void *data, size_t n)
{
    to->bytes = realloc(to->bytes, to->n + n + 1);
    memcpy(to->bytes + to->n, data, n);
    to->n += n;
}

static inline void image_start(struct image *to)
{
    const struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
    } head = {FATBIN_MAGIC, 1, FATBIN_HEADER_BYTES, 0};
    *to = (struct image){0};
    image_put(to, &head, sizeof head);
}

/* Adds an entry whose header has 64 + @p more bytes. */
static inline void image_add(struct image *to, int kind, int sm, const void *data, size_t n,
                             enum fatbin_storage storage, size_t more)
{
    size_t room = n + n / 8 + 64;
    char *stored = calloc(1, room + 8);
    size_t bytes = n;
    if (storage == FATBIN_ZSTD)
        bytes = ZSTD_compress(stored, room, data, n, 3);
    else if (storage == FATBIN_LZ4)
        bytes = (size_t)LZ4_compress_default(data, stored, (int)n, (int)room);
    else
        memcpy(stored, data, n);
    size_t padded = (bytes + 7) / 8 * 8;
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t payload;
        uint32_t compressed, options;
        uint16_t minor, major;
        uint32_t sm, name, name_length;
        uint64_t flags, zero, uncompressed;
    } entry = {.kind = (uint16_t)kind,
               .version = 0x101,
               .header = (uint32_t)(64 + more),
               .payload = padded,
               .major = 9,
               .sm = (uint32_t)sm,
               .flags = storage == FATBIN_ZSTD  ? 0x8011
                        : storage == FATBIN_LZ4 ? 0x2011
                                                : 0x11};
    if (storage != FATBIN_RAW) {
        entry.compressed = (uint32_t)bytes;
        entry.uncompressed = n;
    }
    const char filler[256] = {0};
    image_put(to, &entry, sizeof entry);
    image_put(to, filler, more);
    image_put(to, stored, padded);
    free(stored);
    uint64_t body = to->n - FATBIN_HEADER_BYTES;
    memcpy(to->bytes + 8, &body, sizeof body);
}

/* @return a copy in an allocation of its exact size, so that the sanitizer notices a read past the
 * end. */
static inline struct image image_part(const struct image *from, size_t n)
{
    struct image to = {malloc(n ? n : 1), n};
    memcpy(to.bytes, from->bytes, n);
    return to;
}
