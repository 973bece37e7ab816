/* Submissions for m14 in the styles of other courses, and decoys. */
#include "common.cuh"

/* ---- fast filters of two phases: three filters of half the length instead of four --------------- */

/* For outputs 2i and 2i + 1 with even taps e, odd taps o, and the phases of x, u[i] = x[2i] and
 * v[i] = x[2i + 1]:
 *     y[2i]     = e*u[i] + o*v[i]
 *     y[2i + 1] = e*v[i] + o*u[i + 1]
 * With a = o * (u[i..] - ..) this needs three convolutions: e*(u - v), (e + o)*v, o*(u shifted - v).
 * In both directions 9 products replace 16. */
template <int K_>
__device__ inline float tap_of(const float *k, int K, int p, int q, int rp, int rq)
{
    /* r: 0 even taps, 1 their sum with the odd ones, 2 odd taps, each at index p or q */
    float v = 0;
    for (int a = rp == 2; a <= (rp != 0); a++)
        for (int b = rq == 2; b <= (rq != 0); b++)
            if (2 * p + a < K && 2 * q + b < K)
                v += k[(2 * p + a) * K + 2 * q + b];
    return v;
}

__device__ inline float at_or_0(const float *x, int H, int W, int h, int w)
{
    return h < H && w < W ? x[h * W + w] : 0.f;
}

/* r: 0 u - v, 1 v, 2 the next u - v, of pairs of rows and of columns */
__device__ inline float phase_of(const float *x, int H, int W, int h, int w, int rp, int rq)
{
    const int h0 = rp == 0   ? h
                   : rp == 1 ? h + 1
                             : h + 2,
              w0 = rq == 0   ? w
                   : rq == 1 ? w + 1
                             : w + 2;
    float v = at_or_0(x, H, W, h0, w0);
    if (rp != 1)
        v -= at_or_0(x, H, W, h + 1, w0);
    if (rq != 1)
        v -= at_or_0(x, H, W, h0, w + 1);
    if (rp != 1 && rq != 1)
        v += at_or_0(x, H, W, h + 1, w + 1);
    return v;
}

__global__ void transform_taps(conv_shape shape, const float *k, float *to)
{
    SIZES;
    const int L = (K + 1) / 2, n = blockIdx.x * 128 + threadIdx.x;
    if (n >= M * C * 9 * L * L)
        return;
    const int q = n % L, p = n / L % L, r = n / (L * L) % 9, mc = n / (L * L * 9);
    to[n] = tap_of<0>(k + mc * K * K, K, p, q, r / 3, r % 3);
}

/* A thread computes 2 x 2 outputs of 4 maps. */
__global__ void two_phases(conv_shape shape, const float *x, const float *taps, float *y)
{
    SIZES;
    const int L = (K + 1) / 2, groups = (M + 3) / 4, b = blockIdx.z / groups,
              m0 = blockIdx.z % groups * 4;
    const int h = 2 * (blockIdx.y * 8 + threadIdx.y), w = 2 * (blockIdx.x * 16 + threadIdx.x);
    if (h >= H_out || w >= W_out)
        return;
    float s[4][9] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < L; p++)
            for (int q = 0; q < L; q++)
#pragma unroll
                for (int r = 0; r < 9; r++) {
                    if ((r / 3 == 2 && 2 * p + 1 >= K) || (r % 3 == 2 && 2 * q + 1 >= K))
                        continue;
                    const float v =
                        phase_of(&X(b, c, 0, 0), H, W, h + 2 * p, w + 2 * q, r / 3, r % 3);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        s[j][r] +=
                            v * taps[(((min(m0 + j, M - 1)) * C + c) * 9 + r) * L * L + p * L + q];
                }
    for (int j = 0; j < 4 && m0 + j < M; j++)
        for (int i = 0; i < 2 && h + i < H_out; i++)
            for (int g = 0; g < 2 && w + g < W_out; g++) {
                /* even: e*(u - v) + (e + o)*v; odd: (e + o)*v + o*(next u - v) */
                const int r0 = i, q0 = g;
                Y(b, m0 + j, h + i, w + g) = s[j][r0 * 3 + q0] + s[j][r0 * 3 + q0 + 1] +
                                             s[j][(r0 + 1) * 3 + q0] + s[j][(r0 + 1) * 3 + q0 + 1];
            }
}

