// Matrix multiplication through square tiles in shared memory, with guards on all three sizes.
#include "vgpu/tests/check.cuh"

const int TILE = 16;

__global__ void matmul(const float *a, const float *b, float *c, int M, int N, int K)
{
    __shared__ float sA[TILE][TILE], sB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        sA[threadIdx.y][threadIdx.x] =
            row < M && k + threadIdx.x < K ? a[row * K + k + threadIdx.x] : 0;
        sB[threadIdx.y][threadIdx.x] =
            col < N && k + threadIdx.y < K ? b[(k + threadIdx.y) * N + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += sA[threadIdx.y][i] * sB[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        c[row * N + col] = sum;
}

int main()
{
    const int M = 37, N = 53, K = 71;
    Random random(8);
    std::vector<float> a(M * K), b(K * N);
    for (float &v : a)
        v = random.exact();
    for (float &v : b)
        v = random.exact();
    Device<float> da(a), db(b), dc(M * N);
    matmul<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(TILE, TILE)>>>(da, db, dc, M, N, K);
    LAUNCHED();
    std::vector<float> c = dc.host();
    bool ok = true;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[i * K + k] * b[k * N + j];
            ok &= c[i * N + j] == sum;
        }
    return verdict("matmul_tiled", ok, c);
}
