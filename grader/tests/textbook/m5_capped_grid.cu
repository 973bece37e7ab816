/* The unrolled matrix is transposed, [column][depth]. The grid that writes it has at most 65535
 * blocks: with many columns, each thread writes several elements. */
#include "conv.h"

constexpr int T = 16;
__global__ void make_u(conv_shape s, long first, long cols, const float *x, float *u)
{
    int depth = s.C * s.K * s.K, wo = s.W - s.K + 1, hw = (s.H - s.K + 1) * wo;
    long all = cols * depth;
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < all;
         i += (long)gridDim.x * blockDim.x) {
        int d = i % depth;
        long n = first + i / depth;
        int c = d / (s.K * s.K), p = d / s.K % s.K, q = d % s.K;
        int b = n / hw, h = n % hw / wo, w = n % hw % wo;
        u[i] = x[(((long)b * s.C + c) * s.H + h + p) * s.W + w + q];
    }
}

__global__ void product(conv_shape s, long first, long cols, const float *k, const float *u,
                        float *y)
{
    __shared__ float ks[T][T], us[T][T + 1];
    int depth = s.C * s.K * s.K, hw = (s.H - s.K + 1) * (s.W - s.K + 1);
    int tx = threadIdx.x, ty = threadIdx.y;
    long n0 = (long)blockIdx.x * T;
    int m = blockIdx.y * T + ty;
    float acc = 0;
    for (int d = 0; d < depth; d += T) {
        ks[ty][tx] = m < s.M && d + tx < depth ? k[(long)m * depth + d + tx] : 0.f;
        us[ty][tx] = n0 + ty < cols && d + tx < depth ? u[(n0 + ty) * depth + d + tx] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
            acc += ks[ty][i] * us[tx][i];
        __syncthreads();
    }
    long n = first + n0 + tx;
    if (m < s.M && n0 + tx < cols)
        y[(n / hw * s.M + m) * hw + n % hw] = acc;
}

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    long hw = (long)(s->H - s->K + 1) * (s->W - s->K + 1), total = hw * s->B,
         depth = (long)s->C * s->K * s->K;
    long cols = total;
    void *u = NULL;
    while (cols > 0) {
        long bytes = cols * depth * 4;
        if (bytes <= 128L << 20 && (u = conv_workspace(bytes)) != NULL)
            break;
        cols = (cols + 1) / 2;
        if (cols == 1 && !u) {
            u = conv_workspace(depth * 4);
            break;
        }
    }
    if (!u)
        return 1;
    for (long first = 0; first < total; first += cols) {
        long n = total - first < cols ? total - first : cols;
        long blocks = (n * depth + 255) / 256;
        if (blocks > 65535)
            blocks = 65535;
        make_u<<<blocks, 256>>>(*s, first, n, x, (float *)u);
        product<<<dim3((n + T - 1) / T, (s->M + T - 1) / T), dim3(T, T)>>>(*s, first, n, k,
                                                                           (const float *)u, y);
    }
    return cudaGetLastError() ? 1 : 0;
}
