/* SGEMM, the exercise of the milestones gN: gemm_forward() of gemm.h.
 *
 * The product of A [M][K] and B [K][N] is the convolution of one image with K input maps of one row
 * and N columns, by filters of 1 x 1: x is B, k is A, and y is the product. */
#include "exercise/exercises.h"

#include <stdio.h>
#include <string.h>

/* ---- the function --------------------------------------------------------------------------- */

static int (*gemm)(int M, int N, int K, const float *A, const float *B, float *C);

static int as_convolution(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    return gemm(s->M, s->W, s->C, k, x, y);
}

static exercise_function *adapt(void *symbol)
{
    memcpy(&gemm, &symbol, sizeof gemm);
    return as_convolution;
}

/* ---- shapes --------------------------------------------------------------------------------- */

#define PRODUCT(M, N, K)                                                                           \
    {                                                                                              \
        1, M, K, 1, N, 1                                                                           \
    }

static struct conv_shape shape_of(const int *size)
{
    return (struct conv_shape)PRODUCT(size[0], size[1], size[2]);
}

static struct conv_shape square(int n)
{
    return (struct conv_shape)PRODUCT(n, n, n);
}

/* Every row finds a fault that the other rows miss: for a tiled program, 8, 16, 32, 64 and 128 and
 * their neighbours matter, separately in each direction. */
static const struct exercise_shape shapes[] = {
    {PRODUCT(1, 1, 1), "every size is 1"},
    {PRODUCT(1, 1, 37), "one product of vectors"},
    {PRODUCT(5, 7, 1), "K = 1"},
    {PRODUCT(1, 40, 9), "a single row"},
    {PRODUCT(40, 1, 9), "a single column"},
    {PRODUCT(2, 3, 4), "small, all sizes different"},
    {PRODUCT(4, 3, 2), "small, sizes in reverse order"},
    {PRODUCT(9, 23, 5), "wider than high"},
    {PRODUCT(23, 9, 5), "higher than wide"},
    {PRODUCT(6, 6, 50), "long sums"},
    {PRODUCT(7, 7, 7), "tile 8 - 1"},
    {PRODUCT(8, 8, 8), "tile 8"},
    {PRODUCT(9, 9, 9), "tile 8 + 1"},
    {PRODUCT(15, 15, 15), "tile 16 - 1"},
    {PRODUCT(16, 16, 16), "tile 16"},
    {PRODUCT(17, 17, 17), "tile 16 + 1"},
    {PRODUCT(16, 17, 16), "only N is past the tile"},
    {PRODUCT(17, 16, 16), "only M is past the tile"},
    {PRODUCT(16, 16, 17), "only K is past the tile"},
    {PRODUCT(31, 31, 31), "tile 32 - 1"},
    {PRODUCT(32, 32, 32), "tile 32"},
    {PRODUCT(33, 33, 33), "tile 32 + 1"},
    {PRODUCT(63, 65, 64), "tile 64"},
    {PRODUCT(64, 64, 16), "tile 64, K = 16"},
    {PRODUCT(65, 63, 15), "tile 64 + 1, 64 - 1, K = 15"},
    {PRODUCT(128, 128, 8), "tile 128"},
    {PRODUCT(129, 127, 9), "tile 128 + 1, 128 - 1"},
    {PRODUCT(96, 160, 24), "several tiles in each direction"},
    {PRODUCT(13, 29, 53), "primes"},
    {PRODUCT(101, 103, 7), "larger primes"},
    {PRODUCT(3, 2, 4099), "very long sums"},
    {PRODUCT(2, 4099, 3), "very wide"},
    {PRODUCT(4099, 2, 3), "very high"},
    {PRODUCT(66000, 3, 2), "more rows than a grid can have in y"},
    {PRODUCT(3, 66000, 2), "more columns than a grid can have in y"},
};

static struct conv_shape random_shape(struct rng *r)
{
    const int M = rng_range(r, 1, 150), N = rng_range(r, 1, 150), K = rng_range(r, 1, 100);
    return (struct conv_shape)PRODUCT(M, N, K);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void describe(char to[EXERCISE_TEXT], const struct conv_shape *s, enum exercise_text how)
{
    static const char *const texts[] = {[EXERCISE_SHAPE] = "M=%d N=%d K=%d",
                                        [EXERCISE_LAYER] = "a product of M=%d N=%d K=%d",
                                        [EXERCISE_RUN] = "M=%d N=%d K=%d",
                                        [EXERCISE_SIZE] = "M=%d N=%d K=%d"};
    snprintf(to, EXERCISE_TEXT, texts[how], s->M, s->W, s->C);
}

/* Longer phrases first. */
static const struct exercise_word words[] = {
    {"or use conv_workspace(), which the harness keeps", "once for all calls"},
    {"odd sizes, K = 1 and K = H too", "odd sizes and K = 1 too"},
    {"every image, map, row and column", "every row and column"},
    {"a layer with C=1", "one with K=1"},
    {"input maps × height × width, output maps @ filter width", "K × 1 × N, M @ 1"},
    {"images or output maps", "parts of the sums"},
    {"takes for all images", "takes"},
    {"one convolution", "one product"},
    {"each layer", "a product"},
    {"data-set size", "size"},
    {"Images", "Size"},
    {"the convolution", "the product"},
    {"each convolution", "the product"},
    {"images", "rows"},
    {"convolution 1 of sgemm", "product"},
    {"few images, where", "small matrices, where"},
    {"few images had", "small matrices had"},
    {"number of images", "size of the matrices"},
    {"in every layer", "for all sizes"},
    {"b=0, m", "m"},
    {"h=0, w", "n"},
    {"conv_forward", "gemm_forward"},
    {"conv.cu", "gemm.cu"},
    {"conv.h", "gemm.h"},
    {"m2", "g2"},
    {"x", "B"},
    {"k", "A"},
    {"y", "C"},
    {NULL, NULL},
};

/* Sizes that prove the work are multiples of 4, for accesses of several elements, but not of a
 * tile: M and N are slightly larger than tiles of 16, 64 and 128, and K is slightly smaller than a
 * tile of 128, so that few products of a sum are padding. The maximum sizes are twice the largest
 * tile. */
const struct exercise exercise_sgemm = {
    .letter = 'g',
    .name = "sgemm",
    .entry = "gemm_forward",
    .signature = "int gemm_forward(int M, int N, int K, const float *A, const float *B, float *C)",
    .types = "int gemm_forward(int, int, int, const float *, const float *, float *)",
    .file = "gemm",
    .adapt = adapt,
    .column = {"M", "N", "K"},
    .shape = shape_of,
    .shapes = shapes,
    .shapes_count = sizeof shapes / sizeof *shapes,
    .random = random_shape,
    .describe = describe,
    .words = words,
    .least = {PRODUCT(133, 140, 124), PRODUCT(69, 76, 1)},
    .own = {PRODUCT(132, 140, 124), PRODUCT(68, 76, 1)},
    .most = PRODUCT(512, 512, 256),
    .square = square,
    .sized = "size",
    .speed_size = 1024,
    .baseline = "g2",
};
