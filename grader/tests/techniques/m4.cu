/* Submissions for m4: weights in constant memory. */
#include "m4.cuh"

__constant__ float c_part[1024];

CONV(constant, c_k[AT])

/* expect: pass */
SUBMISSION(right_symbol, FILLED(LAUNCH(constant)))

/* Each thread computes one output in eight maps; a kernel puts the weights of these maps side by
 * side, in pieces of one input map. */
__global__ void reorder(struct conv_shape shape, const float *k, float *to, int c)
{
    SIZES;
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < M * K * K)
        to[i % (K * K) * M + i / (K * K)] = KK(i / (K * K), c, 0, i % (K * K));
}

__global__ void eight_maps(struct conv_shape shape, const float *x, float *y, int c)
{
    SIZES;
    const int groups = (M + 7) / 8, b = blockIdx.z / groups, m0 = blockIdx.z % groups * 8;
    const int h = blockIdx.y, w = blockIdx.x * 64 + threadIdx.x;
    if (w >= W_out)
        return;
    float sum[8];
    for (int j = 0; j < 8; j++)
        sum[j] = c && m0 + j < M ? Y(b, m0 + j, h, w) : 0;
    for (int i = 0; i < K * K; i++) {
        const float v = X(b, c, h + i / K, w + i % K);
#pragma unroll
        for (int j = 0; j < 8; j++)
            sum[j] += v * c_k[i * M + m0 + j];
    }
    for (int j = 0; j < 8 && m0 + j < M; j++)
        Y(b, m0 + j, h, w) = sum[j];
}

/* expect: pass */
int right_register_tile(ARGUMENTS)
{
    const int n = s->M * s->K * s->K;
    float *part = floats(n);
    void *to;
    cudaGetSymbolAddress(&to, c_k);
    if (n + 8 > CONST_FLOATS)
        return launch_plain(s, x, k, y);
    for (int c = 0; c < s->C; c++) {
        reorder<<<(n + 63) / 64, 64>>>(*s, k, part, c);
        cudaMemcpyAsync(to, part, n * 4, cudaMemcpyDeviceToDevice);
        eight_maps<<<dim3((s->W - s->K + 64) / 64, s->H - s->K + 1, (s->M + 7) / 8 * s->B), 64>>>(
            *s, x, y, c);
    }
    return failed();
}

/* Filled, but not used. */
/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_filled_not_used, (fits(s) && copy(s, k)) || launch_plain(s, x, k, y))

/* Read in the inner loop and multiplied by zero. */
CONV(times_zero, KK(m, c, p, q) + 0 * min(0.0f, c_part[q]))

/* expect (long): 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_times_zero, LAUNCH(times_zero))

/* For a compiler, the pointers and sizes are in constant memory too. */
CONV(parameters, (&KK(m, c, p, q))[shape.B - shape.B])

/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_parameters, LAUNCH(parameters))

/* The first output map only. */
CONV(first_map, m == 0 ? c_k[(c * K + p) * K + q] : KK(m, c, p, q))

/* expect: 4% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_first_map, FILLED(LAUNCH(first_map)))

/* expect (long): 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_overwritten,
           (fits(s) && (copy(s, k) || LAUNCH(constant))) || launch_plain(s, x, k, y))

/* ---- other styles ---------------------------------------------------------------------------- */

/* Through the host, in a stream. */
/* expect: pass */
int right_through_host(ARGUMENTS)
{
    static float there[CONST_FLOATS];
    const size_t bytes = k_floats(s) * 4;
    cudaStream_t stream;
    if (!fits(s))
        return launch_plain(s, x, k, y);
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(there, k, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpyToSymbolAsync(c_k, there, bytes, 0, cudaMemcpyHostToDevice, stream);
    constant<<<tiles(s, 16, s->B * s->M), dim3(16, 16), 0, stream>>>(*s, x, k, y);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return failed();
}

/* Wide blocks: each thread computes the outputs of a row, one after the other. */
__global__ void wide(struct conv_shape shape, const float *x, float *y)
{
    SIZES;
    const int i = blockIdx.x * 512 + threadIdx.x, b = i / W_out / M, m = i / W_out % M;
    for (int h = 0; h < H_out && b < B; h++) {
        float sum = 0;
        for (int c = 0; c < C; c++)
            for (int t = 0; t < K * K; t++)
                sum += X(b, c, h + t / K, i % W_out + t % K) * c_k[(m * C + c) * K * K + t];
        Y(b, m, h, i % W_out) = sum;
    }
}

/* expect: pass */
int right_wide(ARGUMENTS)
{
    const int blocks = (s->B * s->M * (s->W - s->K + 1) + 511) / 512;
    return FILLED((wide<<<blocks, 512>>>(*s, x, y), failed()));
}

/* ---- constant memory is read but useless ---------------------------------------------------- */

CONV(never_taken,
     c_k[(m * C + c) * K * K] == 1e30f ? c_k[(m * C + c) * K * K + p * K + q] : KK(m, c, p, q))

/* expect: 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_never_taken, FILLED(LAUNCH(never_taken)))

CONV(taken_away, KK(m, c, p, q) + c_k[(m * C + c) * K * K] - c_k[(m * C + c) * K * K])

/* expect (long): 0% of the products summed into y take k from a __constant__ variable */
SUBMISSION(decoy_taken_away, FILLED(LAUNCH(taken_away)))
