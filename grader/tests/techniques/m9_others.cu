/* Submissions for m9 in the styles of other courses, and decoys. */
#include "common.cuh"

template <int K_>
__global__ void known_k(conv_shape shape, const float *__restrict__ x, const float *__restrict__ k,
                        float *__restrict__ y)
{
    SIZES;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 4 + threadIdx.y,
              m = blockIdx.z % M, b = blockIdx.z / M;
    if (w >= W_out || h >= H_out)
        return;
    float sum = 0;
#pragma unroll 2
    for (int c = 0; c < C; c++) {
        const float *in = x + ((size_t)(b * C + c) * H + h) * W + w,
                    *weights = k + (m * C + c) * K_ * K_;
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum = fmaf(in[i / K_ * W + i % K_], weights[i], sum);
    }
    Y(b, m, h, w) = sum;
}
template <int K_> static bool try_k(ARGUMENTS)
{
    if (s->K != K_)
        return false;
    known_k<K_><<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 4) / 4, s->B * s->M), dim3(32, 4)>>>(
        *s, x, k, y);
    return true;
}
/* expect: pass */
int table_of_sizes(ARGUMENTS)
{
    if (!(try_k<1>(s, x, k, y) || try_k<2>(s, x, k, y) || try_k<3>(s, x, k, y) ||
          try_k<5>(s, x, k, y) || try_k<7>(s, x, k, y)))
        return launch_plain(s, x, k, y);
    return failed();
}

/* Rows unrolled by a macro, any K by steps of four taps and a rest. */
__global__ void steps_of_four(conv_shape shape, const float *__restrict__ x,
                              const float *__restrict__ k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float *a = &X(b, c, h + p, w), *e = &KK(m, c, p, 0);
            int q = 0;
#define STEP(n) __ldg(a + q + (n)) * __ldg(e + q + (n))
            for (; q + 4 <= K; q += 4)
                sum += STEP(0) + STEP(1) + (STEP(2) + STEP(3));
            if (q < K)
                sum += STEP(0);
            if (q + 1 < K)
                sum += STEP(1);
            if (q + 2 < K)
                sum += STEP(2);
        }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
SUBMISSION(four_and_a_rest, LAUNCH(steps_of_four))

/* The loop is unrolled, and each copy of the body is a round of a loop that ends at once. */
__global__ void loops_of_one(conv_shape shape, const float *__restrict__ x,
                             const float *__restrict__ k, float *y, int one)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll 5
        for (int i = 0; i < K * K; i++)
#pragma unroll 1
            for (int j = 0; j < one; j++)
                sum += __ldg(&X(b, c, h + i / K, w + i % K)) * __ldg(&KK(m, c, 0, i));
    Y(b, m, h, w) = sum;
}
/* expect: products in each round of the loops around them */
SUBMISSION(rounds_of_one, LAUNCH_WITH(loops_of_one, *s, x, k, y, 1))

/* Read-only loads of x + 0 that the plain load decides. */
__global__ void read_twice(conv_shape shape, float *x, float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll 5
        for (int i = 0; i < K * K; i++) {
            const float v = *(volatile float *)&X(b, c, h + i / K, w + i % K),
                        again = __ldg(&X(b, c, h + i / K, w + i % K)),
                        weight = *(volatile float *)&KK(m, c, 0, i);
            sum += fminf(v, again) * weight;
        }
    Y(b, m, h, w) = sum;
}
/* expect: of the products summed into y take x or k from read-only loads */
SUBMISSION(smaller_of_both, LAUNCH_WITH(read_twice, *s, (float *)x, (float *)k, y))
