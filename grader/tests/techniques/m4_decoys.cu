/* Right results without the constant memory of m4. */
#include "m4.cuh"
CONV(by_pointer, k[AT])
/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(pointer_to_k, FILLED(LAUNCH(by_pointer)))
CONV(some_channels, c % 4 ? KK(m, c, p, q) : c_k[AT])
/* expect: of the products summed into y take k from a __constant__ variable */
SUBMISSION(quarter_of_channels, FILLED(LAUNCH(some_channels)))
CONV(average, 0.5f * (c_k[AT] + KK(m, c, p, q)))
/* expect: of the products summed into y take k from a __constant__ variable */
SUBMISSION(average_of_both, FILLED(LAUNCH(average)))
CONV(compared, c_k[AT] == KK(m, c, p, q) ? KK(m, c, p, q) : 0.0f)
/* expect: of the products summed into y take k from a __constant__ variable */
SUBMISSION(only_compared, FILLED(LAUNCH(compared)))
/* constant memory copied to shared memory, from which the products come */
__global__ void through_shared(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_k[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.y * 16 + threadIdx.x,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    for (int i = t; i < C * K * K; i += 256)
        s_k[i] = KK(m, 0, 0, i);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < C * K * K && h < H_out && w < W_out; i++)
        sum += X(b, i / K / K, h + i / K % K, w + i % K) * s_k[i];
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: 0% of the products summed into y take k from a __constant__ variable */
int shared_instead(ARGUMENTS)
{
    through_shared<<<tiles(s, 16, s->B * s->M), dim3(16, 16), s->C * s->K * s->K * 4>>>(*s, x, k,
                                                                                        y);
    return failed();
}
/* read-only loads instead */
CONV(ldg, __ldg(&KK(m, c, p, q)))
/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(read_only_instead, LAUNCH(ldg))
/* the constant variable's address used as a global one */
/* expect: 0% of the products summed into y take k from a __constant__ variable */
int symbol_as_global(ARGUMENTS)
{
    void *at;
    cudaGetSymbolAddress(&at, c_k);
    return FILLED(LAUNCH_WITH(by_pointer, *s, x, (float *)at, y));
}
/* constant for one layer only */
CONV(constant, c_k[AT])
/* expect: timed: but not in the timed runs */
SUBMISSION(constant_when_few, FILLED(s->B <= 24 ? LAUNCH(constant) : LAUNCH(by_pointer)))
/* weights from global memory, each plus and minus a product of constant memory */
CONV(by_products, hidden(KK(m, c, p, q), X(b, 0, h, w) * c_k[0]))
/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(one_product_in_all_weights, FILLED(LAUNCH(by_products)))
/* such a product is made the sum of many, which is added and taken away again and again */
__global__ void diluted(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = sum_at(shape, x, k, b, m, h, w), many = X(b, 0, h, w) * c_k[0];
    for (int i = 0; i < 8; i++)
        many = hidden(many, many);
    for (int i = 0; i < 10; i++)
        sum = hidden(sum, many);
    Y(b, m, h, w) = sum;
}
/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(many_taken_away, FILLED(LAUNCH(diluted)))
/* the upper bits of each weight from global memory, the rest from constant memory */
__global__ void keep_rests(const float *k, float *to, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        to[i] = k[i] - __uint_as_float(__float_as_uint(k[i]) & 0xffffe000);
}
CONV(in_two_parts, (__uint_as_float(__float_as_uint(KK(m, c, p, q)) & 0xffffe000) + c_k[AT]))
/* expect: 0% of the products summed into y take k from a __constant__ variable */
int upper_bits_from_global(ARGUMENTS)
{
    void *to;
    if (k_floats(s) * sizeof(float) > sizeof c_k)
        return LAUNCH(ldg);
    cudaGetSymbolAddress(&to, c_k);
    keep_rests<<<(k_floats(s) + 127) / 128, 128>>>(k, (float *)to, k_floats(s));
    return LAUNCH(in_two_parts);
}
