#include "nn/safetensors.h"

#include "base/rng.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"

#include <stdint.h>
#include <string.h>

TestSuite(safetensors, .init = temp_folder_make, .fini = temp_folder_remove);

/* A handmade file: a header and some bytes of data. */
struct sample {
    char bytes[4096];
    size_t size;
};

static struct sample sample_make(const char *header, size_t data_bytes)
{
    struct sample s = {.size = 8 + strlen(header) + data_bytes};
    uint64_t n = strlen(header);
    cr_assert(s.size <= sizeof s.bytes);
    memcpy(s.bytes, &n, 8);
    memcpy(s.bytes + 8, header, n);
    for (size_t i = 0; i < data_bytes; i++)
        s.bytes[8 + n + i] = (char)i;
    return s;
}

static void expect_zeroed(const struct nn_safetensors *file)
{
    static const struct nn_safetensors zero;
    cr_expect_eq(memcmp(file, &zero, sizeof zero), 0, "the file is not zeroed");
}

static void expect_rejected(const struct sample *s, enum st_code code, const char *what,
                            const char *where, const char *expected, const char *got)
{
    const char *path = temp_file("bad.safetensors", s->bytes, s->size);
    struct nn_safetensors file;
    struct st_error err;
    memset(&file, 0xff, sizeof file);
    cr_expect_eq(nn_safetensors_read(&file, path, &err), code, "%s: got code %d, \"%s\"", what,
                 err.code, err.what);
    expect_zeroed(&file);
    expect_detail("what", err.what, what);
    expect_detail("where", err.where, "bad.safetensors");
    expect_detail("where", err.where, where);
    expect_detail("expected", err.expected, expected);
    expect_detail("got", err.got, got);
    cr_expect(err.hint[0], "no hint");
    cr_expect_eq(nn_safetensors_read(&file, path, NULL), code);
}

/* A header, and the report that rejects it. */
struct bad_header {
    const char *header;
    size_t data_bytes;
    const char *what, *where, *expected, *got;
};

static void expect_headers_rejected(const struct bad_header *bad, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sample s = sample_make(bad[i].header, bad[i].data_bytes);
        expect_rejected(&s, ST_BAD_FORMAT, bad[i].what, bad[i].where, bad[i].expected, bad[i].got);
    }
}
#define EXPECT_HEADERS_REJECTED(bad) expect_headers_rejected(bad, sizeof(bad) / sizeof *(bad))

/* A header with one tensor "t", usually of two floats, with this dtype, shape and offsets. */
#define T(dtype, shape, offsets)                                                                   \
    "{\"t\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define GOOD T("\"F32\"", "[2]", "[0,8]")

static void expect_accepted(const char *header, size_t data_bytes, size_t tensors)
{
    struct sample s = sample_make(header, data_bytes);
    struct nn_safetensors file;
    struct st_error err = {0};
    cr_expect_eq(nn_safetensors_parse(&file, "good", s.bytes, s.size, &err), ST_OK, "%s: %s",
                 header, err.what);
    cr_expect_eq(file.tensors, tensors);
    nn_safetensors_free(&file);
    expect_zeroed(&file);
}

/* ---- writing and reading back ---------------------------------------------------------------- */

Test(safetensors, what_is_written_reads_back_bit_for_bit)
{
    static float data[3 * 5 * 7 + 1 + 11 + 2 * 3];
    struct rng r = rng_make(1, 0);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        uint32_t bits = (uint32_t)rng_u64(&r); /* includes NaN and infinities */
        memcpy(&data[i], &bits, 4);
    }
    const struct nn_tensor tensor[] = {
        {"conv1.weight", 3, {3, 5, 7}, 105, data},
        {"scalar", 0, {0}, 1, data + 105},
        {"a \"quoted\"\\\t\xc3\xa9 name", 1, {11}, 11, data + 106},
        {"four", 4, {1, 2, 1, 3}, 6, data + 117},
        {"empty", 2, {3, 0}, 0, data},
    };
    const struct nn_metadata metadata[] = {{"image", "70x70"}, {"a\n\"key", "va\\lue"}, {"", ""}};
    struct st_error err;
    cr_assert_eq(nn_safetensors_write(temp_path("m"), tensor, 5, metadata, 3, &err), ST_OK, "%s",
                 err.what);
    struct nn_safetensors file;
    cr_assert_eq(nn_safetensors_read(&file, temp_path("m"), &err), ST_OK, "%s", err.what);
    cr_assert_eq(file.tensors, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct nn_tensor *t = nn_safetensors_find(&file, tensor[i].name);
        cr_assert(t, "%s", tensor[i].name);
        cr_expect_eq(t, &file.tensor[i], "not in the order of the data");
        cr_expect_eq(t->dims, tensor[i].dims);
        cr_expect_eq(memcmp(t->shape, tensor[i].shape, (size_t)t->dims * sizeof *t->shape), 0);
        cr_expect_eq(t->elems, tensor[i].elems);
        cr_expect(t->data && (uintptr_t)t->data % 64 == 0, "not aligned");
        cr_expect_eq(memcmp(t->data, tensor[i].data, t->elems * sizeof(float)), 0);
    }
    cr_assert_eq(file.metadata_pairs, 3);
    for (size_t i = 0; i < 3; i++)
        cr_expect_str_eq(nn_safetensors_metadata(&file, metadata[i].key), metadata[i].value);
    cr_expect_null(nn_safetensors_find(&file, "conv2.weight"));
    cr_expect_null(nn_safetensors_metadata(&file, "none"));
    nn_safetensors_free(&file);
    expect_zeroed(&file);
    nn_safetensors_free(&file);
}

