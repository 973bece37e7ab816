/* More ways to fill and use constant memory, for m4. */
#include "m4.cuh"
#include <vector>
__constant__ float c_chunk[1000];
struct packed {
    float v[25];
};
#define c_packed ((const struct packed *)c_k)
/* one map's weights at a time, a launch per output map */
__global__ void one_map(struct conv_shape shape, const float *x, float *y, int m)
{
    SIZES;
    const int b = blockIdx.z, h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * c_chunk[c * K * K + i];
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int map_by_map(ARGUMENTS)
{
    const size_t n = s->C * s->K * s->K;
    if (n > 1000)
        return launch_plain(s, x, k, y);
    for (int m = 0; m < s->M; m++) {
        cudaMemcpyToSymbolAsync(c_chunk, k + m * n, n * 4, 0, cudaMemcpyDeviceToDevice, 0);
        one_map<<<tiles(s, 16, s->B), dim3(16, 16)>>>(*s, x, y, m);
    }
    return failed();
}
/* the host transposes: maps last */
CONV(maps_last, c_k[((c * K + p) * K + q) * M + m])
/* expect: pass */
int host_transposed(ARGUMENTS)
{
    const size_t n = k_floats(s), row = n / s->M;
    if (!fits(s))
        return launch_plain(s, x, k, y);
    std::vector<float> a(n), t(n);
    cudaMemcpy(a.data(), k, n * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++)
        t[i % row * s->M + i / row] = a[i];
    cudaMemcpyToSymbol(c_k, t.data(), n * 4);
    return LAUNCH(maps_last);
}
/* float4 loads from constant, padded on device */
#define c_quads ((const float4 *)c_k)
__global__ void to_quads(struct conv_shape shape, const float *k, float4 *to, int per)
{
    SIZES;
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * C * per)
        return;
    const float *f = k + (size_t)(i / per) * K * K;
    const int t = i % per * 4, n = K * K;
    to[i] = make_float4(f[t], t + 1 < n ? f[t + 1] : 0, t + 2 < n ? f[t + 2] : 0,
                        t + 3 < n ? f[t + 3] : 0);
}
__global__ void quads(struct conv_shape shape, const float *x, float *y, int per)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int j = 0; j < per; j++) {
            const float4 f = c_quads[(m * C + c) * per + j];
            const float g[4] = {f.x, f.y, f.z, f.w};
#pragma unroll
            for (int l = 0; l < 4; l++) {
                const int i = 4 * j + l;
                if (i < K * K)
                    sum += X(b, c, h + i / K, w + i % K) * g[l];
            }
        }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int vector_constants(ARGUMENTS)
{
    const int per = (s->K * s->K + 3) / 4, n = s->M * s->C * per;
    if (n > 3500)
        return launch_plain(s, x, k, y);
    float4 *t = (float4 *)conv_workspace(n * 16);
    to_quads<<<(n + 63) / 64, 64>>>(*s, k, t, per);
    cudaMemcpyToSymbol(c_k, t, n * 16, 0, cudaMemcpyDeviceToDevice);
    return LAUNCH_WITH(quads, *s, x, y, per);
}
/* a pointer to constant memory through a generic address, noinline */
__device__ __noinline__ float fold(const float *a, const float *f, int W, int K)
{
    float sum = 0;
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            sum += a[p * W + q] * f[p * K + q];
    return sum;
}
__global__ void generic(struct conv_shape shape, const float *x, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        sum += fold(&X(b, c, h, w), c_k + (m * C + c) * K * K, W, K);
    Y(b, m, h, w) = sum;
}
/* expect: pass */
SUBMISSION(generic_pointer, FILLED(LAUNCH_WITH(generic, *s, x, y)))
/* a kernel writes to constant memory through its address (allowed by cudaGetSymbolAddress, visible
 * in the next launch) */
