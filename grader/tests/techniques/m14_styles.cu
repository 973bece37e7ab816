/* More algorithms for m14: Fourier transforms, and Strassen's products of matrices. */
#include "common.cuh"
/* FFT of 8 x 8 tiles, 4 x 4 outputs each; twiddles in a constant table; tile spectra in scratch */
struct cf {
    float re, im;
};
__constant__ cf c_w8[4] = {{1, 0},
                           {.70710678118654752f, -.70710678118654752f},
                           {0, -1},
                           {-.70710678118654752f, -.70710678118654752f}};
static __device__ inline cf mul(cf a, cf b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/* w: the first half of the N-th roots of unity, for the forward transform */
template <int N> static __device__ void fft(cf *v, int stride, const cf *w, bool inverse)
{
    for (int i = 1, j = 0; i < N; i++) {
        int bit = N / 2;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            cf t = v[i * stride];
            v[i * stride] = v[j * stride];
            v[j * stride] = t;
        }
    }
    for (int len = 2; len <= N; len *= 2)
        for (int i = 0; i < N; i += len)
            for (int j = 0; j < len / 2; j++) {
                cf t = w[j * (N / len)];
                if (inverse)
                    t.im = -t.im;
                const cf a = v[(i + j) * stride], b = mul(v[(i + j + len / 2) * stride], t);
                v[(i + j) * stride] = {a.re + b.re, a.im + b.im};
                v[(i + j + len / 2) * stride] = {a.re - b.re, a.im - b.im};
            }
}
static __device__ void fft8x8(cf *v, bool inverse)
{
    for (int i = 0; i < 8; i++)
        fft<8>(v + 8 * i, 1, c_w8, inverse);
    for (int i = 0; i < 8; i++)
        fft<8>(v + i, 8, c_w8, inverse);
}
__global__ void fft_filter(struct conv_shape shape, const float *k, cf *U)
{
    SIZES;
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= M * C)
        return;
    cf v[64];
    for (int e = 0; e < 64; e++)
        v[e] = {e / 8 < K && e % 8 < K ? k[i * K * K + e / 8 * K + e % 8] : 0.f, 0.f};
    fft8x8(v, false);
    for (int e = 0; e < 64; e++)
        U[e * M * C + i] = {v[e].re, -v[e].im};
}
__global__ void fft_input(struct conv_shape shape, const float *x, cf *V, int across, int down)
{
    SIZES;
    const int n = B * across * down, i = blockIdx.x * 32 + threadIdx.x, T = 8 - K + 1;
    if (i >= n * C)
        return;
    const int c = i / n, j = i % n, b = j / (across * down), h = j / across % down * T,
              w = j % across * T;
    cf v[64];
    for (int e = 0; e < 64; e++)
        v[e] = {h + e / 8 < H && w + e % 8 < W ? X(b, c, h + e / 8, w + e % 8) : 0.f, 0.f};
    fft8x8(v, false);
    for (int e = 0; e < 64; e++)
        V[((size_t)e * C + c) * n + j] = v[e];
}
__global__ void fft_product(struct conv_shape shape, const cf *U, const cf *V, float *y, int across,
                            int down)
{
    SIZES;
    const int n = B * across * down, i = blockIdx.x * 32 + threadIdx.x, T = 8 - K + 1;
    if (i >= n * M)
        return;
    const int m = i / n, j = i % n, b = j / (across * down), h = j / across % down * T,
              w = j % across * T;
    cf v[64];
    for (int e = 0; e < 64; e++) {
        const int other = (8 - e / 8) % 8 * 8 + (8 - e % 8) % 8;
        if (other < e) {
            v[e] = {v[other].re, -v[other].im};
            continue;
        }
        cf sum = {0, 0};
        for (int c = 0; c < C; c++) {
            const cf p = mul(U[(e * M + m) * C + c], V[((size_t)e * C + c) * n + j]);
            sum.re += p.re;
            sum.im += p.im;
        }
        v[e] = sum;
    }
    fft8x8(v, true);
    for (int e = 0; e < T * T; e++)
        if (h + e / T < H_out && w + e % T < W_out)
            Y(b, m, h + e / T, w + e % T) = v[e / T * 8 + e % T].re / 64;
}
/* expect: pass */
int right_fft(ARGUMENTS)
{
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    const int T = 8 - s->K + 1, across = (s->W - s->K + T) / T, down = (s->H - s->K + T) / T,
              n = s->B * across * down;
    cf *U = (cf *)floats(128 * (s->M * s->C + (size_t)n * s->C)), *V = U + 64 * s->M * s->C;
    fft_filter<<<(s->M * s->C + 31) / 32, 32>>>(*s, k, U);
    fft_input<<<(n * s->C + 31) / 32, 32>>>(*s, x, V, across, down);
    fft_product<<<(n * s->M + 31) / 32, 32>>>(*s, U, V, y, across, down);
    return failed();
}
/* FFT 16 x 16 of tiles, twiddles by sincospif in shared memory, radix 2, two images as one complex number; 3-multiplication complex products */
static __device__ void twiddles(cf *w)
{
    for (int i = threadIdx.x; i < 16; i += blockDim.x) {
        float s, c;
        sincospif(i / 8.f, &s, &c);
        w[i] = {c, -s};
    }
    __syncthreads();
}
static __device__ void fft2(cf *v, const cf *w, bool inverse)
{
    for (int i = 0; i < 16; i++)
        fft<16>(v + 16 * i, 1, w, inverse);
    for (int i = 0; i < 16; i++)
        fft<16>(v + i, 16, w, inverse);
}
__global__ void filters(struct conv_shape shape, const float *k, cf *U)
{
    SIZES;
    __shared__ cf w[16];
    twiddles(w);
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= M * C)
        return;
    cf v[256];
    for (int e = 0; e < 256; e++)
        v[e] = {e / 16 < K && e % 16 < K ? k[i * K * K + e / 16 * K + e % 16] : 0.f, 0.f};
    fft2(v, w, false);
    for (int e = 0; e < 256; e++)
        U[e * M * C + i] = {v[e].re, -v[e].im};
}
__global__ void inputs(struct conv_shape shape, const float *x, cf *V, int across, int down)
{
    SIZES;
    __shared__ cf w[16];
    twiddles(w);
    const int pairs = (B + 1) / 2, n = pairs * across * down, i = blockIdx.x * 32 + threadIdx.x,
              T = 17 - K;
    if (i >= n * C)
        return;
    const int c = i / n, j = i % n, b = j / (across * down) * 2, h = j / across % down * T,
              q = j % across * T;
    cf v[256];
    for (int e = 0; e < 256; e++) {
        const bool in = h + e / 16 < H && q + e % 16 < W;
        v[e] = {in ? X(b, c, h + e / 16, q + e % 16) : 0.f,
                in && b + 1 < B ? X(b + 1, c, h + e / 16, q + e % 16) : 0.f};
    }
    fft2(v, w, false);
    for (int e = 0; e < 256; e++)
        V[((size_t)e * C + c) * n + j] = v[e];
}
__global__ void products(struct conv_shape shape, const cf *U, const cf *V, float *y, int across,
                         int down)
{
    SIZES;
    __shared__ cf w[16];
    twiddles(w);
    const int pairs = (B + 1) / 2, n = pairs * across * down, i = blockIdx.x * 32 + threadIdx.x,
              T = 17 - K;
    if (i >= n * M)
        return;
    const int m = i / n, j = i % n, b = j / (across * down) * 2, h = j / across % down * T,
              q = j % across * T;
    cf v[256];
    for (int e = 0; e < 256; e++) {
        cf sum = {0, 0};
        for (int c = 0; c < C; c++) {
            const cf u = U[(e * M + m) * C + c], p = V[((size_t)e * C + c) * n + j];
            const float k1 = __fmul_rn(u.re, p.re + p.im), k2 = __fmul_rn(p.re, u.im - u.re),
                        k3 = __fmul_rn(p.im, u.re + u.im);
            sum.re += k1 - k3;
            sum.im += k1 + k2;
        }
        v[e] = sum;
    }
    fft2(v, w, true);
    for (int e = 0; e < T * T; e++)
        if (h + e / T < H_out && q + e % T < W_out) {
            const cf r = v[e / T * 16 + e % T];
            Y(b, m, h + e / T, q + e % T) = r.re * (1 / 256.f);
            if (b + 1 < B)
                Y(b + 1, m, h + e / T, q + e % T) = r.im * (1 / 256.f);
        }
}
/* expect: pass */
int right_fft_pairs(ARGUMENTS)
{
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    const int T = 17 - s->K, across = (s->W - s->K + T) / T, down = (s->H - s->K + T) / T,
              n = (s->B + 1) / 2 * across * down;
    cf *U = (cf *)floats(512 * (s->M * s->C + (size_t)n * s->C)), *V = U + 256 * s->M * s->C;
    filters<<<(s->M * s->C + 31) / 32, 32>>>(*s, k, U);
    inputs<<<(n * s->C + 31) / 32, 32>>>(*s, x, V, across, down);
    products<<<(n * s->M + 31) / 32, 32>>>(*s, U, V, y, across, down);
    return failed();
}
/* Strassen three times, with 343 instead of 512 products for 8 maps x 8 taps x 8 columns. Sums are in
 * double: in float they miss the tolerance in some shapes. */
