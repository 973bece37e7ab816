#include "data/train/train_net.h"

#include "base/clones.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Vectorise loops of any length, and comparisons too (the exception flags are not used). */
#pragma GCC optimize("O3", "no-trapping-math")
#endif

static void add_dense(struct train_net *net, int inputs, int outputs)
{
    struct train_dense *layer = &net->dense[net->denses++];
    *layer = (struct train_dense){.inputs = inputs, .outputs = outputs, .weight = net->params};
    layer->bias = layer->weight + (size_t)outputs * inputs;
    net->params = layer->bias + outputs;
}

struct train_net train_net_define(const struct train_layers *layers)
{
    struct train_net net = {
        .H = layers->H, .W = layers->W, .convs = layers->convs, .activation = layers->activation};
    int C = 1, H = layers->H, W = layers->W;
    const int K = layers->K;
    for (int i = 0; i < net.convs; i++) {
        net.conv[i] =
            (struct conv_shape){.B = 1, .M = layers->maps[i], .C = C, .H = H, .W = W, .K = K};
        net.conv_weight[i] = net.params;
        net.params += nn_conv_k_elems(&net.conv[i]);
        net.pool[i] = layers->pool[i] ? layers->pool[i] : 2;
        C = layers->maps[i], H = (H - K + 1) / net.pool[i], W = (W - K + 1) / net.pool[i];
    }
    const int features = C * H * W;
    if (layers->hidden)
        add_dense(&net, features, layers->hidden);
    add_dense(&net, layers->hidden ? layers->hidden : features, NN_CLASSES);
    return net;
}

void train_net_init(const struct train_net *net, struct rng *r, float *params)
{
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        float range = (float)sqrt(3.0 / ((double)s->C * s->K * s->K));
        rng_fill(r, params + net->conv_weight[i], nn_conv_k_elems(s), -range, range);
    }
    for (int i = 0; i < net->denses; i++) {
        const struct train_dense *layer = &net->dense[i];
        float range = (float)sqrt(3.0 / layer->inputs);
        rng_fill(r, params + layer->weight, (size_t)layer->outputs * layer->inputs, -range, range);
        memset(params + layer->bias, 0, layer->outputs * sizeof *params);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Hands out aligned parts of one block; with base NULL it only counts. */
struct arena {
    char *base;
    size_t used;
};

static void *take(struct arena *arena, size_t elems, size_t elem_bytes)
{
    enum { ALIGN = 64 };
    void *part = arena->base ? arena->base + arena->used : NULL;
    arena->used += (elems * elem_bytes + ALIGN - 1) / ALIGN * ALIGN;
    return part;
}

static void lay_out_weights(const struct train_net *net, struct train_weights *weights,
                            struct arena *arena)
{
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        weights->conv[i].tiles = take(arena, train_conv_tiles_elems(s), sizeof(float));
        weights->conv[i].rows = take(arena, train_conv_rows_elems(s), sizeof(float));
    }
}

bool train_weights_make(const struct train_net *net, struct train_weights *weights)
{
    struct arena arena = {0};
    lay_out_weights(net, weights, &arena);
    weights->storage = arena.base = calloc(1, arena.used);
    arena.used = 0;
    lay_out_weights(net, weights, &arena);
    return weights->storage != NULL;
}

void train_weights_pack(const struct train_net *net, const float *params,
                        struct train_weights *weights)
{
    for (int i = 0; i < net->convs; i++)
        train_conv_pack(&net->conv[i], params + net->conv_weight[i], &weights->conv[i]);
}

void train_weights_free(struct train_weights *weights)
{
    free(weights->storage);
    *weights = (struct train_weights){0};
}

