/** @file
 * Tensors for benchmarks, and functions that end a benchmark with an error.
 */
#pragma once

#include "nn/oracle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Prints the program, the failure and the reason, and exits. */
static inline _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    exit(1);
}

/** Aligned memory for @p n elements, filled with NaN so that no page fault occurs while timing. */
static inline float *floats(size_t n)
{
    float *p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
    if (!p)
        die("tensors", "not enough memory");
    memset(p, 0xff, n * sizeof(float));
    return p;
}

/** Ends the program if an element of y is wrong. */
static inline void compare(const struct conv_shape *s, const float *x, const float *k,
                           const float *y)
{
    const size_t n = nn_conv_y_elems(s), map = n / (size_t)s->B / (size_t)s->M;
    float *expected = floats(n), *atol = floats((size_t)s->M);
    nn_oracle_conv(s, x, k, expected);
    nn_conv_tolerance(s, 0, 1, k, atol);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(y[i] - expected[i]) <=
              atol[i / map % (size_t)s->M] + NN_RTOL * fabsf(expected[i])))
            die("tensors", "an output is wrong");
    free(expected), free(atol);
}
