/* Checks that hold for any input: a reader of untrusted files either accepts it and returns
 * consistent data, or rejects it with a report and returns nothing. Shared by the fuzzer
 * (fuzz_readers.c) and the test that replays its corpus (test_fuzz.c). */
#ifndef CONVLAB_NN_TESTS_FUZZ_READERS_H
#define CONVLAB_NN_TESTS_FUZZ_READERS_H

#include "nn/idx.h"
#include "nn/safetensors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Both the fuzzer and Criterion report abort() as a failure. */
#define FUZZ_CHECK(condition)                                                                      \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))

static inline void fuzz_check_report(const struct st_error *err, enum st_code code,
                                     const void *result, size_t result_bytes)
{
    FUZZ_CHECK(err->code == code && code != ST_OK && code != ST_NO_MEMORY);
    FUZZ_CHECK(err->what[0] && err->where[0] && err->hint[0]);
    for (size_t i = 0; i < result_bytes; i++)
        FUZZ_CHECK(((const char *)result)[i] == 0);
}

/* @return whether the input was accepted. */
static inline int fuzz_safetensors(const uint8_t *bytes, size_t size)
{
    struct nn_safetensors file;
    struct st_error err = {0};
    memset(&file, 0xff, sizeof file);
    enum st_code code = nn_safetensors_parse(&file, "input", bytes, size, &err);
    if (code) {
        fuzz_check_report(&err, code, &file, sizeof file);
        return 0;
    }
    uint64_t header_bytes;
    memcpy(&header_bytes, bytes, 8);
    const uint8_t *data = bytes + 8 + header_bytes;
    for (size_t i = 0; i < file.tensors; i++) {
        const struct nn_tensor *t = &file.tensor[i];
        size_t elems = 1;
        FUZZ_CHECK(t->name[0] && memchr(t->name, '\0', sizeof t->name));
        FUZZ_CHECK(t->dims >= 0 && t->dims <= NN_MAX_DIMS);
        for (int d = 0; d < t->dims; d++)
            elems *= t->shape[d];
        FUZZ_CHECK(elems == t->elems && (uintptr_t)t->data % 64 == 0);
        FUZZ_CHECK(memcmp(t->data, data, elems * sizeof(float)) == 0);
        FUZZ_CHECK(nn_safetensors_find(&file, t->name) == t);
        data += elems * sizeof(float);
    }
    FUZZ_CHECK(data == bytes + size);
    for (size_t i = 0; i < file.metadata_pairs; i++) {
        const struct nn_metadata *pair = &file.metadata[i];
        FUZZ_CHECK(memchr(pair->value, '\0', sizeof pair->value));
        FUZZ_CHECK(nn_safetensors_metadata(&file, pair->key) == pair->value);
    }
    nn_safetensors_free(&file);
    return 1;
}

static inline int fuzz_idx_with(const char *path, int dims, size_t limit)
{
    struct nn_idx idx;
    struct st_error err = {0};
    memset(&idx, 0xff, sizeof idx);
    enum st_code code = nn_idx_read(&idx, path, dims, limit, &err);
    if (code) {
        fuzz_check_report(&err, code, &idx, sizeof idx);
        return 0;
    }
    FUZZ_CHECK(idx.items >= 1 && idx.items <= idx.items_in_file);
    FUZZ_CHECK(limit ? idx.items <= limit : idx.items == idx.items_in_file);
    unsigned sum = 0; /* reads every byte, so that the address sanitizer checks it */
    for (size_t i = 0; i < idx.items * idx.item_bytes; i++)
        sum += idx.data[i];
    FUZZ_CHECK(sum <= 255 * idx.items * idx.item_bytes);
    nn_idx_free(&idx);
    return 1;
}

/* @return whether the input was accepted, as images or as labels. */
static inline int fuzz_idx(const uint8_t *bytes, size_t size)
{
    char path[64];
    int fd = memfd_create("input", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int accepted = fuzz_idx_with(path, 3, 0) | fuzz_idx_with(path, 1, 0);
    /* Reading only a part of a file must also work. */
    int images_in_part = fuzz_idx_with(path, 3, 2), labels_in_part = fuzz_idx_with(path, 1, 2);
    FUZZ_CHECK(!accepted || images_in_part || labels_in_part);
    close(fd);
    return accepted;
}

#endif