/* Reads a whole file into a buffer; @return its size. */
static size_t slurp(const char *path, unsigned char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f);
    size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

Test(safetensors, the_same_tensors_make_the_same_bytes_with_data_at_a_multiple_of_64)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    struct st_error err;
    for (size_t name = 1; name < 64; name++) { /* every remainder of the header's length */
        struct nn_tensor t = {.dims = 1, .shape = {6}, .elems = 6, .data = data};
        memset(t.name, 'n', name);
        unsigned char first[1024], second[1024];
        cr_assert_eq(nn_safetensors_write(temp_path("1"), &t, 1, NULL, 0, &err), ST_OK);
        cr_assert_eq(nn_safetensors_write(temp_path("2"), &t, 1, NULL, 0, &err), ST_OK);
        size_t n = slurp(temp_path("1"), first, sizeof first);
        cr_assert_eq(slurp(temp_path("2"), second, sizeof second), n);
        cr_expect_eq(memcmp(first, second, n), 0);
        cr_expect_eq(n % 64, sizeof data);
        cr_expect_eq(memcmp(first + n - sizeof data, data, sizeof data), 0);
        struct nn_safetensors file;
        cr_expect_eq(nn_safetensors_read(&file, temp_path("1"), &err), ST_OK);
        nn_safetensors_free(&file);
    }
}

Test(safetensors, the_bytes_are_those_of_the_format)
{
    float data[2] = {1, -2};
    struct nn_tensor t = {"t", 1, {2}, 2, data};
    struct st_error err;
    cr_assert_eq(nn_safetensors_write(temp_path("f"), &t, 1, NULL, 0, &err), ST_OK);
    unsigned char bytes[256];
    size_t n = slurp(temp_path("f"), bytes, sizeof bytes);
    cr_expect_eq(n, 64 + 8);
    cr_expect_eq(memcmp(bytes, "\x38\0\0\0\0\0\0\0" GOOD "  ", 64), 0);
    cr_expect_eq(memcmp(bytes + 64, "\0\0\x80\x3f\0\0\0\xc0", 8), 0);
}

Test(safetensors, a_file_that_cannot_be_written_is_reported_and_not_half_written)
{
    float data[1] = {1};
    struct nn_tensor t = {"t", 1, {1}, 1, data};
    struct st_error err;
    cr_expect_eq(nn_safetensors_write(temp_path("none/f"), &t, 1, NULL, 0, &err), ST_NOT_FOUND);
    expect_detail("where", err.where, "none/f");
}

Test(safetensors, more_tensors_than_a_header_may_name_are_not_written)
{
    enum { MANY = 3000 };
    struct nn_tensor *tensor = calloc(MANY, sizeof *tensor);
    for (int i = 0; i < MANY; i++) {
        memset(tensor[i].name, '\x01', 59); /* each byte takes six bytes when escaped */
        snprintf(tensor[i].name + 59, 5, "%04d", i);
        tensor[i].dims = 1; /* a tensor without elements */
    }
    struct st_error err;
    cr_expect_eq(nn_safetensors_write(temp_path("f"), tensor, MANY, NULL, 0, &err), ST_TOO_LARGE);
    cr_expect_neq(access(temp_path("f"), F_OK), 0);
    free(tensor);
}

/* ---- valid files ----------------------------------------------------------------------------- */