/* expect: pass */
int right_two_phases(ARGUMENTS)
{
    const int L = (s->K + 1) / 2, n = s->M * s->C * 9 * L * L;
    if (s->K < 4)
        return launch_plain(s, x, k, y);
    float *taps = floats(n);
    transform_taps<<<(n + 127) / 128, 128>>>(*s, k, taps);
    two_phases<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 16) / 16, s->B * ((s->M + 3) / 4)),
                 dim3(16, 8)>>>(*s, x, taps, y);
    return failed();
}

/* ---- F(2 x 2, 5 x 5) in three kernels, with the 36 products as a batch of matrix products ------- */

__constant__ float G6[6][5] = {{1, 0, 0, 0, 0},
                               {1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f},
                               {-1 / 3.f, 1 / 3.f, -1 / 3.f, 1 / 3.f, -1 / 3.f},
                               {-16 / 15.f, -8 / 15.f, -4 / 15.f, -2 / 15.f, -1 / 15.f},
                               {1 / 15.f, -2 / 15.f, 4 / 15.f, -8 / 15.f, 16 / 15.f},
                               {0, 0, 0, 0, 1}};
__constant__ float D6[6][6] = {{1, -1.5f, -2, 1.5f, 1, 0}, {0, -1, .5f, 2.5f, 1, 0},
                               {0, 1, -2.5f, .5f, 1, 0},   {0, -2, -1, 2, 1, 0},
                               {0, .5f, -1, -.5f, 1, 0},   {0, 1, -1.5f, -2, 1.5f, 1}};
__constant__ float A2[2][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, .5f, -2, 1}};

struct tiling {
    int across, down, all;
};
static __host__ __device__ tiling tiling_of(const conv_shape &s)
{
    tiling t;
    t.across = (s.W - s.K + 2) / 2;
    t.down = (s.H - s.K + 2) / 2;
    t.all = s.B * t.across * t.down;
    return t;
}

/* u[f][m][c] */
__global__ void weights_6(conv_shape shape, const float *k, float *u)
{
    SIZES;
    const int mc = blockIdx.x, f = threadIdx.x / 6, g = threadIdx.x % 6;
    float v = 0;
    for (int p = 0; p < 5; p++)
        for (int q = 0; q < 5; q++)
            v += G6[f][p] * G6[g][q] * k[mc * 25 + p * 5 + q];
    u[threadIdx.x * M * C + mc] = v;
}

/* v[f][c][tile] */
__global__ void tiles_6(conv_shape shape, const float *x, float *v)
{
    SIZES;
    const tiling t = tiling_of(shape);
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= C * t.all)
        return;
    const int c = i / t.all, tile = i % t.all, b = tile / (t.across * t.down),
              h = tile / t.across % t.down * 2, w = tile % t.across * 2;
    float d[6][6], e[6][6];
    for (int p = 0; p < 6; p++)
        for (int q = 0; q < 6; q++)
            d[p][q] = h + p < H && w + q < W ? X(b, c, h + p, w + q) : 0.f;
    for (int f = 0; f < 6; f++)
        for (int q = 0; q < 6; q++) {
            e[f][q] = 0;
            for (int p = 0; p < 6; p++)
                e[f][q] += D6[f][p] * d[p][q];
        }
    for (int f = 0; f < 6; f++)
        for (int g = 0; g < 6; g++) {
            float all = 0;
            for (int q = 0; q < 6; q++)
                all += D6[g][q] * e[f][q];
            v[(size_t)(f * 6 + g) * C * t.all + i] = all;
        }
}

/* w[f][m][tile] = sum over c; one thread per element, tiles of 16 x 16 in shared memory */
__global__ void batch_6(int M, int C, int n, const float *u, const float *v, float *w)
{
    __shared__ float su[16][17], sv[16][17];
    const int f = blockIdx.z, m = blockIdx.y * 16 + threadIdx.y, i = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int c0 = 0; c0 < C; c0 += 16) {
        su[threadIdx.y][threadIdx.x] =
            m < M && c0 + threadIdx.x < C ? u[(f * M + m) * C + c0 + threadIdx.x] : 0.f;
        sv[threadIdx.y][threadIdx.x] =
            i < n && c0 + threadIdx.y < C ? v[((size_t)f * C + c0 + threadIdx.y) * n + i] : 0.f;
        __syncthreads();
        for (int c = 0; c < 16; c++)
            sum += su[threadIdx.y][c] * sv[c][threadIdx.x];
        __syncthreads();
    }
    if (m < M && i < n)
        w[((size_t)f * M + m) * n + i] = sum;
}

