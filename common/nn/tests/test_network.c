/* Tests of networks: accepted files, the error of each wrong file, and inference. */
#include "nn/network.h"

#include "base/rng.h"
#include "base/tests/temp_folder.h"
#include "nn/dataset.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(network, .init = temp_folder_make, .fini = temp_folder_remove);

/* ---- a small model to damage ---------------------------------------------------------------- */

enum { H = 15, W = 12, M1 = 3, M2 = 4, K = 3, FEATURES = M2 * 2 * 1, MOST_TENSORS = 6, HIDDEN = 5 };

/* A two-layer network on 15x12 images: 15x12 -> 13x10 -> 6x5 -> 4x3 -> 2x1. */
struct model {
    float conv1[M1 * K * K], conv2[M2 * M1 * K * K], fc[NN_CLASSES * FEATURES], bias[NN_CLASSES];
    float fc1[HIDDEN * FEATURES], fc2[NN_CLASSES * HIDDEN], bias1[HIDDEN];
    struct nn_tensor tensor[MOST_TENSORS];
    size_t tensors;
    struct nn_metadata metadata[3];
    size_t metadata_pairs;
};

static struct nn_tensor *find(struct model *m, const char *name)
{
    for (size_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

static void model_make(struct model *m)
{
    struct rng r = rng_make(1, 0);
    *m = (struct model){.tensors = 4, .metadata = {{"image", "15x12"}}, .metadata_pairs = 1};
    rng_fill(&r, m->conv1, M1 * K * K, -0.5f, 0.5f);
    rng_fill(&r, m->conv2, M2 * M1 * K * K, -0.5f, 0.5f);
    rng_fill(&r, m->fc, NN_CLASSES * FEATURES, -1, 1);
    rng_fill(&r, m->bias, NN_CLASSES, -1, 1);
    m->tensor[0] = (struct nn_tensor){"conv1.weight", 4, {M1, 1, K, K}, M1 * K * K, m->conv1};
    m->tensor[1] = (struct nn_tensor){"conv2.weight", 4, {M2, M1, K, K}, M2 * M1 * K * K, m->conv2};
    m->tensor[2] =
        (struct nn_tensor){"fc.weight", 2, {NN_CLASSES, FEATURES}, NN_CLASSES * FEATURES, m->fc};
    m->tensor[3] = (struct nn_tensor){"fc.bias", 1, {NN_CLASSES}, NN_CLASSES, m->bias};
}

/* These convolutions on 23x14 images, with ReLU, windows of 3 and 2, and two fully connected
 * layers: 23x14 -> 21x12 -> 7x4 -> 5x2 -> 2x1. */
static void model_make_relu(struct model *m)
{
    struct rng r = rng_make(5, 0);
    model_make(m);
    strcpy(m->metadata[0].value, "23x14");
    m->metadata[1] = (struct nn_metadata){"activation", "relu"};
    m->metadata[2] = (struct nn_metadata){"pool", "3,2"};
    m->metadata_pairs = 3;
    rng_fill(&r, m->fc1, HIDDEN * FEATURES, -1, 1);
    rng_fill(&r, m->fc2, NN_CLASSES * HIDDEN, -1, 1);
    rng_fill(&r, m->bias1, HIDDEN, -1, 1);
    m->tensor[2] =
        (struct nn_tensor){"fc1.weight", 2, {HIDDEN, FEATURES}, HIDDEN * FEATURES, m->fc1};
    m->tensor[3] = (struct nn_tensor){"fc1.bias", 1, {HIDDEN}, HIDDEN, m->bias1};
    m->tensor[4] =
        (struct nn_tensor){"fc2.weight", 2, {NN_CLASSES, HIDDEN}, NN_CLASSES * HIDDEN, m->fc2};
    m->tensor[5] = (struct nn_tensor){"fc2.bias", 1, {NN_CLASSES}, NN_CLASSES, m->bias};
    m->tensors = 6;
}

static void model_write(const struct model *m, const char *name)
{
    struct st_error err = {0};
    enum st_code code = nn_safetensors_write(temp_path(name), m->tensor, m->tensors, m->metadata,
                                             m->metadata_pairs, &err);
    cr_assert(code == ST_OK, "%s", err.what);
}

/* Writes the model, loads it, and expects an error whose fields contain these texts. */
static void expect_refused(const struct model *m, const char *what, const char *where,
                           const char *expected, const char *got)
{
    struct nn_network net;
    struct st_error err = {0};
    model_write(m, "spoilt.safetensors");
    enum st_code code = nn_network_load(&net, temp_folder, "spoilt", &err);
    cr_expect(code == ST_BAD_FORMAT, "accepted, or refused with code %d: %s", code, err.what);
    cr_expect(strstr(err.what, what), "what: %s", err.what);
    cr_expect(strstr(err.where, "spoilt.safetensors") && strstr(err.where, where), "where: %s",
              err.where);
    cr_expect(strstr(err.expected, expected), "expected: %s", err.expected);
    cr_expect(strstr(err.got, got), "got: %s", err.got);
    cr_expect(err.hint[0]);
    cr_expect(net.convs == 0 && net.file.tensors == 0, "the network is not zeroed");
    cr_expect(nn_network_load(&net, temp_folder, "spoilt", NULL) == ST_BAD_FORMAT);
}

/* ---- loading -------------------------------------------------------------------------------- */

Test(network, takes_its_shapes_from_the_file)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "small.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "small", &err) == ST_OK, "%s", err.what);
    const struct conv_shape first = {0, M1, 1, H, W, K}, second = {0, M2, M1, 6, 5, K};
    cr_expect_str_eq(net.name, "small");
    cr_expect(net.H == H && net.W == W && net.convs == 2 && net.denses == 1 &&
              net.dense[0].inputs == FEATURES);
    cr_expect(memcmp(&net.conv[0], &first, sizeof first) == 0);
    cr_expect(memcmp(&net.conv[1], &second, sizeof second) == 0);
    cr_expect(memcmp(net.conv_weight[1], m.conv2, sizeof m.conv2) == 0);
    cr_expect(memcmp(net.dense[0].weight, m.fc, sizeof m.fc) == 0);
    cr_expect(memcmp(net.dense[0].bias, m.bias, sizeof m.bias) == 0);
    nn_network_free(&net);
    nn_network_free(&net); /* harmless */
    cr_expect(net.pool[0] == 0);
}

Test(network, takes_activation_pooling_and_a_hidden_layer_from_the_file)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "plain.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "plain", &err) == ST_OK, "%s", err.what);
    cr_expect(net.activation == NN_TANH && net.pool[0] == 2 && net.pool[1] == 2);
    cr_expect_eq(nn_network_pooled_elems(&net, 1, 3), 3 * FEATURES);
    nn_network_free(&net);