Test(safetensors, any_legal_header_is_accepted)
{
    expect_accepted("{}", 0, 0);
    expect_accepted(GOOD, 8, 1);
    expect_accepted(GOOD "      ", 8, 1);
    expect_accepted("{\n \"t\" : {\"data_offsets\":[0, 4],\t\"shape\":[],\"dtype\":\"F32\"} }\r\n",
                    4, 1);
    expect_accepted("{\"__metadata__\":{}}", 0, 0);
    expect_accepted("{\"__metadata__\":{\"a\":\"\"}}", 0, 0);
    expect_accepted(T("\"F32\"", "[0,9007199254740991]", "[0,0]"), 0, 1);
    expect_accepted("{\"\\\\u0000\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
                    1);
}

Test(safetensors, tensors_come_in_the_order_of_their_data_not_of_the_header)
{
    struct sample s =
        sample_make("{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]},"
                    "\"z\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]},"
                    "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                    12);
    struct nn_safetensors file;
    struct st_error err = {0};
    cr_assert_eq(nn_safetensors_parse(&file, "s", s.bytes, s.size, &err), ST_OK, "%s", err.what);
    cr_expect_str_eq(file.tensor[0].name, "a");
    cr_expect_str_eq(file.tensor[1].name, "z");
    cr_expect_str_eq(file.tensor[2].name, "b");
    cr_expect_eq(((unsigned char *)file.tensor[2].data)[0], 4, "the data of another tensor");
    nn_safetensors_free(&file);
}

/* ---- wrong headers --------------------------------------------------------------------------- */

Test(safetensors, a_missing_file_is_not_found)
{
    struct nn_safetensors file;
    struct st_error err;
    cr_expect_eq(nn_safetensors_read(&file, temp_path("none"), &err), ST_NOT_FOUND);
    expect_detail("where", err.where, "none");
    expect_zeroed(&file);
}

Test(safetensors, a_file_cut_anywhere_is_rejected)
{
    struct sample s = sample_make(GOOD, 8);
    size_t whole = s.size, header_end = 8 + strlen(GOOD);
    for (s.size = 0; s.size < whole; s.size++) {
        char got[40];
        if (s.size < 8) {
            snprintf(got, sizeof got, "%zu", s.size);
            expect_rejected(&s, ST_TRUNCATED, "too short for the length", "", "at least 8 bytes",
                            got);
        } else if (s.size < header_end) {
            snprintf(got, sizeof got, "%zu", s.size - 8);
            expect_rejected(&s, ST_TRUNCATED, "inside its header", "", "54 bytes", got);
        } else {
            snprintf(got, sizeof got, "%zu", s.size - header_end);
            expect_rejected(&s, ST_TRUNCATED, "past the end", "tensor 't'", "8 bytes", got);
        }
    }
}

Test(safetensors, a_header_length_that_no_header_has_is_rejected)
{
    static const uint64_t lengths[] = {NN_MAX_HEADER_BYTES + 1, UINT32_MAX, INT64_MAX, UINT64_MAX,
                                       UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct sample s = sample_make(GOOD, 8);
        char got[40];
        snprintf(got, sizeof got, "%llu", (unsigned long long)lengths[i]);
        memcpy(s.bytes, &lengths[i], 8);
        expect_rejected(&s, ST_BAD_FORMAT, "header is too long", "", "at most 1048576", got);
    }
}

Test(safetensors, a_header_that_is_not_one_json_object_is_rejected)
{
    static const struct bad_header bad[] = {
        {"", 0, "does not begin with '{'", "byte 8", "", ""},
        {" {}", 0, "does not begin with '{'", "byte 8", "", ""},
        {"[]", 0, "does not begin with '{'", "byte 8", "", ""},
        {"\xef\xbb\xbf{}", 0, "does not begin with '{'", "byte 8", "", ""},
        {"{", 0, "not JSON", "byte ", "", ""},
        {"{\"t\"}", 0, "not JSON", "byte ", "", ""},
        {"{\"t\":nul}", 0, "not JSON", "byte 13", "", ""},
        {"{\"t\":{},}", 0, "not JSON", "byte ", "", ""},
        {"{'t':{}}", 0, "not JSON", "byte ", "", ""},
        {"{}{}", 0, "text after", "byte 10", "", ""},
        {"{}  x", 0, "text after", "byte 12", "", ""},
        {"{\"a\x01\":{}}", 0, "control character", "byte 11", "", ""},
        {"{\"a\\u0000b\":{}}", 0, "escaped NUL", "byte 11", "", ""},
    };
    EXPECT_HEADERS_REJECTED(bad);
    struct sample s = sample_make("{}xx", 0);
    s.bytes[10] = '\0';
    expect_rejected(&s, ST_BAD_FORMAT, "control character", "byte 10", "", "");
}

Test(safetensors, json_nested_without_end_is_rejected_without_overflowing_the_stack)
{
    char header[4000] = "{\"a\":";
    memset(header + 5, '[', sizeof header - 6);
    struct sample s = sample_make(header, 0);
    expect_rejected(&s, ST_BAD_FORMAT, "not JSON", "byte ", "", "");
}

Test(safetensors, an_entry_with_wrong_keys_is_rejected)
{
#define D "\"dtype\":\"F32\""
#define S "\"shape\":[2]"
#define O "\"data_offsets\":[0,8]"
    static const struct bad_header bad[] = {
        {"{\"t\":[]}", 0, "not an object", "tensor 't'", "", ""},
        {"{\"t\":1}", 0, "not an object", "tensor 't'", "", ""},
        {"{\"t\":{}}", 0, "missing key", "tensor 't'", "dtype", ""},
        {"{\"t\":{" D "," O "}}", 8, "missing key", "tensor 't'", "shape", ""},
        {"{\"t\":{" D "," S "}}", 8, "missing key", "tensor 't'", "data_offsets", ""},
        {"{\"t\":{" D "," S "," O "," D "}}", 8, "duplicate key", "tensor 't'", "once", "'dtype'"},
        {"{\"t\":{" D "," S "," O ",\"x\":1}}", 8, "unknown key", "tensor 't'", "dtype", "'x'"},
        {"{\"t\":{" D "," S "," O ",\"Shape\":1}}", 8, "unknown key", "", "", "'Shape'"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, a_name_that_is_empty_too_long_or_doubled_is_rejected)
{
#define N16                  "nnnnnnnnnnnnnnnn"
#define N63                  N16 N16 N16 "nnnnnnnnnnnnnnn"
#define ENTRY(name, offsets) "\"" name "\":{" D ",\"shape\":[1],\"data_offsets\":" offsets "}"
    static const struct bad_header bad[] = {
        {"{" ENTRY("", "[0,4]") "}", 4, "empty name", "tensor ''", "", ""},
        {"{" ENTRY(N63 "n", "[0,4]") "}", 4, "name is too long", "nnn", "at most 63 bytes", "64"},
        {"{" ENTRY("a", "[0,4]") "," ENTRY("b", "[4,8]") "," ENTRY("a", "[8,12]") "}", 12,
         "duplicate name", "tensor 'a'", "", ""},
        {"{" ENTRY("a", "[0,4]") "," ENTRY("\\u0061", "[0,4]") "}", 4, "duplicate name", "'a'", "",
         ""},
    };
    EXPECT_HEADERS_REJECTED(bad);
    expect_accepted("{" ENTRY(N63, "[0,4]") "}", 4, 1);
}

Test(safetensors, a_dtype_other_than_f32_is_rejected_by_its_name)
{
    static const struct bad_header bad[] = {
        {T("\"F16\"", "[4]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", "F16"},
        {T("\"BF16\"", "[4]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", "BF16"},
        {T("\"f32\"", "[2]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", "f32"},
        {T("\"\"", "[2]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", ""},
        {T("32", "[2]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", "not a string"},
        {T("null", "[2]", "[0,8]"), 8, "wrong dtype", "tensor 't'", "F32", "not a string"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, a_shape_that_is_not_a_short_list_of_sizes_is_rejected)
{
    static const struct bad_header bad[] = {
        {T("\"F32\"", "2", "[0,8]"), 8, "not a list", "tensor 't'", "", ""},
        {T("\"F32\"", "{\"a\":2}", "[0,8]"), 8, "not a list", "tensor 't'", "", ""},
        {T("\"F32\"", "[[2]]", "[0,8]"), 8, "not a size", "'t'", "whole", "not a num"},
        {T("\"F32\"", "[\"2\"]", "[0,8]"), 8, "not a size", "'t'", "whole", ""},
        {T("\"F32\"", "[-2]", "[0,8]"), 8, "not a size", "'t'", "whole", "-2"},
        {T("\"F32\"", "[1.5]", "[0,6]"), 6, "not a size", "'t'", "whole", "1.5"},
        {T("\"F32\"", "[true,2]", "[0,8]"), 8, "not a size", "'t'", "whole", ""},
        {T("\"F32\"", "[9007199254740992]", "[0,8]"), 8, "not a size", "", "2^53 - 1", "9007"},
        {T("\"F32\"", "[1e400]", "[0,8]"), 8, "not a size", "", "2^53 - 1", "inf"},
        {T("\"F32\"", "[1,1,1,1,2]", "[0,8]"), 8, "too many dimensions", "'t'", "at most 4", "5"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, a_shape_whose_product_overflows_is_rejected)
{
    static const struct bad_header bad[] = {
        /* 2^64 elements, which wrap to 0; 2^62 elements, whose bytes wrap to 0; and a large number
         * that does not wrap. */
        {T("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, "is too large", "tensor 't'", "", ""},
        {T("\"F32\"", "[4294967296,1073741824]", "[0,0]"), 0, "is too large", "tensor 't'", "", ""},
        {T("\"F32\"", "[9007199254740991,9007199254740991,0]", "[0,0]"), 0, "is too large", "", "",
         ""},
        {T("\"F32\"", "[4611686018427]", "[0,8]"), 8, "do not fit the shape", "", "4611686018427",
         "8"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, offsets_that_are_not_two_growing_numbers_fitting_the_shape_are_rejected)
{
    static const struct bad_header bad[] = {
        {T("\"F32\"", "[2]", "8"), 8, "list of two", "tensor 't'", "", ""},
        {T("\"F32\"", "[2]", "[]"), 8, "list of two", "tensor 't'", "", ""},
        {T("\"F32\"", "[2]", "[0]"), 8, "list of two", "tensor 't'", "", ""},
        {T("\"F32\"", "[2]", "[0,8,8]"), 8, "list of two", "tensor 't'", "", ""},
        {T("\"F32\"", "[2]", "{\"a\":0,\"b\":8}"), 8, "list of two", "tensor 't'", "", ""},
        {T("\"F32\"", "[2]", "[\"0\",8]"), 8, "not an offset", "'t'", "whole", "not a number"},
        {T("\"F32\"", "[2]", "[0,8.5]"), 8, "not an offset", "'t'", "whole", "8.5"},
        {T("\"F32\"", "[2]", "[-8,0]"), 8, "not an offset", "'t'", "whole", "-8"},
        {T("\"F32\"", "[2]", "[18446744073709551608,0]"), 8, "not an offset", "", "2^53", "1"},
        {T("\"F32\"", "[2]", "[8,0]"), 8, "end before they begin", "'t'", "begin <= end", "[8, 0]"},
        {T("\"F32\"", "[2]", "[0,4]"), 8, "do not fit the shape", "'t'", "8 bytes", "4"},
        {T("\"F32\"", "[3]", "[0,8]"), 8, "do not fit the shape", "'t'", "12 bytes", "8"},
        {T("\"F32\"", "[]", "[0,0]"), 0, "do not fit the shape", "'t'", "4 bytes", "0"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, data_that_overlap_leave_gaps_or_bytes_over_are_rejected)
{
    static const struct bad_header bad[] = {
        {"{" ENTRY("a", "[0,4]") "," ENTRY("b", "[0,4]") "}", 4, "overlap", "tensor 'b'", "from 4",
         "0"},
        {"{" ENTRY("a", "[0,4]") "," ENTRY("b", "[2,6]") "}", 6, "overlap", "tensor 'b'", "from 4",
         "2"},
        {"{" ENTRY("a", "[0,4]") "," ENTRY("b", "[8,12]") "}", 12, "gap", "tensor 'b'", "from 4",
         "8"},
        {"{" ENTRY("a", "[4,8]") "}", 8, "gap", "tensor 'a'", "from 0", "4"},
        {"{\"a\":{" D ",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"b\":{" D ",\"shape\":[0],\"data_offsets\":[4,4]}}",
         8, "overlap", "tensor 'b'", "from 8", "4"},
        {GOOD, 9, "after the last tensor", "", "8 bytes", "9"},
        {"{}", 1, "after the last tensor", "", "0 bytes", "1"},
    };
    EXPECT_HEADERS_REJECTED(bad);
}

Test(safetensors, metadata_other_than_short_texts_are_rejected)
{
#define M(text) "{\"__metadata__\":" text "}"
    static const struct bad_header bad[] = {
        {M("[]"), 0, "not an object", "", "", ""},
        {M("{\"a\":1}"), 0, "not a string", "", "", "'a'"},
        {M("{\"a\":{\"b\":\"c\"}}"), 0, "not a string", "", "", "'a'"},
        {M("{\"a\":\"1\",\"b\":\"2\",\"a\":\"3\"}"), 0, "duplicate key", "", "", "'a'"},
        {M("{\"" N63 "n\":\"\"}"), 0, "too long", "", "63", "'nnn"},
        {M("{\"a\":\"" N63 N63 N63 N63 "nnnn\"}"), 0, "too long", "", "255", "'a'"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "duplicate __metadata__", "", "", ""},
    };
    EXPECT_HEADERS_REJECTED(bad);
    expect_accepted(M("{\"" N63 "\":\"" N63 N63 N63 N63 "nnn\"}"), 0, 0);
}
