#include "nn/dataset.h"

#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "nn/tests/idx_sample.h"

#include <stdbool.h>

/* Tests that make their own files must ignore the user's CONVLAB_DATA. */
static void make(void)
{
    temp_folder_make();
    unsetenv("CONVLAB_DATA");
}

TestSuite(dataset, .init = make, .fini = temp_folder_remove);

#define IMAGES "t10k-images-idx3-ubyte"
#define LABELS "t10k-labels-idx1-ubyte"

static void put(const char *name, struct blob b)
{
    temp_file(name, b.bytes, b.size);
}

static void expect_zeroed(const struct nn_dataset *set)
{
    static const struct nn_dataset zero;
    cr_expect_eq(memcmp(set, &zero, sizeof zero), 0, "the set is not zeroed");
}

static void expect_rejected(const char *folder, enum st_code code, const char *what,
                            const char *where, const char *hint)
{
    struct nn_dataset set;
    struct st_error err;
    memset(&set, 0xff, sizeof set);
    cr_expect_eq(nn_dataset_load(&set, folder, NN_TEST, 0, &err), code, "%s: got code %d, \"%s\"",
                 what, err.code, err.what);
    expect_zeroed(&set);
    expect_detail("what", err.what, what);
    expect_detail("where", err.where, where);
    expect_detail("hint", err.hint, hint);
    cr_expect_eq(nn_dataset_load(&set, folder, NN_TEST, 0, NULL), code);
}

static void expect_loaded(const char *folder, size_t limit, size_t images)
{
    struct nn_dataset set;
    struct st_error err = {0};
    cr_assert_eq(nn_dataset_load(&set, folder, NN_TEST, limit, &err), ST_OK, "%s: %s", err.what,
                 err.where);
    cr_expect_eq(set.images, images);
    cr_expect_eq(set.height, IDX_HEIGHT);
    cr_expect_eq(set.width, IDX_WIDTH);
    cr_expect_eq(memcmp(set.pixels, idx_images().bytes + 16, images * IDX_HEIGHT * IDX_WIDTH), 0);
    cr_expect_eq(memcmp(set.labels, idx_labels().bytes + 8, images), 0);
    nn_dataset_free(&set);
    expect_zeroed(&set);
    nn_dataset_free(&set);
}

Test(dataset, compressed_and_plain_files_are_found_also_mixed)
{
    put(IMAGES, idx_images());
    put(LABELS, idx_labels());
    expect_loaded(temp_folder, 0, IDX_IMAGES);
    put(LABELS ".gz", gzip(idx_labels()));
    remove(temp_path(LABELS));
    expect_loaded(temp_folder, 0, IDX_IMAGES);
    expect_loaded(temp_folder, 4, 4);
    expect_loaded(temp_folder, 1000, IDX_IMAGES);
}

Test(dataset, the_variable_names_the_folder_unless_it_is_empty)
{
    const char *debian = nn_dataset_folder();
    cr_expect_str_eq(debian, "/usr/share/datasets/fashion-mnist");
    setenv("CONVLAB_DATA", temp_folder, 1);
    cr_expect_str_eq(nn_dataset_folder(), temp_folder);
    put(IMAGES, idx_images());
    put(LABELS, idx_labels());
    expect_loaded(NULL, 0, IDX_IMAGES);
    setenv("CONVLAB_DATA", "", 1);
    cr_expect_str_eq(nn_dataset_folder(), debian);
}

Test(dataset, a_split_has_its_own_files)
{
    put("train-images-idx3-ubyte.gz", gzip(idx_images()));
    put("train-labels-idx1-ubyte.gz", gzip(idx_labels()));
    struct nn_dataset set;
    struct st_error err;
    cr_expect_eq(nn_dataset_load(&set, temp_folder, NN_TRAIN, 0, &err), ST_OK);
    nn_dataset_free(&set);
    expect_rejected(temp_folder, ST_NOT_FOUND, "missing", IMAGES ".gz", "dataset-fashion-mnist");
}

Test(dataset, a_missing_file_says_which_and_how_to_install_it)
{
    expect_rejected(temp_folder, ST_NOT_FOUND, "missing", IMAGES ".gz",
                    "apt-get install dataset-fashion-mnist");
    put(IMAGES, idx_images());
    expect_rejected(temp_folder, ST_NOT_FOUND, "missing", LABELS ".gz", "CONVLAB_DATA");
}

Test(dataset, a_folder_that_is_none_is_reported_as_such)
{
    expect_rejected(temp_path("none"), ST_NOT_FOUND, "folder does not exist", "none", "apt-get");
    temp_file("file", "", 0);
    expect_rejected(temp_path("file"), ST_BAD_FORMAT, "is not a folder", "file", "apt-get");
    setenv("CONVLAB_DATA", temp_path("none"), 1);
    expect_rejected(NULL, ST_NOT_FOUND, "CONVLAB_DATA does not exist", "none", "four idx files");
    setenv("CONVLAB_DATA", temp_path("file"), 1);
    expect_rejected(NULL, ST_BAD_FORMAT, "CONVLAB_DATA is not a folder", "file", "four idx files");
    setenv("CONVLAB_DATA", temp_path("file/below"), 1);
    expect_rejected(NULL, ST_IO, "CONVLAB_DATA: Not a directory", "below", "four idx files");
}

