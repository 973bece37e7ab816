#include "grader/compare/verify.h"

#include "base/rng.h"
#include "nn/oracle.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The shape with the fewest products per output in any model, whose tolerance is smallest compared
 * with the roundings of a blend; the number of images is not a multiple of a part or a vector. */
static const struct conv_shape shape = {37, 3, 1, 41, 29, 5};
static struct arena arena;
static float *x, *k, *expected;
static size_t x_elems, y_elems;

static void setup(void)
{
    struct st_error err;
    struct rng rng = rng_make(3, 1);
    x_elems = nn_conv_x_elems(&shape);
    y_elems = nn_conv_y_elems(&shape);
    x = malloc(x_elems * sizeof *x);
    k = malloc(nn_conv_k_elems(&shape) * sizeof *k);
    expected = malloc(y_elems * sizeof *expected);
    rng_fill(&rng, x, x_elems, 0, 1); /* like pixels */
    rng_fill(&rng, k, nn_conv_k_elems(&shape), -1, 1);
    nn_oracle_conv(&shape, x, k, expected);
    cr_assert_eq(arena_open(&arena, &err), ST_OK);
    cr_assert_eq(arena_reserve(&arena, arena_layout_for(&shape).bytes, &err), ST_OK);
}

static void teardown(void)
{
    arena_close(&arena);
    free(x);
    free(k);
    free(expected);
}

static struct gr_conv blended(size_t rotate, size_t apart, uint64_t blend)
{
    return (struct gr_conv){shape, x, k, rotate, apart, blend, 0};
}

static float *arena_x(void)
{
    return (float *)(arena.base + arena_layout_for(&shape).x);
}

static float *arena_y(void)
{
    return (float *)(arena.base + arena_layout_for(&shape).y);
}

/* Computes a right convolution in float32, as a submission would, in the arena's tensors. */
static void compute(void)
{
    const int H_out = shape.H - shape.K + 1, W_out = shape.W - shape.K + 1;
    float *y = arena_y();
    for (int b = 0; b < shape.B; b++)
        for (int m = 0; m < shape.M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out; w++) {
                    float sum = 0;
                    for (int p = 0; p < shape.K; p++)
                        for (int q = 0; q < shape.K; q++)
                            sum += arena_x()[(b * shape.H + h + p) * shape.W + w + q] *
                                   k[(m * shape.K + p) * shape.K + q];
                    *y++ = sum;
                }
}

static struct gr_compare compare(const struct gr_conv *conv, const float *kept)
{
    struct gr_compare sum;
    struct st_error err;
    cr_assert_eq(gr_arena_compare(&arena, conv, kept, &sum, &err), ST_OK);
    cr_assert_eq(sum.elems, y_elems);
    return sum;
}

TestSuite(verify, .init = setup, .fini = teardown);

/* The roundings of a blend are small compared with those of any convolution in float32. */
Test(verify, right_outputs_of_a_blend_pass_as_far_from_the_tolerance_as_others)
{
    struct gr_conv plain = blended(0, 0, 0);
    gr_arena_fill(&arena, &plain);
    compute();
    const double usual = compare(&plain, expected).max_error_ratio;
    cr_assert_gt(usual, 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct gr_conv conv = blended(seed * 7, seed, seed);
        gr_arena_fill(&arena, &conv);
        compute();
        struct gr_compare kept = compare(&conv, expected), computed = compare(&conv, NULL);
        cr_expect_eq(kept.wrong, 0);
        cr_expect_lt(kept.max_error_ratio, 1.5 * usual, "%g, usually %g", kept.max_error_ratio,
                     usual);
        cr_expect_eq(computed.wrong, 0);
        cr_expect_lt(computed.max_error_ratio, 1.5 * usual);
    }
}

/* Outputs kept for the images of a blend are not outputs of the blend. */
Test(verify, outputs_of_other_inputs_are_wrong_for_a_blend)
{
    struct gr_conv first = blended(0, 5, 11), again = blended(0, 5, 12), images = blended(0, 0, 0);
    gr_arena_fill(&arena, &first);
    compute();
    cr_expect_eq(compare(&first, expected).wrong, 0);
    cr_expect_gt(compare(&again, expected).wrong, y_elems * 9 / 10);
    cr_expect_gt(compare(&again, NULL).wrong, y_elems * 9 / 10);
    cr_expect_gt(compare(&images, expected).wrong, y_elems * 9 / 10);
}