CONV(use, c_k[AT])
/* expect: pass */
int filled_by_kernel(ARGUMENTS)
{
    if (!fits(s))
        return launch_plain(s, x, k, y);
    void *to;
    cudaGetSymbolAddress(&to, c_k);
    copy_floats<<<(k_floats(s) + 63) / 64, 64>>>(k, (float *)to, k_floats(s));
    return LAUNCH(use);
}
/* struct of arrays in constant memory, unrolled by a template, with a shared tile of x */
template <int K_> __global__ void with_tile(struct conv_shape shape, const float *x, float *y)
{
    SIZES;
    __shared__ float s_x[16 + K_ - 1][16 + K_ - 1];
    const int b = blockIdx.z / M, m = blockIdx.z % M, ty = threadIdx.y, tx = threadIdx.x,
              h = blockIdx.y * 16 + ty, w = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int r = ty; r < 16 + K_ - 1; r += 16)
            for (int o = tx; o < 16 + K_ - 1; o += 16)
                s_x[r][o] = blockIdx.y * 16 + r < H && blockIdx.x * 16 + o < W
                                ? X(b, c, blockIdx.y * 16 + r, blockIdx.x * 16 + o)
                                : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += s_x[ty + i / K_][tx + i % K_] * c_packed[m * C + c].v[i];
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
SUBMISSION(packed_structs, FILLED(s->K == 5 ? LAUNCH_WITH(with_tile<5>, *s, x, y) : LAUNCH(use)))
/* a graph copies the constants */
/* expect: pass */
int graph_with_copy(ARGUMENTS)
{
    if (!fits(s))
        return launch_plain(s, x, k, y);
    cudaStream_t st;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamCreate(&st);
    cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal);
    cudaMemcpyToSymbolAsync(c_k, k, k_floats(s) * 4, 0, cudaMemcpyDeviceToDevice, st);
    use<<<tiles(s, 16, s->B * s->M), dim3(16, 16), 0, st>>>(*s, x, k, y);
    cudaStreamEndCapture(st, &g);
    cudaGraphInstantiate(&e, g, 0);
    cudaGraphLaunch(e, st);
    cudaStreamSynchronize(st);
    cudaGraphExecDestroy(e);
    cudaGraphDestroy(g);
    cudaStreamDestroy(st);
    return failed();
}
/* weights in registers, loaded from constant memory */
__global__ void in_registers(struct conv_shape shape, const float *x, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, w = blockIdx.x * 64 + threadIdx.x;
    if (w >= W_out)
        return;
    float f[49];
    for (int c = 0; c < C; c++) {
        for (int i = 0; i < K * K && i < 49; i++)
            f[i] = c_k[(m * C + c) * K * K + i];
        for (int h = 0; h < H_out; h++) {
            float sum = c ? Y(b, m, h, w) : 0;
            for (int i = 0; i < K * K; i++)
                sum +=
                    X(b, c, h + i / K, w + i % K) * (i < 49 ? f[i] : c_k[(m * C + c) * K * K + i]);
            Y(b, m, h, w) = sum;
        }
    }
}
/* expect: pass */
int constants_to_registers(ARGUMENTS)
{
    const dim3 grid((s->W - s->K + 64) / 64, 1, s->B * s->M);
    return FILLED((in_registers<<<grid, 64>>>(*s, x, y), failed()));
}
/* constant memory filled from pinned host memory, two symbols (double buffer), channel by
 * channel */
#define c_two ((const float(*)[4096])c_k)
__global__ void channels(struct conv_shape shape, const float *x, float *y, int c0, int c1,
                         int which)
{
    PLACE;
    float sum = c0 ? Y(b, m, h, w) : 0;
    for (int c = c0; c < c1; c++)
        for (int i = 0; i < K * K; i++)
            sum +=
                X(b, c, h + i / K, w + i % K) * c_two[which][(m * (c1 - c0) + c - c0) * K * K + i];
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int channel_chunks(ARGUMENTS)
{
    const int one = s->M * s->K * s->K;
    if (one > 4096)
        return launch_plain(s, x, k, y);
    const int step = 4096 / one;
    char *base;
    cudaGetSymbolAddress((void **)&base, c_k);
    for (int c = 0, i = 0; c < s->C; c += step, i++) {
        const int n = min(step, s->C - c), kk = s->K * s->K;
        cudaMemcpy2DAsync(base + i % 2 * 16384, n * kk * 4, k + c * kk, s->C * kk * 4, n * kk * 4,
                          s->M, cudaMemcpyDeviceToDevice);
        channels<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, y, c, c + n, i % 2);
    }
    return failed();
}
/* a kernel writes the reordered weights to the constant variable's address */
__global__ void reorder(const float *k, float *to, int M, int taps)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < M * taps)
        to[i % taps * M + i / taps] = k[i];
}
__global__ void by_taps(struct conv_shape shape, const float *x, float *y)
{
    PLACE;
    float sum = 0;
    for (int t = 0; t < C * K * K; t++)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * c_k[t * M + m];
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int written_by_a_kernel(ARGUMENTS)
{
    const int taps = s->C * s->K * s->K;
    float *to;
    if (!fits(s))
        return launch_plain(s, x, k, y);
    cudaGetSymbolAddress((void **)&to, c_k);
    reorder<<<(s->M * taps + 255) / 256, 256>>>(k, to, s->M, taps);
    return LAUNCH_WITH(by_taps, *s, x, y);
}
/* the host converts the weights to float64 */
__global__ void of_doubles(struct conv_shape shape, const float *x, float *y)
{
    PLACE;
    double sum = 0;
    for (int t = 0; t < C * K * K; t++)
        sum += (double)X(b, t / (K * K), h + t / K % K, w + t % K) *
               ((const double *)c_k)[m * C * K * K + t];
    Y(b, m, h, w) = (float)sum;
}
/* expect: pass */
int widened_by_the_host(ARGUMENTS)
{
    const size_t n = k_floats(s);
    if (2 * n > CONST_FLOATS)
        return launch_plain(s, x, k, y);
    std::vector<float> own(n);
    cudaMemcpy(own.data(), k, n * 4, cudaMemcpyDeviceToHost);
    const std::vector<double> wide(own.begin(), own.end());
    cudaMemcpyToSymbol(c_k, wide.data(), n * 8);
    return LAUNCH_WITH(of_doubles, *s, x, y);
}
