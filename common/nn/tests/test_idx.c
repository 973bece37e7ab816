#include "nn/idx.h"

#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "nn/tests/idx_sample.h"

#include <sys/stat.h>

TestSuite(idx, .init = temp_folder_make, .fini = temp_folder_remove, .timeout = 30);

static void expect_zeroed(const struct nn_idx *idx)
{
    static const struct nn_idx zero;
    cr_expect_eq(memcmp(idx, &zero, sizeof zero), 0, "the result is not zeroed");
}

/* Expects the bytes to be rejected as images [items][height][width]. */
static void expect_rejected(struct blob b, size_t limit, enum st_code code, const char *what,
                            const char *expected, const char *got)
{
    const char *path = temp_file("bad-images", b.bytes, b.size);
    struct nn_idx idx;
    struct st_error err;
    memset(&idx, 0xff, sizeof idx);
    cr_expect_eq(nn_idx_read(&idx, path, 3, limit, &err), code, "%s: got code %d, \"%s\"", what,
                 err.code, err.what);
    expect_zeroed(&idx);
    expect_detail("what", err.what, what);
    cr_expect_str_eq(err.where, path);
    expect_detail("expected", err.expected, expected);
    expect_detail("got", err.got, got);
    cr_expect(err.hint[0], "no hint");
    cr_expect_eq(nn_idx_read(&idx, path, 3, limit, NULL), code);
}

static void expect_read(const char *path, size_t limit, size_t items)
{
    struct blob plain = idx_images();
    struct nn_idx idx;
    struct st_error err = {0};
    cr_assert_eq(nn_idx_read(&idx, path, 3, limit, &err), ST_OK, "%s", err.what);
    cr_expect_eq(idx.items, items);
    cr_expect_eq(idx.items_in_file, IDX_IMAGES);
    cr_expect_eq(idx.size[0], IDX_HEIGHT);
    cr_expect_eq(idx.size[1], IDX_WIDTH);
    cr_expect_eq(idx.item_bytes, IDX_HEIGHT * IDX_WIDTH);
    cr_expect_eq(memcmp(idx.data, plain.bytes + 16, items * IDX_HEIGHT * IDX_WIDTH), 0);
    nn_idx_free(&idx);
    expect_zeroed(&idx);
}

Test(idx, plain_and_compressed_files_give_the_same_items)
{
    struct blob plain = idx_images(), packed = gzip(plain);
    expect_read(temp_file("plain", plain.bytes, plain.size), 0, IDX_IMAGES);
    expect_read(temp_file("packed", packed.bytes, packed.size), 0, IDX_IMAGES);
}

Test(idx, a_limit_reads_the_first_items_and_at_most_all)
{
    struct blob packed = gzip(idx_images());
    const char *path = temp_file("packed", packed.bytes, packed.size);
    for (size_t limit = 1; limit <= IDX_IMAGES; limit++)
        expect_read(path, limit, limit);
    expect_read(path, IDX_IMAGES + 1, IDX_IMAGES);
    expect_read(path, SIZE_MAX, IDX_IMAGES);
}

Test(idx, items_after_the_limit_are_not_needed)
{
    struct blob b = idx_images();
    const char *path = temp_file("cut", b.bytes, 16 + 2 * IDX_HEIGHT * IDX_WIDTH);
    expect_read(path, 2, 2);
    b.size = 16 + 2 * IDX_HEIGHT * IDX_WIDTH;
    expect_rejected(b, 3, ST_TRUNCATED, "truncated", "36 bytes of data", "24 (12 missing)");
}

Test(idx, a_missing_file_is_not_found)
{
    struct nn_idx idx;
    struct st_error err;
    cr_expect_eq(nn_idx_read(&idx, temp_path("none"), 3, 0, &err), ST_NOT_FOUND);
    expect_detail("where", err.where, "none");
    expect_zeroed(&idx);
}

Test(idx, a_folder_or_a_named_pipe_is_not_a_file)
{
    struct nn_idx idx;
    struct st_error err;
    cr_expect_eq(nn_idx_read(&idx, temp_folder, 3, 0, &err), ST_BAD_FORMAT);
    expect_detail("what", err.what, "not a regular file");
    cr_assert_eq(mkfifo(temp_path("pipe"), 0600), 0);
    cr_expect_eq(nn_idx_read(&idx, temp_path("pipe"), 3, 0, &err), ST_BAD_FORMAT);
    expect_detail("where", err.where, "pipe");
}

Test(idx, a_wrong_magic_number_is_shown)
{
    struct blob b = idx_images();
    memcpy(b.bytes, "\x89PNG", 4);
    expect_rejected(b, 0, ST_BAD_FORMAT, "wrong magic", "00 00 08 03", "89 50 4e 47");
    b.bytes[0] = 0;
    expect_rejected(b, 0, ST_BAD_FORMAT, "wrong magic", "00 00 08 03", "00 50 4e 47");
}

Test(idx, an_element_type_other_than_bytes_is_rejected)
{
    struct blob b = idx_images();
    b.bytes[2] = 0x0d;
    expect_rejected(b, 0, ST_BAD_FORMAT, "wrong element type", "0x08", "0x0d");
}