static void lay_out_scratch(const struct train_net *net, struct train_scratch *scratch,
                            struct arena *arena)
{
    size_t x_largest = 0, y_largest = 0;
    for (int i = 0; i <= net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        size_t x_elems = (i < net->convs ? nn_conv_x_elems(s) : (size_t)net->dense[0].inputs);
        x_elems += TRAIN_SLACK;
        scratch->x[i] = take(arena, x_elems, sizeof(float));
        x_largest = x_elems > x_largest ? x_elems : x_largest;
        if (i == net->convs)
            break;
        size_t per_map =
            (size_t)((s->H - s->K + 1) / net->pool[i]) * ((s->W - s->K + 1) / net->pool[i]);
        scratch->maxima[i].per_map = per_map;
        scratch->maxima[i].at = take(arena, s->M * per_map, sizeof(int));
        scratch->maxima[i].value = take(arena, s->M * per_map, sizeof(float));
        if (train_conv_y_elems(s) > y_largest)
            y_largest = train_conv_y_elems(s);
    }
    scratch->dx = take(arena, x_largest, sizeof(float));
    scratch->y = take(arena, y_largest, sizeof(float));
    scratch->hidden = take(arena, net->dense[0].outputs, sizeof(float));
    scratch->d_hidden = take(arena, net->dense[0].outputs, sizeof(float));
}

bool train_scratch_make(const struct train_net *net, struct train_scratch *scratch)
{
    struct arena arena = {0};
    lay_out_scratch(net, scratch, &arena);
    scratch->storage = arena.base = calloc(1, arena.used);
    arena.used = 0;
    lay_out_scratch(net, scratch, &arena);
    return scratch->storage != NULL;
}

void train_scratch_free(struct train_scratch *scratch)
{
    free(scratch->storage);
    *scratch = (struct train_scratch){0};
}

/* ---- forward -------------------------------------------------------------------------------- */

/* Max-pool 2x2 of one plane with rows of W elements; of equal values the first counts. Uses
 * selections instead of branches, because the processor cannot predict which of four values is the
 * largest. */
EACH_TARGET static void pool_plane_2(const float *restrict y, int W, int rows, int columns,
                                     float *restrict pooled, int *restrict at)
{
    for (int h = 0; h < rows; h++, pooled += columns, at += columns) {
        const float *a = y + (size_t)2 * h * W, *b = a + W;
        for (int w = 0; w < columns; w++) {
            int right_a = a[2 * w + 1] > a[2 * w], right_b = b[2 * w + 1] > b[2 * w];
            float max_a = right_a ? a[2 * w + 1] : a[2 * w];
            float max_b = right_b ? b[2 * w + 1] : b[2 * w];
            int lower = max_b > max_a;
            pooled[w] = lower ? max_b : max_a;
            at[w] = 2 * h * W + 2 * w + (lower ? W + right_b : right_a);
        }
    }
}

/* The same for square windows of any size. */
static void pool_plane(const float *y, int W, int rows, int columns, int side, float *pooled,
                       int *at)
{
    for (int h = 0; h < rows; h++)
        for (int w = 0; w < columns; w++) {
            int best = (h * W + w) * side;
            for (int p = 0; p < side; p++)
                for (int q = 0; q < side; q++) {
                    int candidate = (h * side + p) * W + w * side + q;
                    best = y[candidate] > y[best] ? candidate : best;
                }
            *pooled++ = y[best];
            *at++ = best;
        }
}

static void pool(const struct train_net *net, int layer, const float *y, float *pooled, int *at)
{
    const struct conv_shape *s = &net->conv[layer];
    const int side = net->pool[layer];
    const int rows = (s->H - s->K + 1) / side, columns = (s->W - s->K + 1) / side;
    if (side == 2)
        pool_plane_2(y, s->W, rows, columns, pooled, at);
    else
        pool_plane(y, s->W, rows, columns, side, pooled, at);
}

static void activate(const struct train_net *net, float *values, size_t n)
{
    if (net->activation == NN_TANH)
        nn_tanh(values, values, n);
    else
        nn_relu(values, values, n);
}

static void dense(const struct train_dense *layer, const float *params, const float *from,
                  float *to)
{
    nn_dense(from, params + layer->weight, params + layer->bias, to, 1, layer->inputs,
             layer->outputs);
}