Test(dataset, a_folder_with_a_name_too_long_is_refused)
{
    static char folder[PATH_MAX];
    memset(folder, 'a', sizeof folder - 1);
    expect_rejected(folder, ST_IO, "too long", "aaaa", "apt-get");
    for (size_t i = 0; i < sizeof folder - 1; i += 2)
        memcpy(folder + i, "./", 2); /* exists, but is too long for a file name to be appended */
    folder[sizeof folder - 3] = '\0';
    expect_rejected(folder, ST_TOO_LARGE, "too long", "./", "");
}

Test(dataset, a_damaged_file_is_reported_with_its_path)
{
    struct blob images = idx_images(), labels = idx_labels();
    put(IMAGES, images);
    put(LABELS, images);
    expect_rejected(temp_folder, ST_BAD_FORMAT, "number of dimensions", LABELS, "swapped");
    images.size--;
    put(IMAGES, images);
    put(LABELS, labels);
    expect_rejected(temp_folder, ST_TRUNCATED, "truncated", IMAGES, "again");
}

Test(dataset, images_and_labels_must_be_as_many_even_with_a_limit)
{
    put(IMAGES, idx_images());
    put(LABELS, idx_make(1, (uint32_t[]){IDX_IMAGES + 1}, 10));
    expect_rejected(temp_folder, ST_BAD_FORMAT, "differ in number", LABELS, "");
    struct nn_dataset set;
    struct st_error err;
    cr_expect_eq(nn_dataset_load(&set, temp_folder, NN_TEST, 2, &err), ST_BAD_FORMAT);
    expect_detail("expected", err.expected, "6 labels");
    expect_detail("got", err.got, "7");
}

Test(dataset, a_label_that_is_not_a_class_is_rejected_with_its_number)
{
    struct blob labels = idx_labels();
    labels.bytes[8 + 3] = 9;
    put(IMAGES, idx_images());
    put(LABELS, labels);
    struct nn_dataset set;
    struct st_error err;
    cr_assert_eq(nn_dataset_load(&set, temp_folder, NN_TEST, 0, &err), ST_OK);
    nn_dataset_free(&set);
    labels.bytes[8 + 3] = 10;
    put(LABELS, labels);
    expect_rejected(temp_folder, ST_BAD_FORMAT, "not a class", LABELS ", label 3", "");
    cr_expect_eq(nn_dataset_load(&set, temp_folder, NN_TEST, 0, &err), ST_BAD_FORMAT);
    cr_expect_str_eq(err.expected, "0 to 9");
    cr_expect_str_eq(err.got, "10");
    /* The reader ignores images beyond the limit. */
    cr_assert_eq(nn_dataset_load(&set, temp_folder, NN_TEST, 3, &err), ST_OK);
    nn_dataset_free(&set);
}

/* ---- the real data set ----------------------------------------------------------------------- */

static bool installed(void)
{
    return access(nn_dataset_folder(), F_OK) == 0;
}

static void expect_real(enum nn_split split, size_t images)
{
    struct nn_dataset set;
    struct st_error err;
    if (!installed())
        cr_skip_test("the data set is not installed");
    cr_assert_eq(nn_dataset_load(&set, NULL, split, 0, &err), ST_OK, "%s: %s", err.what, err.where);
    cr_expect_eq(set.images, images);
    cr_expect_eq(set.height, 28);
    cr_expect_eq(set.width, 28);
    size_t count[NN_CLASSES] = {0};
    for (size_t i = 0; i < set.images; i++)
        count[set.labels[i]]++;
    for (int c = 0; c < NN_CLASSES; c++)
        cr_expect_eq(count[c], images / NN_CLASSES, "class %d: %zu", c, count[c]);
    nn_dataset_free(&set);
}

Test(real_dataset, has_10000_test_images_1000_of_each_class)
{
    expect_real(NN_TEST, 10000);
}

Test(real_dataset, has_60000_training_images_6000_of_each_class)
{
    expect_real(NN_TRAIN, 60000);
}

Test(real_dataset, its_first_test_image_is_an_ankle_boot)
{
    struct nn_dataset set;
    struct st_error err;
    if (!installed())
        cr_skip_test("the data set is not installed");
    cr_assert_eq(nn_dataset_load(&set, NULL, NN_TEST, 1, &err), ST_OK, "%s", err.what);
    cr_expect_eq(set.images, 1);
    cr_expect_eq(set.labels[0], 9);
    unsigned long sum = 0;
    for (int i = 0; i < 28 * 28; i++)
        sum += set.pixels[i];
    cr_expect_eq(sum, 33456, "%lu", sum);
    nn_dataset_free(&set);
}
