/* Submissions for g3: tiles in shared memory. */
#include "product.cuh"

/* STAGED: 1 A, 2 B; a matrix that is not staged is read from global memory. */
template <int BLK, int STAGED, bool USED> __global__ void tiles(ARGUMENTS)
{
    __shared__ float sA[BLK][BLK], sB[BLK][BLK];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t m = (size_t)blockIdx.x * BLK + y;
    for (size_t n = (size_t)blockIdx.y * BLK + x; n - x < N; n += (size_t)gridDim.y * BLK) {
        float sum = 0;
        for (int k0 = 0; k0 < K; k0 += BLK) {
            sA[y][x] = m < M && k0 + x < K ? A[m * K + k0 + x] : 0;
            sB[y][x] = n < N && k0 + y < K ? B[(size_t)(k0 + y) * N + n] : 0;
            __syncthreads();
            for (int k = 0; k < BLK && k0 + k < K && m < M && n < N; k++)
                sum += (STAGED & 1 && USED ? sA[y][k] : A[m * K + k0 + k]) *
                       (STAGED & 2 && USED ? sB[k][x] : B[(size_t)(k0 + k) * N + n]);
            if (!USED)
                sum += sA[y][x] * 0.0f;
            __syncthreads();
        }
        if (m < M && n < N)
            C[m * N + n] = sum;
    }
}

/* expect: pass */
SUBMISSION_LAUNCH(of_8, tiles<8, 3, true><<<grid_of(M, N, 8, 8), dim3(8, 8)>>>(M, N, K, A, B, C))

/* expect: pass */
SUBMISSION_LAUNCH(of_32,
                  tiles<32, 3, true><<<grid_of(M, N, 32, 32), dim3(32, 32)>>>(M, N, K, A, B, C))

/* A one-dimensional block computes 8 rows of 32 columns; a warp stages a row of A and a row of
 * B. */
__global__ void strip(ARGUMENTS)
{
    __shared__ float sA[8][32], sB[32][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t m = (size_t)blockIdx.x * 8 + warp;
    for (size_t n0 = (size_t)blockIdx.y * 32; n0 < N; n0 += (size_t)gridDim.y * 32) {
        float sum = 0;
        for (int k0 = 0; k0 < K; k0 += 32) {
            sA[warp][lane] = m < M && k0 + lane < K ? A[m * K + k0 + lane] : 0;
            for (int k = warp; k < 32; k += 8)
                sB[k][lane] = n0 + lane < N && k0 + k < K ? B[(size_t)(k0 + k) * N + n0 + lane] : 0;
            __syncthreads();
            for (int k = 0; k < 32; k++)
                sum += sA[warp][k] * sB[k][lane];
            __syncthreads();
        }
        if (m < M && n0 + lane < N)
            C[m * N + n0 + lane] = sum;
    }
}

/* expect: pass */
SUBMISSION_LAUNCH(of_strips, strip<<<grid_of(M, N, 8, 32), 256>>>(M, N, K, A, B, C))

/* expect: take B from shared memory (at least 70%) */
SUBMISSION_LAUNCH(only_of_a,
                  tiles<16, 1, true><<<grid_of(M, N, 16, 16), dim3(16, 16)>>>(M, N, K, A, B, C))

/* expect: take B from shared memory (at least 70%) */
SUBMISSION_LAUNCH(not_used,
                  tiles<16, 3, false><<<grid_of(M, N, 16, 16), dim3(16, 16)>>>(M, N, K, A, B, C))

/* Each thread has a separate place in shared memory. */
__global__ void places(ARGUMENTS)
{
    __shared__ float s[2][256];
    const int t = threadIdx.y * 16 + threadIdx.x;
    const size_t m = (size_t)blockIdx.x * 16 + threadIdx.y;
    for (size_t n = (size_t)blockIdx.y * 16 + threadIdx.x; n < N && m < M;
         n += (size_t)gridDim.y * 16) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            s[0][t] = A[m * K + k];
            s[1][t] = B[(size_t)k * N + n];
            __syncwarp();
            sum += ((volatile float *)s[0])[t] * ((volatile float *)s[1])[t];
        }
        C[m * N + n] = sum;
    }
}

/* expect (long): was loaded from there 1.0 times */
SUBMISSION_LAUNCH(of_one_thread, places<<<grid_of(M, N, 16, 16), dim3(16, 16)>>>(M, N, K, A, B, C))

/* Tiles for small matrices, none for large ones. */
__global__ void plain(ARGUMENTS)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[i / N * K + k] * B[(size_t)k * N + i % N];
    C[i] = sum;
}

/* expect: timed: but not in the timed runs */
int of_small_matrices(ARGUMENTS)
{
    if ((double)M * N * K < 8e6)
        tiles<16, 3, true><<<grid_of(M, N, 16, 16), dim3(16, 16)>>>(M, N, K, A, B, C);
    else
        plain<<<((size_t)M * N + 127) / 128, 128>>>(M, N, K, A, B, C);
    return failed();
}
