/* The convolution, the exercise of the milestones mN: conv_forward() of conv.h; and that of m13,
 * conv_forward_host(), which gets host memory. */
#include "exercise/exercises.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static exercise_function *adapt(void *symbol)
{
    exercise_function *function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static struct conv_shape shape_of(const int *size)
{
    return (struct conv_shape){size[0], size[1], size[2], size[3], size[4], size[5]};
}

/* Every row finds a fault that the other rows miss. Outputs are H-K+1 by W-K+1, so a tiled
 * program's critical sizes (8, 16 and 32 and their neighbours) are values of H-K+1. */
static const struct exercise_shape shapes[] = {
    /*  B   M   C   H   W  K */
    {{1, 1, 1, 1, 1, 1}, "every size is 1"},
    {{2, 3, 4, 9, 7, 1}, "K = 1"},
    {{3, 2, 2, 4, 4, 4}, "K = H = W, even"},
    {{2, 3, 4, 5, 5, 5}, "K = H = W, odd"},
    {{2, 2, 3, 5, 11, 5}, "K = H, one output row"},
    {{2, 3, 2, 11, 5, 5}, "K = W, one output column"},
    {{2, 3, 2, 10, 23, 3}, "wider than high"},
    {{2, 2, 3, 23, 10, 3}, "higher than wide"},
    /* Here x has as many elements as k, and swapping the two only transposes y in (b, m). */
    {{4, 4, 1, 3, 3, 3}, "B = M, one output element"},
    {{5, 5, 2, 2, 2, 2}, "B = M, one output element, C = 2"},
    {{4, 1, 3, 8, 9, 3}, "one output map, several images"},
    {{1, 6, 3, 9, 8, 3}, "one image, several maps"},
    {{1, 1, 5, 6, 7, 3}, "one image, one map"},
    {{2, 3, 3, 9, 12, 2}, "K = 2"},
    {{2, 2, 3, 13, 10, 4}, "K = 4"},
    {{2, 3, 1, 16, 14, 7}, "K = 7, one input map"},
    {{1, 2, 2, 1, 40, 1}, "a single row"},
    {{1, 2, 2, 40, 1, 1}, "a single column"},
    {{2, 2, 3, 9, 9, 3}, "7 x 7 outputs (tile 8 - 1)"},
    {{2, 3, 2, 10, 10, 3}, "8 x 8 outputs (tile 8)"},
    {{2, 2, 2, 11, 11, 3}, "9 x 9 outputs (tile 8 + 1)"},
    {{2, 3, 2, 17, 17, 3}, "15 x 15 outputs (tile 16 - 1)"},
    {{2, 2, 3, 20, 20, 5}, "16 x 16 outputs (tile 16)"},
    {{2, 3, 2, 19, 19, 3}, "17 x 17 outputs (tile 16 + 1)"},
    {{1, 2, 2, 18, 19, 3}, "16 x 17 outputs"},
    {{1, 2, 2, 19, 18, 3}, "17 x 16 outputs"},
    {{2, 2, 2, 33, 33, 3}, "31 x 31 outputs (tile 32 - 1)"},
    {{2, 2, 3, 34, 34, 3}, "32 x 32 outputs (tile 32)"},
    {{1, 3, 2, 35, 35, 3}, "33 x 33 outputs (tile 32 + 1)"},
    {{1, 2, 1, 34, 66, 3}, "32 x 64 outputs"},
    {{1, 2, 1, 6, 132, 3}, "rows of 130 outputs"},
    {{3, 5, 7, 13, 11, 3}, "primes"},
    {{1, 3, 33, 8, 7, 3}, "many input maps"},
    {{2, 2, 17, 6, 9, 2}, "17 input maps"},
    {{1, 65, 2, 6, 7, 3}, "many output maps"},
    {{19, 2, 2, 6, 5, 3}, "many images"},
    {{1, 2, 2, 24, 23, 19}, "K = 19"},
    {{2, 2, 2, 9, 12, 9}, "K = H = 9"},
    {{700, 6, 2, 12, 4, 3}, "more images than resident blocks on a GPU"},
    {{150, 6, 2, 12, 19, 3}, "more images than multiprocessors"},
    {{5, 13, 3, 14, 24, 7}, "13 output maps, K = 7"},
    {{1, 96, 7, 14, 14, 5}, "many weights: more than 64 KB, many output maps"},
    {{1, 12, 60, 10, 9, 5}, "many weights: more than 64 KB, many input maps"},
    {{1, 2, 2, 176, 172, 3}, "an image larger than shared memory"},
    {{2, 50, 1, 28, 28, 5}, "one-layer model"},
    {{2, 12, 1, 70, 70, 5}, "two-layer model, layer 1"},
    {{2, 24, 12, 33, 33, 5}, "two-layer model, layer 2"},
    {{1, 2, 1, 101, 102, 100}, "a filter of 100 x 100"},
};

static struct conv_shape random_shape(struct rng *r)
{
    struct conv_shape s;
    s.B = rng_range(r, 1, 4);
    s.M = rng_range(r, 1, 30);
    s.C = rng_range(r, 1, 14);
    s.H = rng_range(r, 1, 40);
    s.W = rng_range(r, 1, 40);
    int side = s.H < s.W ? s.H : s.W;
    s.K = rng_range(r, 1, side < 7 ? side : 7);
    return s;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void describe(char to[EXERCISE_TEXT], const struct conv_shape *s, enum exercise_text how)
{
    if (how == EXERCISE_SHAPE)
        snprintf(to, EXERCISE_TEXT, "B=%d M=%d C=%d H=%d W=%d K=%d", s->B, s->M, s->C, s->H, s->W,
                 s->K);
    else if (how == EXERCISE_LAYER)
        snprintf(to, EXERCISE_TEXT, "a layer with C=%d, H=%d, W=%d", s->C, s->H, s->W);
    else if (how == EXERCISE_SIZE)
        snprintf(to, EXERCISE_TEXT, "%d image%s", s->B, s->B == 1 ? "" : "s");
    else
        snprintf(to, EXERCISE_TEXT, "%d images, C=%d, H=%d, W=%d", s->B, s->C, s->H, s->W);
}

/* The layers that prove the work are like the second and the first layer of the two-layer model,
 * which have 33 x 33 and 70 x 70 elements; the layer with several input maps comes first. They have
 * the same numbers of maps and the same row lengths. They have fewer rows, with the same remainders
 * modulo 3 and 4, for loops that are unrolled and accesses of 2 or 4 elements; the first is only
 * slightly higher than a tile of 16. If the timed runs execute more code, that code is proved then.
 * Layers that are compared have sizes of their own, because a program chooses its blocks by
 * size. */
#define CONVOLUTION                                                                                \
    .letter = 'm', .file = "conv", .adapt = adapt, .column = {"B", "M", "C", "H", "W", "K"},       \
    .shape = shape_of, .shapes = shapes, .shapes_count = sizeof shapes / sizeof *shapes,           \
    .random = random_shape, .describe = describe,                                                  \
    .least = {{2, 24, 12, 21, 33, 5}, {2, 12, 1, 58, 70, 5}},                                      \
    .own = {{2, 24, 12, 33, 33, 5}, {2, 12, 1, 70, 70, 5}},                                        \
    .most = {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX}, .sized = "inference"

const struct exercise exercise_convolution = {
    CONVOLUTION,
    .name = "convolution",
    .entry = "conv_forward",
    .signature =
        "int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)",
    .types = "int conv_forward(const struct conv_shape *, const float *, const float *, float *)",
    .speed_size = 100,
    .baseline = "m2",
};

/* ---- from host memory to host memory --------------------------------------------------------- */

/* Longer phrases first. */
static const struct exercise_word words[] = {
    {"the work was not done on the GPU",
     "the work was not done on the GPU, or x, k and y were not copied directly from and to the harness's memory"},
    {"compute y in a kernel, from x and k; not on the host, and not from an earlier call.",
     "compute y in a kernel, from copies of x and k; copy directly from x and k and to y, which are page-locked, not through memory of your own."},
    {"x, k and y are device pointers: only kernels may read or write through them",
     "x, k and y are host memory; conv_workspace() and cudaMalloc() return device memory, which only kernels and copies may read or write"},
    {"x, k and y are device pointers", "x, k and y are host memory that you must copy"},
    {"Op Time:", "Op Time:"}, /* the course's line with the kernels' time, printed with the Layer
                                 Time */
    {"Op Times", "Layer Times"},
    {"Op Time", "Layer Time"},
    {"conv_forward", "conv_forward_host"},
    {"m2's reference", "the plain version"},
    {"the reference of m2", "the plain version"},
    {"m2", "the plain version"},
    {NULL, NULL},
};

const struct exercise exercise_streams = {
    CONVOLUTION,
    .milestone = "m13",
    .name = "streams",
    .entry = "conv_forward_host",
    .signature =
        "int conv_forward_host(const struct conv_shape *shape, const float *x, const float *k, float *y)",
    .types =
        "int conv_forward_host(const struct conv_shape *, const float *, const float *, float *)",
    .host_tensors = true,
    .copied = {100, 24, 12, 33, 33, 5},
    .words = words,
    .speed_size = 1000, /* so that a part of the batch is worth its own copy and fills the GPU */
    .baseline = "m13",
    .plain_baseline = true,
};
