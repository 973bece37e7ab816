/* Tests of the contracts: their milestones, SGEMM as a convolution, and the words of its
 * messages. */
#include "exercise/exercise.h"
#include "nn/oracle.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* C = A B; a wrong order of the arguments changes the result. */
static int multiply(int M, int N, int K, const float *A, const float *B, float *C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            C[m * N + n] = 0;
            for (int k = 0; k < K; k++)
                C[m * N + n] += A[m * K + k] * B[k * N + n];
        }
    return 7;
}

Test(exercise, is_that_of_the_first_letter_or_of_the_name)
{
    cr_expect_str_eq(exercise_of("m3")->entry, "conv_forward");
    cr_expect_str_eq(exercise_of("g3")->entry, "gemm_forward");
    cr_expect_eq(exercise_of("sgemm"), exercise_of("g12"));
    cr_expect_eq(exercise_of("convolution"), exercise_of("m1"));
    cr_expect_str_eq(exercise_of("m13")->entry, "conv_forward_host");
    cr_expect_eq(exercise_of("streams"), exercise_of("m13"));
    cr_expect_eq(exercise_of("m130"), exercise_of("m1"), "only m13 has its own exercise");
    for (size_t i = 0; exercise_at(i); i++)
        cr_expect_null(exercise_at(i)->milestone,
                       "the exercise of a single milestone is not listed");
    cr_expect_eq(exercise_of(NULL), exercise_at(0));
    cr_expect_eq(exercise_of("other"), exercise_at(0));
}

Test(exercise, a_product_of_matrices_is_the_convolution_that_the_oracle_computes)
{
    const struct exercise *sgemm = exercise_of("g2");
    const int size[] = {3, 4, 5};
    const struct conv_shape s = sgemm->shape(size);
    float x[20], k[15], y[12], expected[12];
    void *symbol;
    int (*function)(int, int, int, const float *, const float *, float *) = multiply;
    memcpy(&symbol, &function, sizeof symbol);
    struct rng rng = rng_make(rng_fresh_seed(), 1);
    cr_assert_eq(nn_conv_x_elems(&s), 20);
    cr_assert_eq(nn_conv_k_elems(&s), 15);
    cr_assert_eq(nn_conv_y_elems(&s), 12);
    rng_fill(&rng, x, 20, -1, 1);
    rng_fill(&rng, k, 15, -1, 1);
    nn_oracle_conv(&s, x, k, expected);
    cr_expect_eq(sgemm->adapt(symbol)(&s, x, k, y), 7);
    for (int i = 0; i < 12; i++)
        cr_expect_float_eq(y[i], expected[i], 1e-5F, "element %d", i);
}

Test(exercise, sizes_have_their_own_words)
{
    char size[EXERCISE_TEXT];
    cr_expect_str_eq(exercise_size(exercise_of("m2"), 1, size), "1 image");
    cr_expect_str_eq(exercise_size(exercise_of("m2"), 100, size), "100 images");
    cr_expect_str_eq(exercise_size(exercise_of("g2"), 512, size), "M=512 N=512 K=512");
}

Test(exercise, speaks_in_its_own_words)
{
    char text[96] =
        "conv_forward: y[b=0, m=1, h=0, w=2] is not x times k; --images, box, x2 and m2";
    char same[96];
    strcpy(same, text);
    exercise_say(exercise_of("m2"), same, sizeof same);
    cr_expect_str_eq(same, text);
    exercise_say(exercise_of("g2"), text, sizeof text);
    cr_expect_str_eq(text, "gemm_forward: C[m=1, n=2] is not B times A; --images, box, x2 and g2");
    char *page = strdup("12 images: `B[k * N + n] * x` beside m2, --images; each convolution");
    page = exercise_say_page(exercise_of("g2"), page);
    cr_expect_str_eq(page, "12 rows: `B[k * N + n] * x` beside g2, --images; the product");
    free(page);
    page = exercise_say_page(exercise_of("m13"), strdup("Op Time: 1; Op Time of x beside m2"));
    cr_expect_str_eq(page, "Op Time: 1; Layer Time of x beside the plain version");
    free(page);
    char layer[128] = "2.00 times the Op Time of m2; Op Times of conv_forward()";
    exercise_say(exercise_of("m13"), layer, sizeof layer);
    cr_expect_str_eq(
        layer,
        "2.00 times the Layer Time of the plain version; Layer Times of conv_forward_host()");
    char cut[8] = "a x b";
    exercise_say(exercise_of("g2"), cut, 4);
    cr_expect_str_eq(cut, "a B");
    cr_expect_str_eq(exercise_size(exercise_of("m2"), 100, same), "100 images");
    cr_expect_str_eq(exercise_size(exercise_of("g2"), 100, same), "M=100 N=100 K=100");
}