__global__ void back_6(conv_shape shape, const float *w, float *y)
{
    SIZES;
    const tiling t = tiling_of(shape);
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= M * t.all)
        return;
    const int m = i / t.all, tile = i % t.all, b = tile / (t.across * t.down),
              h = tile / t.across % t.down * 2, col = tile % t.across * 2;
    for (int a = 0; a < 2; a++)
        for (int o = 0; o < 2; o++) {
            float all = 0;
            for (int f = 0; f < 36; f++)
                all += A2[a][f / 6] * A2[o][f % 6] * w[((size_t)f * M + m) * t.all + tile];
            if (h + a < H_out && col + o < W_out)
                Y(b, m, h + a, col + o) = all;
        }
}

/* expect: pass */
int right_batch_of_36(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    const tiling t = tiling_of(*s);
    float *u = floats(36 * ((size_t)s->M * s->C + (size_t)(s->C + s->M) * t.all));
    float *v = u + 36 * s->M * s->C, *w = v + (size_t)36 * s->C * t.all;
    weights_6<<<s->M * s->C, 36>>>(*s, k, u);
    tiles_6<<<(s->C * t.all + 127) / 128, 128>>>(*s, x, v);
    batch_6<<<dim3((t.all + 15) / 16, (s->M + 15) / 16, 36), dim3(16, 16)>>>(s->M, s->C, t.all, u,
                                                                             v, w);
    back_6<<<(s->M * t.all + 127) / 128, 128>>>(*s, w, y);
    return failed();
}

/* ---- F(2, 3) and F(2, 2) by classes: a row of 5 taps as 3 and 2, any K in parts ------------------ */

/* Adds F(2, 3) of three taps or F(2, 2) of two, in double precision sums of differences. */
__device__ inline void add_f23(float s[4], const float *d, const float *g)
{
    s[0] += (d[0] - d[2]) * g[0];
    s[1] += (d[1] + d[2]) * (0.5f * (g[0] + g[1] + g[2]));
    s[2] += (d[2] - d[1]) * (0.5f * (g[0] - g[1] + g[2]));
    s[3] += (d[1] - d[3]) * g[2];
}

__device__ inline void add_f22(float s[3], const float *d, const float *g)
{
    s[0] += (d[0] - d[1]) * g[0];
    s[1] += d[1] * (g[0] + g[1]);
    s[2] += (d[1] - d[2]) * g[1];
}

/* A thread: two rows below each other, in one map. Filters of any size, in parts of 3, 2 and 1. */
__global__ void by_columns(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int down = (H_out + 1) / 2;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)B * M * down * W_out)
        return;
    const int w = i % W_out, h = i / W_out % down * 2, m = i / W_out / down % M,
              b = i / W_out / down / M;
    float three[4] = {}, two[3] = {}, one[2] = {};
    for (int c = 0; c < C; c++)
        for (int q = 0; q < K; q++) {
            int p = 0;
            for (; p + 3 <= K; p += 3) {
                float d[4], g[3];
                for (int j = 0; j < 4; j++)
                    d[j] = X(b, c, min(h + p + j, H - 1), w + q);
                for (int j = 0; j < 3; j++)
                    g[j] = KK(m, c, p + j, q);
                add_f23(three, d, g);
            }
            for (; p + 2 <= K; p += 2) {
                const float d[3] = {X(b, c, h + p, w + q), X(b, c, h + p + 1, w + q),
                                    X(b, c, min(h + p + 2, H - 1), w + q)};
                const float g[2] = {KK(m, c, p, q), KK(m, c, p + 1, q)};
                add_f22(two, d, g);
            }
            for (; p < K; p++) {
                one[0] += X(b, c, h + p, w + q) * KK(m, c, p, q);
                one[1] += X(b, c, min(h + p + 1, H - 1), w + q) * KK(m, c, p, q);
            }
        }
    Y(b, m, h, w) = three[0] + three[1] + three[2] + two[0] + two[1] + one[0];
    if (h + 1 < H_out)
        Y(b, m, h + 1, w) = three[1] - three[2] - three[3] + two[1] - two[2] + one[1];
}

/* expect: pass */
int right_by_columns(ARGUMENTS)
{
    by_columns<<<((size_t)s->B * s->M * ((s->H - s->K + 2) / 2) * (s->W - s->K + 1) + 127) / 128,
                 128>>>(*s, x, k, y);
    return failed();
}

/* ---- F(4, 5) along rows, in double ------------------------------------------------------------- */

