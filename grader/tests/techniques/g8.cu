/* Submissions for g8: several elements per thread, in registers. */
#include "product.cuh"

/* A block of 16 x 16 threads, each with ROWS x COLUMNS neighbouring elements, in steps of 16
 * products. */
template <int ROWS, int COLUMNS> __global__ void registers(ARGUMENTS)
{
    __shared__ float sA[16 * ROWS][17], sB[16][16 * COLUMNS];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t m0 = (size_t)blockIdx.x * 16 * ROWS, step = (size_t)gridDim.y * 16 * COLUMNS;
    for (size_t n0 = (size_t)blockIdx.y * 16 * COLUMNS; n0 < N; n0 += step) {
        float sum[ROWS][COLUMNS] = {};
        for (int k0 = 0; k0 < K; k0 += 16) {
            for (int r = y; r < 16 * ROWS; r += 16)
                sA[r][x] = m0 + r < M && k0 + x < K ? A[(m0 + r) * K + k0 + x] : 0;
            for (int c = x; c < 16 * COLUMNS; c += 16)
                sB[y][c] = n0 + c < N && k0 + y < K ? B[(size_t)(k0 + y) * N + n0 + c] : 0;
            __syncthreads();
            for (int k = 0; k < 16; k++)
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < COLUMNS; j++)
                        sum[i][j] += sA[y * ROWS + i][k] * sB[k][x * COLUMNS + j];
            __syncthreads();
        }
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                if (m0 + y * ROWS + i < M && n0 + x * COLUMNS + j < N)
                    C[(m0 + y * ROWS + i) * N + n0 + x * COLUMNS + j] = sum[i][j];
    }
}

#define SUBMISSION(name, ROWS, COLUMNS)                                                            \
    SUBMISSION_LAUNCH(                                                                             \
        name, registers<ROWS, COLUMNS>                                                             \
        <<<grid_of(M, N, 16 * ROWS, 16 * COLUMNS), dim3(16, 16)>>>(M, N, K, A, B, C))

/* expect: pass */
SUBMISSION(of_2_by_2, 2, 2)

/* expect: pass */
SUBMISSION(of_8_by_4, 8, 4)

/* expect: pass */
SUBMISSION(of_4_by_2, 4, 2)

/* expect: elements of B and A were loaded for each product */
SUBMISSION(of_1_by_2, 1, 2)

/* One element per thread, and a second product with each element of A, which C does not need. */
__global__ void second_product(ARGUMENTS, float never)
{
    __shared__ float sA[16][17], sB[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t m = (size_t)blockIdx.x * 16 + y;
    for (size_t n0 = (size_t)blockIdx.y * 16; n0 < N; n0 += (size_t)gridDim.y * 16) {
        float sum = 0, other = 0, last = 1;
        for (int k0 = 0; k0 < K; k0 += 16) {
            sA[y][x] = m < M && k0 + x < K ? A[m * K + k0 + x] : 0;
            sB[y][x] = n0 + x < N && k0 + y < K ? B[(size_t)(k0 + y) * N + n0 + x] : 0;
            __syncthreads();
            for (int k = 0; k < 16; k++) {
                const float a = sA[y][k], b = sB[k][x];
                sum += a * b;
                other += a * last;
                last = b;
            }
            __syncthreads();
        }
        if (m < M && n0 + x < N)
            C[m * N + n0 + x] = other > never ? other : sum;
    }
}

/* expect: of the products were computed by threads that need most of their products */
int second_for_nothing(ARGUMENTS)
{
    second_product<<<grid_of(M, N, 16, 16), dim3(16, 16)>>>(M, N, K, A, B, C, 1e30f);
    return failed();
}

/* expect: pass */
SUBMISSION(of_8_by_8, 8, 8)

/* A thread's rows and columns are 16 apart. */
template <int ROWS, int COLUMNS> __global__ void spread(ARGUMENTS)
{
    __shared__ float sA[8][16 * ROWS], sB[8][16 * COLUMNS];
    const int x = threadIdx.x, y = threadIdx.y, id = y * 16 + x;
    const size_t m0 = (size_t)blockIdx.x * 16 * ROWS, step = (size_t)gridDim.y * 16 * COLUMNS;
    for (size_t n0 = (size_t)blockIdx.y * 16 * COLUMNS; n0 < N; n0 += step) {
        float sum[ROWS][COLUMNS] = {};
        for (int k0 = 0; k0 < K; k0 += 8) {
            for (int i = id; i < 128 * ROWS; i += 256)
                sA[i % 8][i / 8] =
                    m0 + i / 8 < M && k0 + i % 8 < K ? A[(m0 + i / 8) * K + k0 + i % 8] : 0;
            for (int i = id; i < 128 * COLUMNS; i += 256) {
                const int k = i / (16 * COLUMNS), n = i % (16 * COLUMNS);
                sB[k][n] = n0 + n < N && k0 + k < K ? B[(size_t)(k0 + k) * N + n0 + n] : 0;
            }
            __syncthreads();
            for (int k = 0; k < 8; k++)
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < COLUMNS; j++)
                        sum[i][j] += sA[k][y + 16 * i] * sB[k][x + 16 * j];
            __syncthreads();
        }
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                if (m0 + y + 16 * i < M && n0 + x + 16 * j < N)
                    C[(m0 + y + 16 * i) * N + n0 + x + 16 * j] = sum[i][j];
    }
}

/* expect: pass */
int spread_8_by_8(ARGUMENTS)
{
    spread<8, 8><<<grid_of(M, N, 128, 128), dim3(16, 16)>>>(M, N, K, A, B, C);
    return failed();
}

/* expect: pass */
int spread_16_by_4(ARGUMENTS)
{
    spread<16, 4><<<grid_of(M, N, 256, 64), dim3(16, 16)>>>(M, N, K, A, B, C);
    return failed();
}
