/* Reads the fuzzer's corpus and many small changes of it. Unlike in the fuzzer, coverage does not
 * guide the changes, but they work with every compiler and are equal in every run. CONVLAB_SEED=N
 * tries others. */
#include "nn/tests/fuzz/fuzz_readers.h"

#include "base/files.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <dirent.h>

enum { ROUNDS = 20000, MAX_INPUTS = 64, ROOM = 4096 };

struct input {
    char name[256];
    uint8_t bytes[ROOM];
    size_t size;
};

static struct input corpus[MAX_INPUTS];
static int inputs;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->name, ((const struct input *)b)->name);
}

static void load_corpus(void)
{
    char folder[PATH_MAX], path[PATH_MAX];
    cr_assert(path_format(folder, sizeof folder, "%.*sfuzz/corpus",
                          (int)(sizeof __FILE__ - sizeof "test_fuzz.c"), __FILE__));
    DIR *dir = opendir(folder);
    cr_assert(dir, "no %s: run the tests in the top folder", folder);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        struct st_error err;
        char *data;
        cr_assert(inputs < MAX_INPUTS);
        struct input *in = &corpus[inputs++];
        cr_assert(path_format(path, sizeof path, "%s/%s", folder, e->d_name));
        cr_assert_eq(file_read(path, ROOM, &data, &in->size, &err), ST_OK, "%s: %s", path,
                     err.what);
        memcpy(in->bytes, data, in->size);
        snprintf(in->name, sizeof in->name, "%s", e->d_name);
        free(data);
    }
    closedir(dir);
    qsort(corpus, (size_t)inputs, sizeof *corpus, by_name); /* readdir() has no fixed order */
}

TestSuite(fuzz, .init = load_corpus, .timeout = 120);

static const struct input *find(const char *name)
{
    for (int i = 0; i < inputs; i++)
        if (strcmp(corpus[i].name, name) == 0)
            return &corpus[i];
    cr_assert(0, "%s is not in the corpus", name);
    return NULL;
}

static struct rng seeded(void)
{
    const char *text = getenv("CONVLAB_SEED");
    unsigned long long seed = text ? strtoull(text, NULL, 10) : 1;
    fprintf(stderr, "fuzz: seed %llu, %d rounds\n", seed, ROUNDS);
    return rng_make(seed, 0);
}

static int pick(struct rng *r, size_t n)
{
    return rng_range(r, 0, (int)n - 1);
}

/* Replaces @p drop bytes at @p at by @p n others. */
static void splice(struct input *in, size_t at, size_t drop, const void *bytes, size_t n)
{
    if (in->size - drop + n > ROOM)
        return;
    memmove(in->bytes + at + n, in->bytes + at + drop, in->size - at - drop);
    memcpy(in->bytes + at, bytes, n);
    in->size += n - drop;
}

/* Makes one random change: flips a bit, changes a byte or the length, or inserts a meaningful
 * token. */
static void change(struct input *in, struct rng *r)
{
    static const char *const token[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "null",
                                        "-1",
                                        "1e99",
                                        "0.5",
                                        "8",
                                        "4294967296",
                                        "9007199254740993",
                                        "\"F32\"",
                                        "[]",
                                        "[0,8]",
                                        "\\u0000",
                                        "\xff\xff\xff\xff",
                                        "\"shape\":[2],",
                                        "\"a\":{},",
                                        " ",
                                        "00"};
    size_t at = in->size ? (size_t)pick(r, in->size) : 0;
    size_t left = in->size - at;
    switch (pick(r, 6)) {
    case 0:
        if (left)
            in->bytes[at] ^= (uint8_t)(1 << pick(r, 8));
        break;
    case 1:
        if (left)
            in->bytes[at] = (uint8_t)rng_u64(r);
        break;
    case 2:
        in->size = at;
        break;
    case 3:
        splice(in, at, (size_t)pick(r, (left < 8 ? left : 8) + 1), "", 0);
        break;
    case 4: {
        const char *t = token[pick(r, sizeof token / sizeof *token)];
        splice(in, at, (size_t)pick(r, (left < 8 ? left : 8) + 1), t, strlen(t));
        break;
    }
    case 5: { /* a piece of another input */
        const struct input *other = &corpus[pick(r, (size_t)inputs)];
        size_t from = (size_t)pick(r, other->size), n = other->size - from;
        splice(in, at, left < n ? left : n, other->bytes + from, n < 16 ? n : 16);
        break;
    }
    }
}

/* Most changes make the header's length wrong: corrects it, so that the reader reaches the JSON.
 */
static void mend_length(struct input *in, size_t data_bytes)
{
    if (in->size < 8 + data_bytes)
        return;
    uint64_t n = in->size - 8 - data_bytes;
    memcpy(in->bytes, &n, 8);
}

Test(fuzz, the_corpus_has_inputs_that_are_accepted_and_inputs_that_are_rejected)
{
    static const char *const good_tensors[] = {"two-tensors.safetensors", "nothing.safetensors",
                                               "scalar-and-empty.safetensors",
                                               "escapes.safetensors"};
    static const char *const good_idx[] = {"images.idx", "images.idx.gz", "labels.idx",
                                           "two-members.idx.gz", "zeros.idx.gz"};
    int accepted = 0;
    for (int i = 0; i < inputs; i++)
        accepted += fuzz_safetensors(corpus[i].bytes, corpus[i].size) +
                    fuzz_idx(corpus[i].bytes, corpus[i].size);
    for (size_t i = 0; i < sizeof good_tensors / sizeof *good_tensors; i++) {
        const struct input *in = find(good_tensors[i]);
        cr_expect(fuzz_safetensors(in->bytes, in->size), "%s", in->name);
    }
    for (size_t i = 0; i < sizeof good_idx / sizeof *good_idx; i++) {
        const struct input *in = find(good_idx[i]);
        cr_expect(fuzz_idx(in->bytes, in->size), "%s", in->name);
    }
    cr_expect_eq(accepted, 9, "%d accepted", accepted);
    cr_expect(inputs > accepted);
}

Test(fuzz, no_change_of_a_safetensors_file_breaks_its_reader)
{
    struct rng r = seeded();
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct input in = corpus[pick(&r, (size_t)inputs)];
        uint64_t header = 0;
        if (in.size >= 8)
            memcpy(&header, in.bytes, 8);
        for (int changes = rng_range(&r, 1, 4); changes > 0; changes--)
            change(&in, &r);
        if (header <= in.size && pick(&r, 4))
            mend_length(&in, (size_t)pick(&r, 4) * 8);
        uint8_t *exact = malloc(in.size); /* of exact size: the sanitizer finds reads past the
                                             end */
        memcpy(exact, in.bytes, in.size);
        accepted += fuzz_safetensors(exact, in.size);
        free(exact);
    }
    cr_expect(accepted > 0 && accepted < ROUNDS / 2, "%d accepted", accepted);
}

Test(fuzz, no_change_of_an_idx_file_breaks_its_reader)
{
    struct rng r = seeded();
    int accepted = 0;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct input in = corpus[pick(&r, (size_t)inputs)];
        for (int changes = rng_range(&r, 1, 4); changes > 0; changes--)
            change(&in, &r);
        accepted += fuzz_idx(in.bytes, in.size);
    }
    cr_expect(accepted > 0 && accepted < ROUNDS / 4, "%d accepted", accepted);
}