    model_make_relu(&m);
    model_write(&m, "relu.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "relu", &err) == ST_OK, "%s: %s", err.what,
              err.where);
    const struct conv_shape second = {0, M2, M1, 7, 4, K};
    cr_expect(net.activation == NN_RELU && net.pool[0] == 3 && net.pool[1] == 2);
    cr_expect(memcmp(&net.conv[1], &second, sizeof second) == 0);
    cr_expect(net.denses == 2 && net.dense[0].inputs == M2 * 2 && net.dense[0].outputs == HIDDEN);
    cr_expect(net.dense[1].inputs == HIDDEN && net.dense[1].outputs == NN_CLASSES);
    cr_expect(memcmp(net.dense[1].weight, m.fc2, sizeof m.fc2) == 0);
    cr_expect_str_eq(nn_activation_name(net.activation), "ReLU");
    nn_network_free(&net);
}

Test(network, that_is_missing_is_answered_with_those_that_are_there)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "beta.safetensors");
    model_write(&m, "alpha.safetensors");
    temp_file("expected.tsv", "", 0);
    cr_expect(nn_network_load(&net, temp_folder, "gamma", &err) == ST_NOT_FOUND);
    cr_expect(strstr(err.what, "'gamma'"), "%s", err.what);
    cr_expect_str_eq(err.where, temp_folder);
    cr_expect_str_eq(err.hint, "models in this folder: alpha, beta");

    /* A name cannot lead out of the folder. */
    cr_expect(nn_network_load(&net, temp_folder, "../x/alpha", &err) == ST_NOT_FOUND);
    cr_expect(nn_network_load(&net, temp_folder, "", &err) == ST_NOT_FOUND);
    cr_expect(nn_network_load(&net, temp_path("no-folder"), "alpha", &err) == ST_NOT_FOUND);
    cr_expect(strstr(err.hint, "make models"), "%s", err.hint);
    cr_expect(nn_network_load(&net, temp_folder, "gamma", NULL) == ST_NOT_FOUND);
}

Test(network, needs_an_image_size)
{
    static const char *const sizes[] = {"",       "70",     "70x",     "x70",     "0x70",
                                        "-70x70", "70x70x", "70 x 70", "9999x70", "axb"};
    struct model m;
    model_make(&m);
    m.metadata_pairs = 0;
    expect_refused(&m, "no usable image size", "__metadata__", "70x70", "nothing");
    m.metadata_pairs = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(m.metadata[0].value, sizeof m.metadata[0].value, "%s", sizes[i]);
        expect_refused(&m, "no usable image size", "__metadata__", "70x70", sizes[i]);
    }
}

