/* Submissions for m9: read-only loads and unrolled loops. */
#include "common.cuh"

#define CONV(NAME, TEMPLATE, QUALIFIER, SIDE, UNROLL, LOAD)                                        \
    TEMPLATE __global__ void NAME(struct conv_shape shape, const float *QUALIFIER x,               \
                                  const float *QUALIFIER k, float *QUALIFIER y)                    \
    {                                                                                              \
        PLACE;                                                                                     \
        float sum = 0;                                                                             \
        for (int c = 0; c < C; c++)                                                                \
            _Pragma(UNROLL) for (int p = 0; p < SIDE; p++)                                         \
                _Pragma(UNROLL) for (int q = 0; q < SIDE; q++) sum +=                              \
                LOAD(&X(b, c, h + p, w + q)) * LOAD(&KK(m, c, p, q));                              \
        Y(b, m, h, w) = sum;                                                                       \
    }

CONV(restrict_taps, template <int SIDE>, __restrict__, SIDE, "unroll", *)

/* expect: pass */
SUBMISSION(right_template, s->K == 5 ? LAUNCH(restrict_taps<5>) : launch_plain(s, x, k, y))

/* By hand: __ldg() and a written-out row of five taps. */
__global__ void by_hand(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < 5; p++) {
            const float *r = &X(b, c, h + p, w), *t = &KK(m, c, p, 0);
            sum += __ldg(r) * t[0] + __ldg(r + 1) * t[1] + __ldg(r + 2) * t[2] +
                   __ldg(r + 3) * t[3] + __ldg(r + 4) * t[4];
        }
    Y(b, m, h, w) = sum;
}

/* expect: pass */
SUBMISSION(right_by_hand, s->K == 5 ? LAUNCH(by_hand) : launch_plain(s, x, k, y))

CONV(may_alias, template <int SIDE>, , SIDE, "unroll", *)

/* expect: 0% of the products summed into y take x or k from read-only loads */
SUBMISSION(decoy_no_read_only_loads, s->K == 5 ? LAUNCH(may_alias<5>) : launch_plain(s, x, k, y))

CONV(restrict_loop, , __restrict__, K, "unroll 1", *)

/* expect: 1.0 products in each round of the loops around them (at least 4) */
SUBMISSION(decoy_not_unrolled, LAUNCH(restrict_loop))

/* Unrolling by the compiler alone is not the technique: it takes four of the five taps in a row. */
CONV(restrict_auto, , __restrict__, K, "unroll 4", *)

/* expect: products in each round of the loops around them (at least 4) */
SUBMISSION(decoy_left_to_the_compiler, LAUNCH(restrict_auto))

/* Unrolled and read-only, but only beside the products. */
/* expect: 0% of the products summed into y take x or k from read-only loads */
int decoy_overwritten(ARGUMENTS)
{
    float *dummy = floats(y_floats(s));
    if (s->K == 5)
        restrict_taps<5><<<tiles(s, 16, 1), dim3(16, 16)>>>(*s, x, k, dummy);
    return s->K == 5 ? LAUNCH(may_alias<5>) : launch_plain(s, x, k, y);
}

/* Read-only loads of everything, which are unused. */
__global__ void only_reads(struct conv_shape shape, const float *__restrict__ x,
                           const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    float most = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < 5 * K * K; i++)
            most = fmaxf(most, X(b, c, h + i % K, w + i / 5 % K) - k[i % K]);
    Y(b, m, h, w) = most;
}

/* expect (long): 0% of the products summed into y take x or k from read-only loads */
int decoy_only_reads(ARGUMENTS)
{
    only_reads<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    return s->K == 5 ? LAUNCH(may_alias<5>) : launch_plain(s, x, k, y);
}
