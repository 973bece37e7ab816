// mma.m16n8k16 on halves by inline PTX. Inputs are multiplied by 1024 before the split, so that
// small parts stay normal numbers; the result is divided by 1024 * 1024. A warp computes 16 maps x
// 32 positions; fragments are filled directly from shared memory.
#include "conv.h"
#include <cuda_fp16.h>

#define N_PER_WARP 32
#define WARPS      4
#define KSTEP      16

static __device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ unsigned load2(const __half *p) // two neighbours along the depth
{
    return *reinterpret_cast<const unsigned *>(p);
}

static __device__ void split(float v, __half *big, __half *small)
{
    v *= 1024.0f;
    *big = __float2half(v);
    *small = __float2half(v - __half2float(*big));
}

__global__ void conv_mma(struct conv_shape s, const float *__restrict__ x,
                         const float *__restrict__ k, float *__restrict__ y)
{
    // KSTEP + 2 halves per row: lanes that read neighbouring rows use different banks
    __shared__ __half xs[2][N_PER_WARP * WARPS][KSTEP + 2];
    __shared__ __half ks[2][16][KSTEP + 2];
    const int Wo = s.W - s.K + 1, total = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    const int base = blockIdx.x * N_PER_WARP * WARPS, m0 = blockIdx.y * 16;
    const float *xb = x + (size_t)blockIdx.z * s.C * s.H * s.W;

    const int n = base + threadIdx.x, row = n / Wo, col = n % Wo; // staged by this thread
    float acc[N_PER_WARP / 8][4] = {};
    for (int r0 = 0; r0 < R; r0 += KSTEP) {
        for (int i = 0; i < KSTEP; i++) {
            const int r = r0 + i;
            float v = 0.0f;
            if (n < total && r < R)
                v = xb[(r / (s.K * s.K) * s.H + row + r / s.K % s.K) * s.W + col + r % s.K];
            split(v, &xs[0][threadIdx.x][i], &xs[1][threadIdx.x][i]);
        }
        for (int i = threadIdx.x; i < 16 * KSTEP; i += blockDim.x) {
            const int m = m0 + i / KSTEP, r = r0 + i % KSTEP;
            split(m < s.M && r < R ? k[m * R + r] : 0.0f, &ks[0][i / KSTEP][i % KSTEP],
                  &ks[1][i / KSTEP][i % KSTEP]);
        }
        __syncthreads();
        unsigned a[2][4];
        for (int part = 0; part < 2; part++) {
            a[part][0] = load2(&ks[part][g][2 * t]);
            a[part][1] = load2(&ks[part][g + 8][2 * t]);
            a[part][2] = load2(&ks[part][g][2 * t + 8]);
            a[part][3] = load2(&ks[part][g + 8][2 * t + 8]);
        }
        for (int j = 0; j < N_PER_WARP / 8; j++) {
            unsigned b[2][2];
            for (int part = 0; part < 2; part++) {
                const __half *column = xs[part][warp * N_PER_WARP + j * 8 + g];
                b[part][0] = load2(column + 2 * t);
                b[part][1] = load2(column + 2 * t + 8);
            }
            mma(acc[j], a[1], b[0]);
            mma(acc[j], a[0], b[1]);
            mma(acc[j], a[0], b[0]);
        }
        __syncthreads();
    }
    for (int j = 0; j < N_PER_WARP / 8; j++)
        for (int i = 0; i < 4; i++) {
            const int m = m0 + g + i / 2 * 8, to = base + warp * N_PER_WARP + j * 8 + 2 * t + i % 2;
            if (m < s.M && to < total)
                y[((size_t)blockIdx.z * s.M + m) * total + to] = acc[j][i] / (1024.0f * 1024.0f);
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int total = (s->H - s->K + 1) * (s->W - s->K + 1), per = N_PER_WARP * WARPS;
    conv_mma<<<dim3((total + per - 1) / per, (s->M + 15) / 16, s->B), 32 * WARPS>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