int train_net_forward(const struct train_net *net, const float *params,
                      const struct train_weights *weights, struct train_scratch *scratch)
{
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        struct train_maxima *maxima = &scratch->maxima[i];
        float *pooled = scratch->x[i + 1];
        train_conv_forward(s, scratch->x[i], &weights->conv[i], scratch->y);
        for (int m = 0; m < s->M; m++)
            pool(net, i, scratch->y + m * train_conv_plane(s), pooled + m * maxima->per_map,
                 maxima->at + m * maxima->per_map);
        activate(net, pooled, s->M * maxima->per_map);
    }
    const float *features = scratch->x[net->convs];
    if (net->denses > 1) {
        dense(&net->dense[0], params, features, scratch->hidden);
        activate(net, scratch->hidden, net->dense[0].outputs);
        features = scratch->hidden;
    }
    dense(&net->dense[net->denses - 1], params, features, scratch->score);
    int best = 0;
    for (int o = 1; o < NN_CLASSES; o++)
        best = scratch->score[o] > scratch->score[best] ? o : best;
    return best;
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Adds a dense layer's gradients; sets dx, the gradient with respect to its inputs x. */
EACH_TARGET static void dense_gradient(const struct train_dense *layer,
                                       const float *restrict params, const float *restrict x,
                                       const float *restrict d_output, float *restrict gradient,
                                       float *restrict dx)
{
    const int inputs = layer->inputs;
    memset(dx, 0, inputs * sizeof *dx);
    for (int o = 0; o < layer->outputs; o++) {
        const float d = d_output[o], *w = params + layer->weight + (size_t)o * inputs;
        float *dw = gradient + layer->weight + (size_t)o * inputs;
        for (int i = 0; i < inputs; i++) {
            dw[i] += d * x[i];
            dx[i] += d * w[i];
        }
        gradient[layer->bias + o] += d;
    }
}

/* to[i] = d[i] times the activation's derivative, which follows from its output t: 1 - t^2 for
 * tanh, and for ReLU whether t is positive. */
static void activation_gradient(const struct train_net *net, const float *t, const float *d,
                                float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = net->activation == NN_TANH ? d[i] * (1 - t[i] * t[i]) : t[i] > 0 ? d[i] : 0;
}

/* Computes the gradient with respect to the inputs of the first dense layer from that of the
 * scores. */
static void denses_gradient(const struct train_net *net, const float *params,
                            struct train_scratch *scratch, const float *d_score, float *gradient)
{
    const float *features = scratch->x[net->convs], *d_output = d_score;
    if (net->denses > 1) {
        float *d_hidden = scratch->d_hidden;
        dense_gradient(&net->dense[1], params, scratch->hidden, d_score, gradient, d_hidden);
        activation_gradient(net, scratch->hidden, d_hidden, d_hidden, net->dense[0].outputs);
        d_output = d_hidden;
    }
    dense_gradient(&net->dense[0], params, features, d_output, gradient, scratch->dx);
}

int train_net_gradient(const struct train_net *net, const float *params,
                       const struct train_weights *weights, struct train_scratch *scratch,
                       int label, float *gradient)
{
    int best = train_net_forward(net, params, weights, scratch);

    /* Softmax and cross entropy together: d loss / d score = probability - (1 for the label). */
    float d_score[NN_CLASSES];
    nn_softmax(scratch->score, d_score, 1, NN_CLASSES);
    d_score[label] -= 1;
    denses_gradient(net, params, scratch, d_score, gradient);

    for (int i = net->convs - 1; i >= 0; i--) {
        const struct conv_shape *s = &net->conv[i];
        struct train_maxima *maxima = &scratch->maxima[i];
        activation_gradient(net, scratch->x[i + 1], scratch->dx, maxima->value,
                            s->M * maxima->per_map);
        train_conv_weight_gradient(s, scratch->x[i], maxima, gradient + net->conv_weight[i]);
        if (i > 0) /* the gradient with respect to the image is not needed */
            train_conv_input_gradient(s, &weights->conv[i], maxima, scratch->dx);
    }
    return best;
}