Test(network, refuses_shapes_that_do_not_follow_from_the_layers_before)
{
    struct model m;
    model_make(&m);
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 3, {M1, K, K}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K] with K from 1 to 11",
                   "[3, 3, 3]");

    model_make(&m);
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 4, {1, 3, K, K}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K]", "[1, 3, 3, 3]");

    model_make(&m); /* a filter that is not square */
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 4, {3, 1, 9, 1}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K]", "[3, 1, 9, 1]");

    model_make(&m); /* conv2's input maps are not as many as conv1's output maps */
    *find(&m, "conv2.weight") =
        (struct nn_tensor){"conv2.weight", 4, {M1, M2, K, K}, M1 * M2 * K * K, m.conv2};
    expect_refused(&m, "wrong shape", "conv2.weight", "[M, 3, K, K]", "[3, 4, 3, 3]");

    model_make(&m); /* the weights require another image size */
    strcpy(m.metadata[0].value, "16x16");
    expect_refused(&m, "wrong shape", "fc.weight", "[10, 16]", "[10, 8]");

    model_make(&m); /* images too small for both layers */
    strcpy(m.metadata[0].value, "15x8");
    expect_refused(&m, "wrong shape", "conv2.weight", "K from 1 to 2", "[4, 3, 3, 3]");

    model_make(&m);
    *find(&m, "fc.bias") = (struct nn_tensor){"fc.bias", 1, {9}, 9, m.bias};
    expect_refused(&m, "wrong shape", "fc.bias", "[10]", "[9]");
}

Test(network, refuses_unknown_activations_and_windows)
{
    static const char *const pools[] = {"", "2", "2,", ",2", "2,x", "0,2", "2,-2", "2,2,2", "2;2"};
    struct model m;
    model_make_relu(&m);
    strcpy(m.metadata[1].value, "sigmoid");
    expect_refused(&m, "unusable 'activation'", "__metadata__", "tanh or relu", "sigmoid");

    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        model_make_relu(&m);
        strcpy(m.metadata[2].value, pools[i]);
        expect_refused(&m, "unusable 'pool'", "__metadata__", "two sides, such as 2,4", pools[i]);
    }
    model_make_relu(&m);
    strcpy(m.metadata[2].value, "3,9"); /* window larger than its input */
    expect_refused(&m, "wrong shape", "conv2.weight", "K from 1 to 0", "[4, 3, 3, 3]");
}

Test(network, refuses_a_hidden_layer_that_does_not_fit)
{
    static float many[1025 * FEATURES];
    struct model m;
    model_make_relu(&m);
    *find(&m, "fc1.weight") =
        (struct nn_tensor){"fc1.weight", 2, {FEATURES, HIDDEN}, HIDDEN * FEATURES, m.fc1};
    expect_refused(&m, "wrong shape", "fc1.weight", "[8, 8]", "[8, 5]");

    model_make_relu(&m);
    *find(&m, "fc1.weight") =
        (struct nn_tensor){"fc1.weight", 2, {1025, FEATURES}, 1025 * FEATURES, many};
    expect_refused(&m, "wrong shape", "fc1.weight", "N from 1 to 1024", "[1025, 8]");

    model_make_relu(&m);
    *find(&m, "fc2.weight") =
        (struct nn_tensor){"fc2.weight", 2, {HIDDEN, NN_CLASSES}, NN_CLASSES * HIDDEN, m.fc2};
    expect_refused(&m, "wrong shape", "fc2.weight", "[10, 5]", "[5, 10]");

    model_make_relu(&m);
    *find(&m, "fc1.bias") = (struct nn_tensor){"fc1.bias", 1, {HIDDEN - 1}, HIDDEN - 1, m.bias1};
    expect_refused(&m, "wrong shape", "fc1.bias", "[5]", "[4]");

    model_make_relu(&m);
    m.tensors = 4;
    expect_refused(&m, "missing", "fc2.weight", "", "");

    model_make_relu(&m); /* names of both kinds of networks */
    strcpy(find(&m, "fc2.weight")->name, "fc.weight");
    expect_refused(&m, "missing", "fc2.weight", "", "");
}

