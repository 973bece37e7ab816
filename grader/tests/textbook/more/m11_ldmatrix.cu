/* mma.m16n8k16 fed by ldmatrix; big and small weights of 8 maps are the two halves of one matrix A,
 * so that one instruction computes two of the three products, and a second instruction (with only
 * the big weights) the third. */
#include "conv.h"
#include <cuda_fp16.h>
#include <stdint.h>

#define ROW 24 /* 16 halves and 8 of padding: 48 bytes, so 8 rows are in different banks */

__device__ __forceinline__ uint32_t address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const half *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(p)));
}
__device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], const half *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address(p)));
}
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void conv_ld(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ __align__(16) half A[16][ROW]; /* rows 0-7 big, 8-15 small weights of 8 maps */
    __shared__ __align__(16) half Bb[128][ROW], Bs[128][ROW];
    const int Wo = s.W - s.K + 1, P = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, n = blockIdx.x * 128 + tid,
              m0 = blockIdx.y * 8;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    float both[4][4] = {}, rest[4][4] = {};
    for (int r0 = 0; r0 < R; r0 += 16) {
        {
            const int m = m0 + tid / 16, r = r0 + tid % 16;
            const float v = m < s.M && r < R ? k[m * R + r] * 1024 : 0;
            A[tid / 16][tid % 16] = __float2half(v);
            A[8 + tid / 16][tid % 16] = __float2half(v - __half2float(__float2half(v)));
        }
        for (int i = 0; i < 16; i += 2) {
            float v[2];
            for (int j = 0; j < 2; j++) {
                const int r = r0 + i + j;
                v[j] = n < P && r < R
                           ? image[(r / (s.K * s.K) * s.H + n / Wo + r / s.K % s.K) * s.W + n % Wo +
                                   r % s.K] *
                                 1024
                           : 0;
            }
            const half2 b = __floats2half2_rn(v[0], v[1]);
            *(half2 *)&Bb[tid][i] = b;
            *(half2 *)&Bs[tid][i] =
                __floats2half2_rn(v[0] - __low2float(b), v[1] - __high2float(b));
        }
        __syncthreads();
        uint32_t a[4];
        ldmatrix_x4(a, &A[lane % 16][lane / 16 * 8]);
        const uint32_t big_only[4] = {a[0], 0, a[2], 0};
        for (int j = 0; j < 4; j++) {
            uint32_t b[2], c[2];
            ldmatrix_x2(b, &Bb[warp * 32 + j * 8 + lane % 8][lane / 8 % 2 * 8]);
            ldmatrix_x2(c, &Bs[warp * 32 + j * 8 + lane % 8][lane / 8 % 2 * 8]);
            mma(both[j], a, b);
            mma(rest[j], big_only, c);
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) {
            const int m = m0 + lane / 4,
                      to = blockIdx.x * 128 + warp * 32 + j * 8 + lane % 4 * 2 + i;
            if (m < s.M && to < P)
                y[((size_t)blockIdx.z * s.M + m) * P + to] =
                    (both[j][i] + (both[j][i + 2] + rest[j][i])) / (1024.0f * 1024.0f);
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1);
    conv_ld<<<dim3((P + 127) / 128, (s->M + 7) / 8, s->B), 128>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
