/* Submissions for g2: one thread per element. */
#include "product.cuh"

__global__ void flat(ARGUMENTS)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[i / N * K + k] * B[(size_t)k * N + i % N];
    C[i] = sum;
}

/* expect: right */
SUBMISSION_LAUNCH(numbered, flat<<<((size_t)M * N + 127) / 128, 128>>>(M, N, K, A, B, C))

__global__ void row(ARGUMENTS)
{
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)blockIdx.x * K + k] * B[(size_t)k * N + n];
        C[(size_t)blockIdx.x * N + n] = sum;
    }
}

/* expect: right */
SUBMISSION_LAUNCH(block_per_row, row<<<M, 256>>>(M, N, K, A, B, C))

/* A kernel adds one product after the other to C itself. */
__global__ void term(ARGUMENTS, int k)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)M * N)
        C[i] = (k ? C[i] : 0) + A[i / N * K + k] * B[(size_t)k * N + i % N];
}

/* expect: right */
int outer_products(ARGUMENTS)
{
    for (int k = 0; k < K; k++)
        term<<<((size_t)M * N + 127) / 128, 128>>>(M, N, K, A, B, C, k);
    return failed();
}

/* expect: kernels did only 0 of the */
int on_the_host(ARGUMENTS)
{
    float *a = (float *)malloc((size_t)M * K * 4), *b = (float *)malloc((size_t)K * N * 4);
    float *c = (float *)calloc((size_t)M * N, 4);
    cudaMemcpy(a, A, (size_t)M * K * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(b, B, (size_t)K * N * 4, cudaMemcpyDeviceToHost);
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++)
            for (int n = 0; n < N; n++)
                c[(size_t)m * N + n] += a[(size_t)m * K + k] * b[(size_t)k * N + n];
    cudaMemcpy(C, c, (size_t)M * N * 4, cudaMemcpyHostToDevice);
    free(a), free(b), free(c);
    return failed();
}

/* Each factor in two parts of 8 bits for tensor cores, which loses some of its bits. */
__device__ float rounded(float value)
{
    return __uint_as_float((__float_as_uint(value) + 0x8000) & 0xffff0000);
}

__global__ void coarse(ARGUMENTS)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++) {
        const float a = A[i / N * K + k], b = B[(size_t)k * N + i % N];
        const float high_a = rounded(a), high_b = rounded(b);
        sum += high_a * high_b + high_a * rounded(b - high_b) + rounded(a - high_a) * high_b;
    }
    C[i] = sum;
}

/* expect: outputs are wrong */
SUBMISSION_LAUNCH(in_bfloat16, coarse<<<((size_t)M * N + 127) / 128, 128>>>(M, N, K, A, B, C))