template <int N> struct strassen {
    static __device__ void mul(const double *a, int la, const double *b, int lb, double *c,
                               int lc) /* c += a b */
    {
        enum { H = N / 2 };
        double s[H * H], t[H * H], p[H * H];
        auto A = [&](int i, int j) { return a + i * H * la + j * H; };
        auto Bq = [&](int i, int j) { return b + i * H * lb + j * H; };
        auto Cq = [&](int i, int j) { return c + i * H * lc + j * H; };
        auto sum = [&](double *to, const double *u, const double *v, int ld, double sign) {
            for (int i = 0; i < H; i++)
                for (int j = 0; j < H; j++)
                    to[i * H + j] = u[i * ld + j] + (v ? sign * v[i * ld + j] : 0.0);
        };
        auto product = [&]() {
            for (int i = 0; i < H * H; i++)
                p[i] = 0;
            strassen<H>::mul(s, H, t, H, p, H);
        };
        auto add = [&](double *to, double sign) {
            for (int i = 0; i < H; i++)
                for (int j = 0; j < H; j++)
                    to[i * lc + j] += sign * p[i * H + j];
        };
        sum(s, A(0, 0), A(1, 1), la, 1);
        sum(t, Bq(0, 0), Bq(1, 1), lb, 1);
        product();
        add(Cq(0, 0), 1);
        add(Cq(1, 1), 1);
        sum(s, A(1, 0), A(1, 1), la, 1);
        sum(t, Bq(0, 0), nullptr, lb, 1);
        product();
        add(Cq(1, 0), 1);
        add(Cq(1, 1), -1);
        sum(s, A(0, 0), nullptr, la, 1);
        sum(t, Bq(0, 1), Bq(1, 1), lb, -1);
        product();
        add(Cq(0, 1), 1);
        add(Cq(1, 1), 1);
        sum(s, A(1, 1), nullptr, la, 1);
        sum(t, Bq(1, 0), Bq(0, 0), lb, -1);
        product();
        add(Cq(0, 0), 1);
        add(Cq(1, 0), 1);
        sum(s, A(0, 0), A(0, 1), la, 1);
        sum(t, Bq(1, 1), nullptr, lb, 1);
        product();
        add(Cq(0, 0), -1);
        add(Cq(0, 1), 1);
        sum(s, A(1, 0), A(0, 0), la, -1);
        sum(t, Bq(0, 0), Bq(0, 1), lb, 1);
        product();
        add(Cq(1, 1), 1);
        sum(s, A(0, 1), A(1, 1), la, -1);
        sum(t, Bq(1, 0), Bq(1, 1), lb, 1);
        product();
        add(Cq(0, 0), 1);
    }
};
template <> struct strassen<1> {
    static __device__ void mul(const double *a, int, const double *b, int, double *c, int)
    {
        c[0] += a[0] * b[0];
    }
};
__global__ void thrice(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int cols = B * H_out * W_out, groups = (cols + 7) / 8, i = blockIdx.x * 64 + threadIdx.x,
              m0 = blockIdx.y * 8, taps = C * K * K;
    if (i >= groups)
        return;
    double a[64], b[64], c[64] = {};
    for (int t0 = 0; t0 < taps; t0 += 8) {
        for (int e = 0; e < 64; e++) {
            const int tap = t0 + e % 8, tap2 = t0 + e / 8, col = i * 8 + e % 8;
            a[e] = m0 + e / 8 < M && tap < taps ? k[(m0 + e / 8) * taps + tap] : 0.0;
            b[e] = col < cols && tap2 < taps
                       ? X(col / W_out / H_out, tap2 / (K * K), col / W_out % H_out + tap2 / K % K,
                           col % W_out + tap2 % K)
                       : 0.0;
        }
        strassen<8>::mul(a, 8, b, 8, c, 8);
    }
    for (int e = 0; e < 64; e++) {
        const int m = m0 + e / 8, col = i * 8 + e % 8;
        if (m < M && col < cols)
            Y(col / W_out / H_out, m, col / W_out % H_out, col % W_out) = (float)c[e];
    }
}
/* expect: pass */
SUBMISSION_LAUNCH(right_strassen,
                  thrice<<<dim3(((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 7) / 8 + 63) / 64,
                                (s->M + 7) / 8),
                           64>>>(*s, x, k, y))
