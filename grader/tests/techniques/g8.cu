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
