/* More splits of float32 for m11: halves with a scaled rest, and packed parts of bfloat16. */
#include "common.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Blocks of some outputs, counted over all images, and 16 maps. */
static dim3 blocks_of(const struct conv_shape *s, int columns)
{
    const int all = s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    return dim3((all + columns - 1) / columns, (s->M + 15) / 16);
}
/* Ootomo and Yokota: halves with a scaled rest, the three terms summed outside of the tensor cores */
__device__ inline void mma16(float d[4], const unsigned a[4], const unsigned b[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.f), "f"(0.f),
          "f"(0.f), "f"(0.f));
}
__global__ void ootomo(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __align__(16) __half A[2][16][24], Bm[2][8][24];
    const int lane = threadIdx.x, taps = C * K * K, m0 = blockIdx.y * 16, cols = B * H_out * W_out,
              c0 = blockIdx.x * 8;
    float main[4] = {}, rest[4] = {};
    for (int t0 = 0; t0 < taps; t0 += 16) {
        for (int i = lane; i < 256; i += 32) {
            const float v =
                m0 + i / 16 < M && t0 + i % 16 < taps ? k[(m0 + i / 16) * taps + t0 + i % 16] : 0.f;
            const __half hi = __float2half_rn(v);
            A[0][i / 16][i % 16] = hi;
            A[1][i / 16][i % 16] = __float2half_rn((v - __half2float(hi)) * 2048.f);
        }
        for (int i = lane; i < 128; i += 32) {
            const int tap = t0 + i % 16, col = c0 + i / 16;
            const float v = tap < taps && col < cols
                                ? X(col / (H_out * W_out), tap / (K * K),
                                    col / W_out % H_out + tap / K % K, col % W_out + tap % K)
                                : 0.f;
            const __half hi = __float2half_rn(v);
            Bm[0][i / 16][i % 16] = hi;
            Bm[1][i / 16][i % 16] = __float2half_rn((v - __half2float(hi)) * 2048.f);
        }
        __syncwarp();
        unsigned a[2][4], b[2][2];
        for (int part = 0; part < 2; part++) {
            for (int i = 0; i < 4; i++)
                a[part][i] = *(unsigned *)&A[part][lane / 4 + i % 2 * 8][lane % 4 * 2 + i / 2 * 8];
            for (int i = 0; i < 2; i++)
                b[part][i] = *(unsigned *)&Bm[part][lane / 4][lane % 4 * 2 + i * 8];
        }
        float d[4];
        mma16(d, a[0], b[0]);
        for (int i = 0; i < 4; i++)
            main[i] += d[i];
        mma16(d, a[1], b[0]);
        for (int i = 0; i < 4; i++)
            rest[i] += d[i];
        mma16(d, a[0], b[1]);
        for (int i = 0; i < 4; i++)
            rest[i] += d[i];
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) {
        const int r = m0 + lane / 4 + i / 2 * 8, col = c0 + lane % 4 * 2 + i % 2;
        if (r < M && col < cols)
            Y(col / (H_out * W_out), r, col / W_out % H_out, col % W_out) =
                main[i] + rest[i] / 2048.f;
    }
}
/* expect: pass */
SUBMISSION_LAUNCH(right_ootomo, ootomo<<<blocks_of(s, 8), 32>>>(*s, x, k, y))
/* three parts of bfloat16, packed two to a word when they are staged, ldmatrix, m16n8k16 */
__device__ inline unsigned pack_bf(float a, float b)
{
    __nv_bfloat162 r = __floats2bfloat162_rn(a, b);
    return *(unsigned *)&r;
}
__global__ void bf16x6(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __align__(16) unsigned A[3][16][12], Bm[3][8][12];
    const int lane = threadIdx.x, taps = C * K * K, m0 = blockIdx.y * 16, cols = B * H_out * W_out,
              c0 = blockIdx.x * 8;
    float d[4] = {};
    auto split = [](float a, float b, unsigned &p0, unsigned &p1, unsigned &p2) {
        p0 = pack_bf(a, b);
        a -= __uint_as_float(p0 << 16);
        b -= __uint_as_float(p0 & 0xffff0000u);
        p1 = pack_bf(a, b);
        a -= __uint_as_float(p1 << 16);
        b -= __uint_as_float(p1 & 0xffff0000u);
        p2 = pack_bf(a, b);
    };
    for (int t0 = 0; t0 < taps; t0 += 16) {
        for (int i = lane; i < 128; i += 32) {
            const int r = i / 8, q = i % 8 * 2;
            auto at = [&](int t) { return m0 + r < M && t < taps ? k[(m0 + r) * taps + t] : 0.f; };
            split(at(t0 + q), at(t0 + q + 1), A[0][r][i % 8], A[1][r][i % 8], A[2][r][i % 8]);
        }
        for (int i = lane; i < 64; i += 32) {
            const int n = i / 8, q = i % 8 * 2, col = c0 + n;
            auto at = [&](int t) {
                return t < taps && col < cols
                           ? X(col / (H_out * W_out), t / (K * K), col / W_out % H_out + t / K % K,
                               col % W_out + t % K)
                           : 0.f;
            };
            split(at(t0 + q), at(t0 + q + 1), Bm[0][n][i % 8], Bm[1][n][i % 8], Bm[2][n][i % 8]);
        }
        __syncwarp();
        unsigned a[3][4], b[3][2];
        for (int part = 0; part < 3; part++) {
            const unsigned pa = (unsigned)__cvta_generic_to_shared(
                               &A[part][lane % 16][lane / 16 * 4]),
                           pb = (unsigned)__cvta_generic_to_shared(
                               &Bm[part][lane % 8][lane / 8 % 2 * 4]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(a[part][0]), "=r"(a[part][1]), "=r"(a[part][2]), "=r"(a[part][3])
                         : "r"(pa));
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                         : "=r"(b[part][0]), "=r"(b[part][1])
                         : "r"(pb));
        }
        for (int i = 2; i >= 0; i--)
            for (int j = 2 - i; j >= 0; j--)
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                    : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                      "r"(b[j][1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) {
        const int r = m0 + lane / 4 + i / 2 * 8, col = c0 + lane % 4 * 2 + i % 2;
        if (r < M && col < cols)
            Y(col / (H_out * W_out), r, col / W_out % H_out, col % W_out) = d[i];
    }
}
/* expect: pass */
SUBMISSION_LAUNCH(right_bf16x6_ldmatrix, bf16x6<<<blocks_of(s, 8), 32>>>(*s, x, k, y))
/* three products in TF32; ldmatrix moves the floats as pairs of 16-bit columns */
__global__ void floats_as_rows(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __align__(16) float A[16][12], Bm[8][12];
    const int lane = threadIdx.x, taps = C * K * K, m0 = blockIdx.y * 16, cols = B * H_out * W_out,
              c0 = blockIdx.x * 8;
    float d[4] = {}, small[4] = {};
    for (int t0 = 0; t0 < taps; t0 += 8) {
        for (int i = lane; i < 128; i += 32) {
            const int m = m0 + i / 8, t = t0 + i % 8;
            A[i / 8][i % 8] = m < M && t < taps ? k[m * taps + t] : 0.f;
        }
        for (int i = lane; i < 64; i += 32) {
            const int col = c0 + i / 8, t = t0 + i % 8;
            Bm[i / 8][i % 8] = t < taps && col < cols
                                   ? X(col / (H_out * W_out), t / (K * K),
                                       col / W_out % H_out + t / K % K, col % W_out + t % K)
                                   : 0.f;
        }
        __syncwarp();
        unsigned a[4], b[2], high_a[4], low_a[4], high_b[2], low_b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"((unsigned)__cvta_generic_to_shared(&A[lane % 16][lane / 16 * 4])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1])
                     : "r"((unsigned)__cvta_generic_to_shared(&Bm[lane % 8][lane / 8 % 2 * 4])));
        auto split = [](unsigned v, unsigned &high, unsigned &low) {
            high = v & 0xffffe000u;
            low = __float_as_uint(__uint_as_float(v) - __uint_as_float(high));
        };
        auto multiply = [](float *to, const unsigned *u, const unsigned *v) {
            asm volatile(
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
                : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(v[0]), "r"(v[1]));
        };
        for (int i = 0; i < 4; i++)
            split(a[i], high_a[i], low_a[i]);
        for (int i = 0; i < 2; i++)
            split(b[i], high_b[i], low_b[i]);
        multiply(small, low_a, high_b);
        multiply(small, high_a, low_b);
        multiply(d, high_a, high_b);
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) {
        const int r = m0 + lane / 4 + i / 2 * 8, col = c0 + lane % 4 * 2 + i % 2;
        if (r < M && col < cols)
            Y(col / (H_out * W_out), r, col / W_out % H_out, col % W_out) = d[i] + small[i];
    }
}
/* expect: pass */
SUBMISSION_LAUNCH(right_floats_by_ldmatrix, floats_as_rows<<<blocks_of(s, 8), 32>>>(*s, x, k, y))
