#include "nn/dataset.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nn_dataset random_images(size_t images, int height, int width, uint64_t seed)
{
    size_t n = images * (size_t)height * (size_t)width;
    struct nn_dataset set = {images, height, width, malloc(n), calloc(images, 1)};
    struct rng r = rng_make(seed, 0);
    for (size_t i = 0; i < n; i++)
        set.pixels[i] = (uint8_t)rng_range(&r, 0, 255);
    return set;
}

static double pixel(const struct nn_dataset *set, size_t image, int h, int w)
{
    return set->pixels[(image * (size_t)set->height + (size_t)h) * (size_t)set->width + (size_t)w];
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The definition, in float64: the four pixels around a position, weighted by nearness. */
static double formula(const struct nn_dataset *set, size_t image, int H, int W, int h, int w)
{
    double y = clamp((h + 0.5) * set->height / H - 0.5, 0, set->height - 1);
    double x = clamp((w + 0.5) * set->width / W - 0.5, 0, set->width - 1);
    double sum = 0;
    for (int i = 0; i < set->height; i++)
        for (int j = 0; j < set->width; j++)
            sum += fmax(0, 1 - fabs(y - i)) * fmax(0, 1 - fabs(x - j)) * pixel(set, image, i, j);
    return sum / 255;
}

static float *scaled(const struct nn_dataset *set, size_t first, size_t count, int H, int W)
{
    size_t n = count * (size_t)H * (size_t)W;
    float *to = malloc((n + 1) * sizeof *to);
    for (size_t i = 0; i <= n; i++)
        to[i] = NAN;
    nn_dataset_scale(set, first, count, H, W, to);
    cr_expect(isnan(to[n]), "written after the end");
    return to;
}

Test(scale, any_size_to_any_size_follows_the_formula)
{
    static const int sizes[][4] = {{28, 28, 70, 70}, {28, 28, 28, 28}, {1, 1, 5, 3},
                                   {2, 3, 7, 11},    {5, 4, 4, 5},     {28, 28, 29, 27},
                                   {28, 28, 1, 1},   {3, 1, 1, 64},    {13, 17, 37, 41}};
    uint64_t seed = rng_fresh_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int H = sizes[s][2], W = sizes[s][3];
        struct nn_dataset set = random_images(3, sizes[s][0], sizes[s][1], seed);
        float *to = scaled(&set, 0, 3, H, W);
        double worst = 0;
        for (int i = 0; i < 3 * H * W; i++) {
            double diff =
                fabs(to[i] - formula(&set, (size_t)(i / (H * W)), H, W, i / W % H, i % W));
            worst = diff <= worst ? worst : diff; /* NaN stays NaN */
        }
        cr_expect(worst <= 2.5e-7, "%dx%d to %dx%d is off by %g (seed %llu)", set.height, set.width,
                  H, W, worst, (unsigned long long)seed);
        free(to);
        nn_dataset_free(&set);
    }
}

Test(scale, the_same_size_is_an_exact_copy_in_units_of_255)
{
    struct nn_dataset set = random_images(5, 28, 28, 1);
    float *to = scaled(&set, 0, 5, 28, 28);
    for (int i = 0; i < 5 * 28 * 28; i++)
        cr_assert_eq(to[i], (float)set.pixels[i] / 255.0f);
    free(to);
    nn_dataset_free(&set);
}

Test(scale, a_constant_image_stays_exactly_constant)
{
    for (int v = 0; v < 256; v++) {
        struct nn_dataset set = random_images(1, 28, 28, 1);
        memset(set.pixels, v, 28 * 28);
        float *to = scaled(&set, 0, 1, 70, 70);
        for (int i = 0; i < 70 * 70; i++)
            cr_assert_eq(to[i], (float)v / 255.0f);
        free(to);
        nn_dataset_free(&set);
    }
}

Test(scale, corners_are_the_corners_of_the_source)
{
    struct nn_dataset set = random_images(2, 28, 28, 7);
    float *to = scaled(&set, 0, 2, 70, 70);
    for (size_t b = 0; b < 2; b++) {
        const float *image = to + b * 70 * 70;
        cr_expect_eq(image[0], (float)pixel(&set, b, 0, 0) / 255.0f);
        cr_expect_eq(image[69], (float)pixel(&set, b, 0, 27) / 255.0f);
        cr_expect_eq(image[69 * 70], (float)pixel(&set, b, 27, 0) / 255.0f);
        cr_expect_eq(image[69 * 70 + 69], (float)pixel(&set, b, 27, 27) / 255.0f);
    }
    free(to);
    nn_dataset_free(&set);
}

Test(scale, values_stay_within_0_and_1)
{
    struct nn_dataset set = random_images(20, 28, 28, 3);
    for (int i = 0; i < 20 * 28 * 28; i++)
        set.pixels[i] = set.pixels[i] & 1 ? 255 : 0;
    float *to = scaled(&set, 0, 20, 1000, 70);
    for (int i = 0; i < 20 * 1000 * 70; i++)
        cr_assert(to[i] >= 0 && to[i] <= 1);
    free(to);
    nn_dataset_free(&set);
}

Test(scale, a_part_of_the_set_is_that_part_of_the_whole)
{
    enum { IMAGES = 200, ELEMS = 70 * 70 }; /* enough for several pieces of parallel work */
    struct nn_dataset set = random_images(IMAGES, 28, 28, 4);
    float *all = scaled(&set, 0, IMAGES, 70, 70);
    static const size_t parts[][2] = {{0, 1}, {0, 65}, {63, 2}, {64, 136}, {199, 1}, {200, 0}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        float *part = scaled(&set, parts[p][0], parts[p][1], 70, 70);
        cr_expect_eq(memcmp(part, all + parts[p][0] * ELEMS, parts[p][1] * ELEMS * sizeof(float)),
                     0);
        free(part);
    }
    free(all);
    nn_dataset_free(&set);
}

Test(scale, one_core_makes_the_same_bits_as_all_and_as_ever)
{
    struct nn_dataset set = random_images(150, 28, 28, 5);
    size_t bytes = 150 * 70 * 70 * sizeof(float);
    float *many = scaled(&set, 0, 150, 70, 70);
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    float *single = scaled(&set, 0, 150, 70, 70);
    cr_expect_eq(memcmp(many, single, bytes), 0);
    /* FNV-1a hash of the bits: every compiler and processor must give this recorded value. */
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((unsigned char *)single)[i]) * 0x100000001b3u;
    cr_expect_eq(hash, 0x48643873604ac7c4u, "%016llx", (unsigned long long)hash);
    free(single);
    free(many);
    nn_dataset_free(&set);
}
