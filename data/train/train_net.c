#include "data/train/train_net.h"

#include "nn/clones.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Vectorise loops of any length, and comparisons too (nobody looks at the exception flags). */
#pragma GCC optimize("O3", "no-trapping-math")
#endif

struct train_net train_net_define(int H, int W, int convs, const int *maps, int K)
{
    struct train_net net = {.H = H, .W = W, .convs = convs};
    int C = 1;
    for (int i = 0; i < convs; i++) {
        net.conv[i] = (struct conv_shape){.B = 1, .M = maps[i], .C = C, .H = H, .W = W, .K = K};
        net.conv_weight[i] = net.params;
        net.params += nn_conv_k_elems(&net.conv[i]);
        C = maps[i], H = (H - K + 1) / 2, W = (W - K + 1) / 2;
    }
    net.features = C * H * W;
    net.dense_weight = net.params;
    net.params += (size_t)NN_CLASSES * net.features;
    net.dense_bias = net.params;
    net.params += NN_CLASSES;
    return net;
}

void train_net_init(const struct train_net *net, struct rng *r, float *params)
{
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        float range = (float)sqrt(3.0 / ((double)s->C * s->K * s->K));
        rng_fill(r, params + net->conv_weight[i], nn_conv_k_elems(s), -range, range);
    }
    float range = (float)sqrt(3.0 / net->features);
    rng_fill(r, params + net->dense_weight, (size_t)NN_CLASSES * net->features, -range, range);
    memset(params + net->dense_bias, 0, NN_CLASSES * sizeof *params);
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
        size_t x_elems = (i < net->convs ? nn_conv_x_elems(s) : (size_t)net->features);
        x_elems += TRAIN_SLACK;
        scratch->x[i] = take(arena, x_elems, sizeof(float));
        x_largest = x_elems > x_largest ? x_elems : x_largest;
        if (i == net->convs)
            break;
        size_t per_map = (size_t)((s->H - s->K + 1) / 2) * ((s->W - s->K + 1) / 2);
        scratch->maxima[i].per_map = per_map;
        scratch->maxima[i].at = take(arena, s->M * per_map, sizeof(int));
        scratch->maxima[i].value = take(arena, s->M * per_map, sizeof(float));
        if (train_conv_y_elems(s) > y_largest)
            y_largest = train_conv_y_elems(s);
    }
    scratch->dx = take(arena, x_largest, sizeof(float));
    scratch->y = take(arena, y_largest, sizeof(float));
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

/* Max-pool 2x2 of one plane with rows of W elements; of equal values the first counts. Selections
 * instead of branches, since which of four values is largest cannot be predicted. */
NN_CLONES static void pool_plane(const float *restrict y, int W, int rows, int columns,
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

int train_net_forward(const struct train_net *net, const float *params,
                      const struct train_weights *weights, struct train_scratch *scratch)
{
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        struct train_maxima *maxima = &scratch->maxima[i];
        int rows = (s->H - s->K + 1) / 2, columns = (s->W - s->K + 1) / 2;
        float *pooled = scratch->x[i + 1];
        train_conv_forward(s, scratch->x[i], &weights->conv[i], scratch->y);
        for (int m = 0; m < s->M; m++)
            pool_plane(scratch->y + m * train_conv_plane(s), s->W, rows, columns,
                       pooled + m * maxima->per_map, maxima->at + m * maxima->per_map);
        nn_tanh(pooled, pooled, s->M * maxima->per_map);
    }
    nn_dense(scratch->x[net->convs], params + net->dense_weight, params + net->dense_bias,
             scratch->score, 1, net->features, NN_CLASSES);
    int best = 0;
    for (int o = 1; o < NN_CLASSES; o++)
        best = scratch->score[o] > scratch->score[best] ? o : best;
    return best;
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Adds the dense layer's gradients; sets dx, the gradient with respect to its inputs x. */
NN_CLONES static void dense_gradient(int features, const float *restrict weight,
                                     const float *restrict x, const float *d_score,
                                     float *restrict d_weight, float *restrict d_bias,
                                     float *restrict dx)
{
    memset(dx, 0, features * sizeof *dx);
    for (int o = 0; o < NN_CLASSES; o++) {
        const float d = d_score[o], *w = weight + (size_t)o * features;
        float *dw = d_weight + (size_t)o * features;
        for (int i = 0; i < features; i++) {
            dw[i] += d * x[i];
            dx[i] += d * w[i];
        }
        d_bias[o] += d;
    }
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
    dense_gradient(net->features, params + net->dense_weight, scratch->x[net->convs], d_score,
                   gradient + net->dense_weight, gradient + net->dense_bias, scratch->dx);

    for (int i = net->convs - 1; i >= 0; i--) {
        const struct conv_shape *s = &net->conv[i];
        struct train_maxima *maxima = &scratch->maxima[i];
        const float *t = scratch->x[i + 1]; /* tanh' = 1 - tanh^2 */
        for (size_t j = 0; j < s->M * maxima->per_map; j++)
            maxima->value[j] = scratch->dx[j] * (1 - t[j] * t[j]);
        train_conv_weight_gradient(s, scratch->x[i], maxima, gradient + net->conv_weight[i]);
        if (i > 0) /* nobody asks for the gradient with respect to the image */
            train_conv_input_gradient(s, &weights->conv[i], maxima, scratch->dx);
    }
    return best;
}
