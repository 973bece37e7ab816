/* Tests that the committed models reach the accuracies in data/models/expected.tsv. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/tsv.h"
#include "nn/dataset.h"
#include "nn/network.h"
#include "nn/oracle.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* With sanitizers the convolutions take ten times as long, so the tests use fewer images. */
#if defined(__SANITIZE_ADDRESS__)
enum { IMAGES = 1000 };
#else
enum { IMAGES = 10000 };
#endif
enum { CHUNK = 1000, MODELS = 4, SIZES = 3, MOST_BYTES = 1000000 };

static const char *const names[MODELS] = {"one-layer-high", "one-layer-low", "two-layer",
                                          "two-layer-86"};
static const double least[MODELS] = {0.88, 0.55, 0.88, 0.87}, most[MODELS] = {1, 0.70, 1, 1};
static const size_t sizes[SIZES] = {100, 1000, 10000};

static const char *models_folder(void)
{
    static char folder[PATH_MAX];
    struct st_error err = {0};
    const char *root = checkout_root(&err);
    cr_assert(root, "%s", err.what);
    cr_assert(path_format(folder, sizeof folder, "%s/data/models", root));
    return folder;
}

static void load_model(struct nn_network *net, const char *name)
{
    struct st_error err = {0};
    enum st_code code = nn_network_load(net, models_folder(), name, &err);
    cr_assert(code == ST_OK, "%s: %s: expected %s, got %s", err.what, err.where, err.expected,
              err.got);
}

static int oracle(void *context, int layer, const struct conv_shape *shape, const float *x,
                  const float *k, float *y)
{
    (void)context, (void)layer;
    nn_oracle_conv(shape, x, k, y);
    return 0;
}

/* Computes the classes of the first test images, in chunks to limit memory. */
static void infer(const char *name, const struct nn_dataset *set, unsigned char *classes)
{
    struct nn_network net;
    struct st_error err = {0};
    load_model(&net, name);
    float *images = malloc((size_t)CHUNK * net.H * net.W * sizeof *images);
    cr_assert(images);
    for (size_t first = 0; first < IMAGES; first += CHUNK) {
        nn_dataset_scale(set, first, CHUNK, net.H, net.W, images);
        cr_assert(nn_network_run(&net, CHUNK, images, oracle, NULL, classes + first, &err) == ST_OK,
                  "%s", err.what);
    }
    free(images);
    nn_network_free(&net);
}

/* @return the accuracy in expected.tsv. */
static double promised(const struct tsv *table, const char *name, size_t images)
{
    int model = tsv_column(table, "model"), count = tsv_column(table, "images");
    int accuracy = tsv_column(table, "accuracy");
    cr_assert(model >= 0 && count >= 0 && accuracy >= 0);
    for (size_t row = 0; row < table->rows; row++)
        if (strcmp(tsv_cell(table, row, model), name) == 0 &&
            strtoul(tsv_cell(table, row, count), NULL, 10) == images)
            return strtod(tsv_cell(table, row, accuracy), NULL);
    cr_assert_fail("expected.tsv has no row for %s and %zu images", name, images);
    return 0;
}

Test(models, reach_the_accuracies_of_expected_tsv)
{
    static unsigned char classes[MODELS][IMAGES];
    struct nn_dataset set;
    struct tsv table;
    struct st_error err = {0};
    char path[PATH_MAX];
    cr_assert(nn_dataset_load(&set, NULL, NN_TEST, IMAGES, &err) == ST_OK, "%s: %s", err.what,
              err.where);
    cr_assert(set.images == IMAGES);
    cr_assert(path_format(path, sizeof path, "%s/expected.tsv", models_folder()));
    cr_assert(tsv_read(path, &table, &err) == ST_OK, "%s: %s", err.what, err.where);
    cr_expect(table.rows == MODELS * SIZES, "expected.tsv has %zu rows", table.rows);

    for (int m = 0; m < MODELS; m++) {
        infer(names[m], &set, classes[m]);
        for (int i = 0; i < SIZES && sizes[i] <= IMAGES; i++) {
            double got = nn_accuracy(classes[m], set.labels, sizes[i]);
            double expected = promised(&table, names[m], sizes[i]);
            cr_expect(fabs(got - expected) <= 0.0005, "%s, %zu images: %.4f, not %.4f", names[m],
                      sizes[i], got, expected);
        }
        double all = nn_accuracy(classes[m], set.labels, IMAGES);
        cr_expect(all >= least[m] && all <= most[m], "%s: %.4f is not from %g to %g", names[m], all,
                  least[m], most[m]);
    }

    /* A second model with the same layers must answer differently: it guards against hard-coded
     * answers. */
    cr_expect(nn_accuracy(classes[0], classes[1], IMAGES) < 0.8,
              "one-layer-high and one-layer-low answer alike");
    tsv_free(&table);
    nn_dataset_free(&set);
}

Test(models, have_the_shapes_of_the_course)
{
    static const struct {
        int side, convs;
        struct conv_shape conv[NN_MAX_CONVS];
        enum nn_activation activation;
        int pool[NN_MAX_CONVS], denses;
    } expected[MODELS] = {
        {28, 1, {{0, 50, 1, 28, 28, 5}}, NN_TANH, {2, 2}, 1},
        {28, 1, {{0, 50, 1, 28, 28, 5}}, NN_TANH, {2, 2}, 1},
        {70, 2, {{0, 12, 1, 70, 70, 5}, {0, 24, 12, 33, 33, 5}}, NN_TANH, {2, 2}, 1},
        {86, 2, {{0, 4, 1, 86, 86, 7}, {0, 16, 4, 40, 40, 7}}, NN_RELU, {2, 4}, 2},
    };
    for (int m = 0; m < MODELS; m++) {
        struct nn_network net;
        load_model(&net, names[m]);
        cr_expect(net.H == expected[m].side && net.W == expected[m].side, "%s", names[m]);
        cr_expect(net.convs == expected[m].convs, "%s", names[m]);
        cr_expect(memcmp(net.conv, expected[m].conv, sizeof net.conv) == 0, "%s", names[m]);
        cr_expect(net.activation == expected[m].activation, "%s", names[m]);
        cr_expect(memcmp(net.pool, expected[m].pool, net.convs * sizeof *net.pool) == 0, "%s",
                  names[m]);
        cr_expect(net.denses == expected[m].denses, "%s", names[m]);
        cr_expect(net.denses == 1 || net.dense[0].outputs == 32, "%s", names[m]);
        nn_network_free(&net);
    }
}

Test(models, are_small_and_say_how_they_were_made)
{
    for (int m = 0; m < MODELS; m++) {
        char path[PATH_MAX];
        struct stat info;
        struct nn_network net;
        cr_assert(path_format(path, sizeof path, "%s/%s.safetensors", models_folder(), names[m]));
        cr_assert(stat(path, &info) == 0);
        cr_expect(info.st_size < MOST_BYTES, "%s has %ld bytes", names[m], (long)info.st_size);
        load_model(&net, names[m]);
        const char *model = nn_safetensors_metadata(&net.file, "model");
        cr_expect(model && strcmp(model, names[m]) == 0, "%s", names[m]);
        cr_expect(nn_safetensors_metadata(&net.file, "seed"), "%s", names[m]);
        cr_expect(nn_safetensors_metadata(&net.file, "trainer"), "%s", names[m]);
        nn_network_free(&net);
    }
}
