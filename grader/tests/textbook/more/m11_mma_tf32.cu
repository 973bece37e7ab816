/* mma.m16n8k8 in TF32 by inline PTX: a warp makes 16 maps x 8 positions, and its lanes load their fragments
 * straight from global memory. Each number is the sum of two of TF32; three of the four products count. */
#include "conv.h"

struct Pair {
    unsigned big, small;
};

static __device__ Pair halves_of(float v)
{
    Pair p;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(p.big) : "f"(v));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(p.small) : "f"(v - __uint_as_float(p.big)));
    return p;
}

static __device__ void mma(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void by_lanes(conv_shape s, const float *x, const float *k, float *y)
{
    const int Wo = s.W - s.K + 1, plane = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K;
    const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
    const int n0 = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 8, m0 = blockIdx.y * 16;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    const int n = n0 + group, h = n / Wo, w = n % Wo;
    float d[4] = {0, 0, 0, 0};
    for (int r0 = 0; r0 < R; r0 += 8) {
        unsigned a[2][4], b[2][2];
        for (int i = 0; i < 4; i++) {
            const int m = m0 + group + i % 2 * 8, r = r0 + member + i / 2 * 4;
            const Pair p = halves_of(m < s.M && r < R ? k[(size_t)m * R + r] : 0.0f);
            a[0][i] = p.big;
            a[1][i] = p.small;
        }
        for (int i = 0; i < 2; i++) {
            const int r = r0 + member + i * 4;
            float v = 0.0f;
            if (n < plane && r < R)
                v = image[(r / (s.K * s.K) * s.H + h + r / s.K % s.K) * s.W + w + r % s.K];
            const Pair p = halves_of(v);
            b[0][i] = p.big;
            b[1][i] = p.small;
        }
        mma(d, a[1], b[0]);
        mma(d, a[0], b[1]);
        mma(d, a[0], b[0]);
    }
    for (int i = 0; i < 4; i++) {
        const int m = m0 + group + i / 2 * 8, to = n0 + member * 2 + i % 2;
        if (m < s.M && to < plane)
            y[((size_t)blockIdx.z * s.M + m) * plane + to] = d[i];
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1);
    by_lanes<<<dim3((plane + 31) / 32, (s->M + 15) / 16, s->B), 128>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