Test(network, refuses_missing_and_additional_tensors_and_weights_that_are_no_numbers)
{
    struct model m;
    model_make(&m);
    strcpy(find(&m, "conv1.weight")->name, "conv.weight");
    expect_refused(&m, "missing", "conv1.weight", "", "");

    model_make(&m);
    m.tensors = 3;
    expect_refused(&m, "missing", "fc.bias", "", "");

    model_make(&m);
    m.tensor[m.tensors++] = (struct nn_tensor){"conv3.weight", 1, {9}, 9, m.conv1};
    expect_refused(&m, "does not use", "header", "4 tensors", "5");

    model_make(&m);
    m.conv2[5] = NAN;
    expect_refused(&m, "not a finite number", "conv2.weight", "", "nan at element 5");

    model_make(&m);
    m.fc[7] = -INFINITY;
    expect_refused(&m, "not a finite number", "fc.weight", "", "-inf at element 7");
}

/* ---- inference ------------------------------------------------------------------------------ */

/* Records its calls and computes with the oracle; fails at layer fail_at. */
struct recorder {
    int calls, fail_at;
    struct conv_shape shape[NN_MAX_CONVS];
};

static int record(void *context, int layer, const struct conv_shape *shape, const float *x,
                  const float *k, float *y)
{
    struct recorder *r = context;
    cr_expect(layer == r->calls);
    r->shape[r->calls++] = *shape;
    nn_oracle_conv(shape, x, k, y);
    return layer == r->fail_at ? 42 : 0;
}

static double activated(const struct nn_network *net, double value)
{
    return net->activation == NN_TANH ? tanh(value) : fmax(value, 0);
}

static void dense(const struct nn_dense_layer *layer, const double *from, double *to)
{
    for (int o = 0; o < layer->outputs; o++) {
        to[o] = layer->bias[o];
        for (int i = 0; i < layer->inputs; i++)
            to[o] += from[i] * layer->weight[o * layer->inputs + i];
    }
}

/* The class of an image by the definition, in float64: activation first, then pooling. */
static int reference_class(const struct nn_network *net, const float *image)
{
    enum { ROOM = 2048 };
    static double x[ROOM], y[ROOM];
    for (int i = 0; i < net->H * net->W; i++)
        x[i] = image[i];
    for (int l = 0; l < net->convs; l++) {
        const struct conv_shape *s = &net->conv[l];
        int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out; w++) {
                    double sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += x[(c * s->H + h + p) * s->W + w + q] *
                                       net->conv_weight[l][((m * s->C + c) * s->K + p) * s->K + q];
                    y[(m * H_out + h) * W_out + w] = activated(net, sum);
                }
        const int side = net->pool[l];
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H_out / side; h++)
                for (int w = 0; w < W_out / side; w++) {
                    const double *at = y + (m * H_out + side * h) * W_out + side * w;
                    double max = -HUGE_VAL;
                    for (int i = 0; i < side * side; i++)
                        max = fmax(max, at[i / side * W_out + i % side]);
                    x[(m * (H_out / side) + h) * (W_out / side) + w] = max;
                }
    }
    double score[NN_CLASSES];
    if (net->denses > 1) {
        dense(&net->dense[0], x, y);
        for (int i = 0; i < net->dense[0].outputs; i++)
            x[i] = activated(net, y[i]);
    }
    dense(&net->dense[net->denses - 1], x, score);
    int best = 0;
    for (int o = 1; o < NN_CLASSES; o++)
        best = score[o] > score[best] ? o : best;
    return best;
}