Test(idx, labels_are_not_images)
{
    expect_rejected(idx_labels(), 0, ST_BAD_FORMAT, "number of dimensions", "3", "1");
    struct blob b = idx_images();
    struct nn_idx idx;
    struct st_error err;
    const char *path = temp_file("images", b.bytes, b.size);
    cr_expect_eq(nn_idx_read(&idx, path, 1, 0, &err), ST_BAD_FORMAT);
    expect_detail("hint", err.hint, "swapped");
}

Test(idx, sizes_of_nothing_or_beyond_reason_are_rejected)
{
    static const struct {
        uint32_t size[3];
        const char *what, *expected, *got;
    } bad[] = {
        {{0, 4, 3}, "number of items", "1 to 16777216", "0"},
        {{UINT32_MAX, 4, 3}, "number of items", "1 to 16777216", "4294967295"},
        {{(1 << 24) + 1, 4, 3}, "number of items", "1 to 16777216", "16777217"},
        {{6, 0, 3}, "size of an item", "1 to 4096", "0"},
        {{6, 4, 0}, "size of an item", "1 to 4096", "0"},
        {{6, 4097, 3}, "size of an item", "1 to 4096", "4097"},
        {{6, 4, 0x80000003}, "size of an item", "1 to 4096", "2147483651"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct blob b = idx_images();
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 4; k++)
                b.bytes[4 + 4 * d + k] = (uint8_t)(bad[i].size[d] >> (24 - 8 * k));
        expect_rejected(b, 0, ST_BAD_FORMAT, bad[i].what, bad[i].expected, bad[i].got);
    }
}

Test(idx, a_header_that_claims_a_quarter_petabyte_is_rejected_without_asking_for_memory)
{
    struct blob b = idx_images();
    memcpy(b.bytes + 4, "\1\0\0\0\0\0\x10\0\0\0\x10\0", 12);
    expect_rejected(b, 0, ST_TRUNCATED, "truncated", "281474976710656 bytes",
                    "72 (281474976710584 missing)");
    expect_rejected(gzip(b), 0, ST_TRUNCATED, "truncated", "281474976710656 bytes",
                    "72 (281474976710584 missing)");
}

Test(idx, a_file_cut_anywhere_is_rejected_with_the_missing_bytes)
{
    struct blob b = idx_images();
    size_t whole = b.size;
    for (b.size = 0; b.size < whole; b.size++) {
        size_t begin = b.size < 4 ? 0 : b.size < 16 ? 4 : 16;
        size_t end = b.size < 4 ? 4 : b.size < 16 ? 16 : whole;
        char expected[60], got[60];
        snprintf(expected, sizeof expected, "%zu bytes of %s", end - begin,
                 b.size < 4    ? "header"
                 : b.size < 16 ? "sizes"
                               : "data");
        snprintf(got, sizeof got, "%zu (%zu missing)", b.size - begin, end - b.size);
        expect_rejected(b, 0, ST_TRUNCATED, "file is truncated", expected, got);
    }
}

Test(idx, a_compressed_file_cut_anywhere_is_rejected_even_inside_its_checksum)
{
    struct blob b = gzip(idx_images());
    for (size_t whole = b.size, n = 2; n < whole; n++) {
        b.size = n;
        expect_rejected(b, 0, ST_TRUNCATED, "gzip stream is cut off", "", "");
    }
}

Test(idx, a_flipped_bit_in_a_compressed_file_is_found_by_its_checksum)
{
    struct blob good = gzip(idx_images());
    struct blob b = good;
    b.bytes[b.size - 8] ^= 1; /* the CRC */
    expect_rejected(b, 0, ST_BAD_FORMAT, "gzip stream is damaged", "", "incorrect data check");
    b = good;
    b.bytes[b.size - 4] ^= 1; /* the length */
    expect_rejected(b, 0, ST_BAD_FORMAT, "gzip stream is damaged", "", "incorrect length check");
    /* Anywhere after the gzip header, a flipped bit either is found or has no effect. */
    struct blob plain = idx_images();
    int found = 0;
    for (size_t i = 10; i < good.size; i++) {
        struct nn_idx idx;
        b = good;
        b.bytes[i] ^= 0x10;
        const char *path = temp_file("flipped", b.bytes, b.size);
        if (nn_idx_read(&idx, path, 3, 0, NULL))
            found++;
        else
            cr_expect_eq(memcmp(idx.data, plain.bytes + 16, plain.size - 16), 0, "byte %zu", i);
        nn_idx_free(&idx);
    }
    cr_expect(found >= (int)good.size - 11, "%d of %zu", found, good.size);
}

Test(idx, bytes_after_the_last_item_are_rejected)
{
    struct blob b = idx_images();
    b.size++;
    expect_rejected(b, 0, ST_BAD_FORMAT, "after the last item", "72 bytes", "more");
    expect_rejected(gzip(b), 0, ST_BAD_FORMAT, "after the last item", "72 bytes", "more");
}