__constant__ double G8[8][5] = {{1, 0, 0, 0, 0},
                                {-2 / 9., -2 / 9., -2 / 9., -2 / 9., -2 / 9.},
                                {-2 / 9., 2 / 9., -2 / 9., 2 / 9., -2 / 9.},
                                {1 / 90., 2 / 90., 4 / 90., 8 / 90., 16 / 90.},
                                {1 / 90., -2 / 90., 4 / 90., -8 / 90., 16 / 90.},
                                {32 / 45., 16 / 45., 8 / 45., 4 / 45., 2 / 45.},
                                {32 / 45., -16 / 45., 8 / 45., -4 / 45., 2 / 45.},
                                {0, 0, 0, 0, 1}};
__constant__ double D8[8][8] = {
    {1, 0, -21 / 4., 0, 21 / 4., 0, -1, 0},  {0, 1, 1, -17 / 4., -17 / 4., 1, 1, 0},
    {0, -1, 1, 17 / 4., -17 / 4., -1, 1, 0}, {0, .5, .25, -2.5, -1.25, 2, 1, 0},
    {0, -.5, .25, 2.5, -1.25, -2, 1, 0},     {0, 2, 4, -2.5, -5, .5, 1, 0},
    {0, -2, 4, 2.5, -5, -.5, 1, 0},          {0, -1, 0, 21 / 4., 0, -21 / 4., 0, 1}};
__constant__ double A4[4][8] = {{1, 1, 1, 1, 1, 1, 1, 0},
                                {0, 1, -1, 2, -2, .5, -.5, 0},
                                {0, 1, 1, 4, 4, .25, .25, 0},
                                {0, 1, -1, 8, -8, .125, -.125, 1}};

__global__ void f45_in_double(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int across = (W_out + 3) / 4;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * 4, h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    double sum[8] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < 5; p++)
            for (int f = 0; f < 8; f++) {
                double u = 0, v = 0;
                for (int q = 0; q < 5; q++)
                    u += G8[f][q] * KK(m, c, p, q);
                for (int q = 0; q < 8; q++)
                    v += D8[f][q] * (w + q < W ? X(b, c, h + p, w + q) : 0.f);
                sum[f] += u * v;
            }
    for (int o = 0; o < 4 && w + o < W_out; o++) {
        double all = 0;
        for (int f = 0; f < 8; f++)
            all += A4[o][f] * sum[f];
        Y(b, m, h, w + o) = (float)all;
    }
}

/* expect: pass */
int right_f45_in_double(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    const int n = s->B * s->M * (s->H - 4) * ((s->W - 4 + 3) / 4);
    f45_in_double<<<(n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}

/* ---- decoys ------------------------------------------------------------------------------------ */

/* Sums of neighbouring elements of x times the same weight count as one product of two outputs, then
 * the difference is a direct product again: as many as the direct sum. */
__global__ void sum_and_difference(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int across = (W_out + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * 2, h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    float both = 0, apart = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float l = X(b, c, h + p, w + q),
                            r = w + q + 1 < W ? X(b, c, h + p, w + q + 1) : 0.f;
                both += (l + r) * KK(m, c, p, q);
                apart += (l - r) * KK(m, c, p, q);
            }
    Y(b, m, h, w) = 0.5f * (both + apart);
    if (w + 1 < W_out)
        Y(b, m, h, w + 1) = 0.5f * (both - apart);
}
/* expect: multiplications of values computed from x and k */
int decoy_sum_and_difference(ARGUMENTS)
{
    sum_and_difference<<<(s->B * s->M * (s->H - s->K + 1) * ((s->W - s->K + 2) / 2) + 127) / 128,
                         128>>>(*s, x, k, y);
    return failed();
}

/* Multiplications by shifts and additions: of each weight's 24 bits, none is a product. */
__global__ void by_additions(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int t = 0; t < K * K; t++) {
            const double v = (double)X(b, c, h + t / K, w + t % K);
            int e;
            const float part = frexpf(KK(m, c, 0, t), &e);
            int bits = (int)(part * 0x1p24f);
            double term = 0, step = ldexp(v, e - 24);
            const bool minus = bits < 0;
            for (bits = abs(bits); bits; bits >>= 1, step += step)
                if (bits & 1)
                    term += step;
            sum += minus ? -term : term;
        }
    Y(b, m, h, w) = (float)sum;
}
/* expect: the work was not done on the GPU */
SUBMISSION(decoy_by_additions, LAUNCH(by_additions))
