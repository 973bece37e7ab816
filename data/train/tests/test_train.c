/* The trainer: its gradients are those of the loss, and its models are the same bits every time. */
#include "base/files.h"
#include "base/parallel.h"
#include "data/train/train_model.h"
#include "nn/safetensors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- gradients ------------------------------------------------------------------------------ */

/* The loss of one image by the definition, in float64: what finite differences need. */
static double reference_loss(const struct train_net *net, const double *params,
                             const double *image, int label)
{
    enum { ROOM = 4096 };
    static double x[ROOM], y[ROOM];
    memcpy(x, image, (size_t)net->H * net->W * sizeof *x);
    for (int l = 0; l < net->convs; l++) {
        const struct conv_shape *s = &net->conv[l];
        const double *k = params + net->conv_weight[l];
        int H = s->H - s->K + 1, W = s->W - s->K + 1;
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++) {
                    double sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += x[(c * s->H + h + p) * s->W + w + q] *
                                       k[((m * s->C + c) * s->K + p) * s->K + q];
                    y[(m * H + h) * W + w] = sum;
                }
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H / 2; h++)
                for (int w = 0; w < W / 2; w++) {
                    const double *at = y + (m * H + 2 * h) * W + 2 * w;
                    double max = fmax(fmax(at[0], at[1]), fmax(at[W], at[W + 1]));
                    x[(m * (H / 2) + h) * (W / 2) + w] = tanh(max);
                }
    }
    double score[NN_CLASSES], sum = 0;
    for (int o = 0; o < NN_CLASSES; o++) {
        score[o] = params[net->dense_bias + o];
        for (int i = 0; i < net->features; i++)
            score[o] += x[i] * params[net->dense_weight + (size_t)o * net->features + i];
        sum += exp(score[o]);
    }
    return log(sum) - score[label];
}

/* The largest difference between the gradient and central differences, relative to the largest
 * gradient. */
static double gradient_error(const struct train_net *net, uint64_t seed)
{
    const double step = 1e-5;
    struct train_weights weights;
    struct train_scratch scratch;
    struct rng r = rng_make(seed, 0);
    float *params = calloc(net->params, sizeof *params);
    float *gradient = calloc(net->params, sizeof *gradient);
    double *exact = calloc(net->params, sizeof *exact);
    double *image = calloc((size_t)net->H * net->W, sizeof *image);
    cr_assert(params && gradient && exact && image);
    cr_assert(train_weights_make(net, &weights) && train_scratch_make(net, &scratch));

    train_net_init(net, &r, params);
    for (size_t i = 0; i < net->params; i++)
        exact[i] = params[i];
    for (int i = 0; i < net->H * net->W; i++)
        image[i] = scratch.x[0][i] = rng_float(&r, 0, 1);
    int label = rng_range(&r, 0, NN_CLASSES - 1);
    train_weights_pack(net, params, &weights);
    train_net_gradient(net, params, &weights, &scratch, label, gradient);

    double worst = 0, largest = 0;
    for (size_t i = 0; i < net->params; i++) {
        double at = exact[i];
        exact[i] = at + step;
        double above = reference_loss(net, exact, image, label);
        exact[i] = at - step;
        double below = reference_loss(net, exact, image, label);
        exact[i] = at;
        double error = fabs((above - below) / (2 * step) - gradient[i]);
        cr_assert(isfinite(gradient[i]));
        worst = error > worst ? error : worst;
        largest = fabsf(gradient[i]) > largest ? fabsf(gradient[i]) : largest;
    }
    train_scratch_free(&scratch);
    train_weights_free(&weights);
    free(params);
    free(gradient);
    free(exact);
    free(image);
    return worst / largest;
}

Test(train, gradients_agree_with_finite_differences)
{
    const struct train_net nets[] = {
        train_net_define(10, 13, 1, (int[]){3}, 3),
        train_net_define(14, 15, 2, (int[]){3, 2}, 3),
        train_net_define(18, 19, 2, (int[]){2, 7}, 5),
        train_net_define(24, 22, 2, (int[]){7, 3}, 4),
    };
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            double error = gradient_error(&nets[i], seed);
            cr_expect(error < 1e-5, "network %zu, seed %d: error %g of the largest gradient", i,
                      (int)seed, error);
        }
}