/* Writes the model, runs random images through it, and compares with the definition. */
static void expect_inference(const struct model *m, struct rng *r)
{
    enum { IMAGES = 1203 };
    unsigned char classes[IMAGES];
    struct nn_network net;
    struct st_error err = {0};
    struct recorder recorder = {.fail_at = -1};
    model_write(m, "small.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "small", &err) == ST_OK, "%s", err.what);
    const size_t pixels = (size_t)net.H * (size_t)net.W;
    float *image = malloc(IMAGES * pixels * sizeof *image);
    cr_assert(image);
    rng_fill(r, image, IMAGES * pixels, 0, 1);
    memset(classes, 77, sizeof classes);
    cr_assert(nn_network_run(&net, IMAGES, image, record, &recorder, classes, &err) == ST_OK);
    cr_expect(recorder.calls == net.convs);
    for (int l = 0; l < net.convs; l++) {
        struct conv_shape expected = net.conv[l];
        expected.B = IMAGES;
        cr_expect(memcmp(&recorder.shape[l], &expected, sizeof expected) == 0);
    }
    int seen[NN_CLASSES] = {0}, kinds = 0;
    for (int b = 0; b < IMAGES; b++) {
        cr_expect(classes[b] == reference_class(&net, image + b * pixels), "image %d", b);
        kinds += !seen[classes[b] % NN_CLASSES]++;
    }
    cr_expect(kinds > 1, "all images of one class: this test tests nothing");
    free(image);
    nn_network_free(&net);
}

Test(network, infers_the_classes_of_the_definition)
{
    float wide[NN_CLASSES * M1 * 6 * 5];
    struct model m;
    struct rng r = rng_make(2, 0);
    model_make(&m);
    expect_inference(&m, &r);

    rng_fill(&r, wide, NN_CLASSES * M1 * 6 * 5, -1, 1); /* one convolution */
    m.tensor[1] =
        (struct nn_tensor){"fc.weight", 2, {NN_CLASSES, M1 * 6 * 5}, NN_CLASSES * M1 * 6 * 5, wide};
    m.tensor[2] = m.tensor[3];
    m.tensors = 3;
    expect_inference(&m, &r);

    model_make_relu(&m);
    expect_inference(&m, &r);
}

Test(network, stops_at_a_convolution_that_fails)
{
    static float image[2 * H * W];
    unsigned char classes[2] = {77, 77};
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "small.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "small", &err) == ST_OK);
    for (int layer = 0; layer < 2; layer++) {
        struct recorder recorder = {.fail_at = layer};
        cr_expect(nn_network_run(&net, 2, image, record, &recorder, classes, &err) == ST_CHILD);
        cr_expect(recorder.calls == layer + 1);
        cr_expect(strstr(err.what, "42"), "%s", err.what);
    }
    struct recorder unused = {.fail_at = 0};
    cr_expect(nn_network_run(&net, 0, image, record, &unused, classes, &err) == ST_OK);
    cr_expect(unused.calls == 0 && classes[0] == 77);
    nn_network_free(&net);
}

Test(network, activation_comes_before_the_pool)
{
    enum { B = 5, Y = B * M1 * 13 * 10, P = B * M1 * 6 * 5 };
    static float y[Y], t[Y], pooled[P], expected[P];
    struct nn_network net = {.convs = 1, .conv = {{0, M1, 1, H, W, K}}, .pool = {2}};
    struct rng r = rng_make(4, 0);
    rng_fill(&r, y, Y, -5, 5);
    nn_tanh(y, t, Y);
    nn_pool(t, expected, B * M1, 13, 10, 2);
    nn_network_activate(&net, 0, B, y, pooled);
    cr_expect(memcmp(pooled, expected, sizeof pooled) == 0);

    net.activation = NN_RELU;
    nn_relu(y, t, Y);
    nn_pool(t, expected, B * M1, 13, 10, 2);
    nn_network_activate(&net, 0, B, y, pooled);
    cr_expect(memcmp(pooled, expected, sizeof pooled) == 0);
}

Test(network, classifies_equal_scores_as_the_lowest_class)
{
    enum { B = 3 };
    static const float weight[NN_CLASSES * 2], pooled[B * 2];
    const float bias[NN_CLASSES] = {0, 1, 3, 2, 3, 3, 0, 0, 0, 3};
    struct nn_network net = {.denses = 1, .dense = {{2, NN_CLASSES, weight, bias}}};
    unsigned char classes[B] = {77, 77, 77};
    nn_network_classify(&net, B, pooled, classes);
    for (int b = 0; b < B; b++)
        cr_expect(classes[b] == 2, "class %d", classes[b]);
}

Test(network, accuracy_is_the_share_of_right_answers)
{
    const unsigned char classes[] = {1, 2, 3, 4}, labels[] = {1, 2, 0, 4};
    cr_expect(nn_accuracy(classes, labels, 4) == 0.75);
    cr_expect(nn_accuracy(classes, labels, 0) == 0);
}

Test(network, is_found_by_its_name_or_by_the_path_of_a_file)
{
    static const struct {
        const char *model, *folder, *name;
    } cases[] = {{"two-layer", "/data/models", "two-layer"},
                 {"private/two-layer.safetensors", "private", "two-layer"},
                 {"/private/x", "/private", "x"},
                 {"mine.safetensors", ".", "mine"},
                 {".safetensors", "/data/models", ".safetensors"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_MAX], name[256];
        struct st_error err;
        cr_assert_eq(nn_model_place(cases[i].model, folder, name, &err), ST_OK);
        const size_t n = strlen(folder), m = strlen(cases[i].folder);
        cr_expect(n >= m && strcmp(folder + n - m, cases[i].folder) == 0, "%s: %s", cases[i].model,
                  folder);
        cr_expect_str_eq(name, cases[i].name);
    }
}
