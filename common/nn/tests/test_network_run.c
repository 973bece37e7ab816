/* Tests of inference: calls of the convolutions, and the classes of images. */
#include "nn/tests/network_sample.h"

#include "base/rng.h"
#include "base/tests/temp_folder.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