Test(verify, no_image_of_a_blend_is_in_another_or_in_the_data_set)
{
    const size_t image = x_elems / (size_t)shape.B;
    float *before = malloc(x_elems * sizeof *before);
    struct gr_conv conv = blended(4, 9, 1);
    gr_arena_fill(&arena, &conv);
    memcpy(before, arena_x(), x_elems * sizeof *before);
    conv.blend = 2;
    gr_arena_fill(&arena, &conv);
    for (size_t i = 0; i < (size_t)shape.B; i++)
        for (size_t j = 0; j < (size_t)shape.B; j++) {
            const float *now = arena_x() + i * image;
            cr_expect_neq(memcmp(now, before + j * image, image * sizeof *now), 0);
            cr_expect_neq(memcmp(now, x + j * image, image * sizeof *now), 0);
        }
    free(before);
}

Test(verify, a_single_image_can_be_blended)
{
    struct gr_conv conv = blended(0, 0, 5);
    conv.shape.B = 1;
    gr_arena_fill(&arena, &conv);
    const float *single = (const float *)(arena.base + arena_layout_for(&conv.shape).x);
    cr_expect_neq(single[1], x[1]);
    struct gr_damage damage;
    cr_expect(gr_arena_intact(&arena, &conv, &damage));
}

Test(verify, a_rotated_batch_has_the_same_images_in_another_order)
{
    const size_t image = x_elems / (size_t)shape.B;
    struct gr_conv conv = blended(3, 0, 0);
    gr_arena_fill(&arena, &conv);
    cr_expect_eq(memcmp(arena_x(), x + 3 * image, image * sizeof *x), 0);
    cr_expect_eq(memcmp(arena_x() + 34 * image, x, image * sizeof *x), 0);
    compute();
    cr_expect_eq(compare(&conv, expected).wrong, 0);
    cr_expect_eq(compare(&conv, NULL).wrong, 0);
}

Test(verify, inputs_are_the_same_on_any_number_of_cores)
{
    float *before = malloc(x_elems * sizeof *before);
    struct gr_conv conv = blended(1, 2, 3);
    gr_arena_fill(&arena, &conv);
    memcpy(before, arena_x(), x_elems * sizeof *before);
    memset(arena_x(), 0, x_elems * sizeof *x);
    cpu_set_t all, one;
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    gr_arena_fill(&arena, &conv);
    cr_expect_eq(memcmp(arena_x(), before, x_elems * sizeof *x), 0);
    free(before);
}

/* Changes one element at a time, in a blend's inputs and in the images themselves. */
Test(verify, finds_a_changed_input_wherever_it_is)
{
    struct gr_conv conv[] = {blended(6, 13, 17), blended(0, 0, 0)};
    for (size_t c = 0; c < 2; c++) {
        struct gr_damage damage;
        gr_arena_fill(&arena, &conv[c]);
        cr_assert(gr_arena_intact(&arena, &conv[c], &damage), "%s", damage.message);
        for (size_t i = 0; i < x_elems; i += 1 + i % 997) {
            const float was = arena_x()[i];
            char text[64];
            arena_x()[i] += 1;
            arena_x()[x_elems - 1] += 1;
            cr_assert(!gr_arena_intact(&arena, &conv[c], &damage));
            snprintf(text, sizeof text, "x[%zu] was %.9g, now", i, (double)was);
            cr_assert(strstr(damage.message, text), "%s: %s", text, damage.message);
            arena_x()[x_elems - 1] -= 1;
            arena_x()[i] = was;
            gr_arena_fill(&arena, &conv[c]);
        }
    }
}

/* A lab may have a descriptor of a file on disk, which cannot be sealed. */
Test(verify, an_arena_on_disk_has_its_size_again)
{
    struct st_error err;
    struct arena disk;
    if (arena_open_on_disk(&disk, &err))
        cr_skip_test("no folder on a disk");
    cr_assert_eq(arena_reserve(&disk, arena.bytes, &err), ST_OK);
    cr_expect_eq(arena_memory_bytes(&disk), 0);
    cr_expect(arena_restore(&disk));
    disk.base[disk.bytes - 1] = 1;
    cr_assert_eq(ftruncate(disk.fd, 4096), 0);
    cr_expect_not(arena_restore(&disk));
    cr_expect(arena_restore(&disk));
    cr_expect_eq(disk.base[disk.bytes - 1], 0);
    arena_close(&disk);
}
