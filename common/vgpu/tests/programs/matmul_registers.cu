// Matrix multiplication with 4x4 register tiles, double-buffered shared memory and float4 loads.
#include "vgpu/tests/check.cuh"

const int BLK_M = 64, BLK_N = 64, BLK_K = 8;

__global__ void __launch_bounds__(256)
    matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int N,
           int K)
{
    __shared__ __align__(16) float sA[2][BLK_K][BLK_M], sB[2][BLK_K][BLK_N];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row0 = blockIdx.y * BLK_M, col0 = blockIdx.x * BLK_N;
    float r[4][4] = {};
    auto load = [&](int k, int to) {
        for (int i = t; i < BLK_M * BLK_K; i += 256)
            sA[to][i % BLK_K][i / BLK_K] = a[(row0 + i / BLK_K) * K + k + i % BLK_K];
        if (t < BLK_K * BLK_N / 4) {
            int kk = t / (BLK_N / 4), n4 = t % (BLK_N / 4) * 4;
            *(float4 *)&sB[to][kk][n4] = *(const float4 *)&b[(k + kk) * N + col0 + n4];
        }
    };
    load(0, 0);
    __syncthreads();
    for (int k = 0, now = 0; k < K; k += BLK_K, now ^= 1) {
        if (k + BLK_K < K)
            load(k + BLK_K, now ^ 1);
#pragma unroll
        for (int i = 0; i < BLK_K; i++) {
            float4 fa = *(const float4 *)&sA[now][i][ty * 4],
                   fb = *(const float4 *)&sB[now][i][tx * 4];
            float va[4] = {fa.x, fa.y, fa.z, fa.w}, vb[4] = {fb.x, fb.y, fb.z, fb.w};
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    r[m][n] += va[m] * vb[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 4; m++)
        *(float4 *)&c[(row0 + ty * 4 + m) * N + col0 + tx * 4] =
            make_float4(r[m][0], r[m][1], r[m][2], r[m][3]);
}

int main()
{
    const int M = 128, N = 64, K = 40;
    Random random(9);
    std::vector<float> a(M * K), b(K * N);
    for (float &v : a)
        v = random.exact();
    for (float &v : b)
        v = random.exact();
    Device<float> da(a), db(b), dc(M * N);
    matmul<<<dim3(N / BLK_N, M / BLK_M), 256>>>(da, db, dc, N, K);
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
    return verdict("matmul_registers", ok, c);
}
