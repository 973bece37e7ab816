/* Compares the oracle's time with its goal: both convolutions of two-layer and the layers between
 * them, for all 10000 test images, in chunks, so that a machine with little memory can run them. */
#include "base/clock.h"
#include "base/rng.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <stdio.h>
#include <stdlib.h>

enum { IMAGES = 10000, CHUNK = 1000, LAYERS = 2, FEATURES = 24 * 14 * 14, CLASSES = 10 };
static const double GOAL_S = 8;

static const struct conv_shape shape[LAYERS] = {{CHUNK, 12, 1, 70, 70, 5},
                                                {CHUNK, 24, 12, 33, 33, 5}};

/* The number of elements after pooling. */
static size_t pooled_elems(const struct conv_shape *s)
{
    return (size_t)s->B * s->M * ((s->H - s->K + 1) / 2) * ((s->W - s->K + 1) / 2);
}

int main(void)
{
    double conv_s[LAYERS] = {0}, activate_s = 0, dense_s = 0;
    struct rng r = rng_make(1, 0);
    float *x = malloc(nn_conv_x_elems(&shape[0]) * sizeof *x), *k[LAYERS], *y[LAYERS];
    float *pooled[LAYERS], *weight = malloc(CLASSES * FEATURES * sizeof *weight);
    float bias[CLASSES] = {0}, *score = malloc(CHUNK * CLASSES * sizeof *score);
    int made = x && weight && score;
    for (int l = 0; l < LAYERS; l++) {
        k[l] = malloc(nn_conv_k_elems(&shape[l]) * sizeof *k[l]);
        y[l] = malloc(nn_conv_y_elems(&shape[l]) * sizeof *y[l]);
        pooled[l] = malloc(pooled_elems(&shape[l]) * sizeof *pooled[l]);
        made = made && k[l] && y[l] && pooled[l];
    }
    if (!made) {
        fprintf(stderr, "oracle_bench: not enough memory\n");
        return 2;
    }
    rng_fill(&r, x, nn_conv_x_elems(&shape[0]), 0, 1);
    rng_fill(&r, weight, CLASSES * FEATURES, -1, 1);
    for (int l = 0; l < LAYERS; l++)
        rng_fill(&r, k[l], nn_conv_k_elems(&shape[l]), -0.2f, 0.2f);

    for (int first = 0; first < IMAGES; first += CHUNK) {
        for (int l = 0; l < LAYERS; l++) {
            const struct conv_shape *s = &shape[l];
            double start_s = clock_now_s();
            nn_oracle_conv(s, l ? pooled[l - 1] : x, k[l], y[l]);
            double conv_end_s = clock_now_s();
            nn_pool(y[l], pooled[l], (size_t)s->B * s->M, s->H - s->K + 1, s->W - s->K + 1, 2);
            nn_tanh(pooled[l], pooled[l], pooled_elems(s));
            conv_s[l] += conv_end_s - start_s;
            activate_s += clock_now_s() - conv_end_s;
        }
        double start_s = clock_now_s();
        nn_dense(pooled[1], weight, bias, score, CHUNK, FEATURES, CLASSES);
        dense_s += clock_now_s() - start_s;
    }

    double total_s = conv_s[0] + conv_s[1];
    for (int l = 0; l < LAYERS; l++)
        printf("oracle, two-layer conv%d, %d images: %.2f s (%.1f GMAC/s)\n", l + 1, IMAGES,
               conv_s[l], nn_conv_macs(&shape[l]) * (IMAGES / CHUNK) / conv_s[l] / 1e9);
    printf("oracle, two-layer, %d images: %.2f s; goal %.0f s: %s\n", IMAGES, total_s, GOAL_S,
           total_s < GOAL_S ? "met" : "MISSED");
    printf("pooling and tanh of both layers: %.2f s; fully connected layer: %.2f s\n", activate_s,
           dense_s);
    for (int l = 0; l < LAYERS; l++)
        free(k[l]), free(y[l]), free(pooled[l]);
    free(x), free(weight), free(score);
    return 0;
}
