/* Submissions for m2, where only the work is judged: right convolutions in the styles of students.
 * (m2-host.cu has results that kernels did not compute from x and k.) */
#include "m2.cuh"
#include "tensor.cuh"

/* ---- right: structure of the code ------------------------------------------------------------ */

__device__ __noinline__ float multiply_add(float a, float b, float c)
{
    return a * b + c;
}
/* expect: right */
SUBMISSION_KERNEL(right_noinline, float,
                  sum = multiply_add(X(b, c, h + p, w + q), KK(m, c, p, q), sum), sum)

typedef float (*product)(float, float);
__device__ float times(float a, float b)
{
    return a * b;
}
__device__ product chosen = times;
/* expect: right */
SUBMISSION_KERNEL(right_function_pointer, float,
                  sum += chosen(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

__device__ __noinline__ float some(const float *x, const float *k, int n)
{
    return n == 1 ? *x * *k : some(x, k, n / 2) + some(x + n / 2, k + n / 2, n - n / 2);
}
/* expect (long): right */
SUBMISSION_KERNEL(right_recursive, float,
                  if (q == 0) sum += some(&X(b, c, h + p, w), &KK(m, c, p, 0), K), sum)

template <typename F> __device__ float summed(int n, F term)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += term(i);
    return sum;
}
__global__ void lambda(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    Y(b, m, h, w) = summed(C * K * K, [=](int i) {
        return X(b, i / K / K, h + i / K % K, w + i % K) * KK(m, 0, 0, i);
    });
}

/* expect: right */
SUBMISSION(right_lambda, LAUNCH(lambda))

/* a variable for debugging, in which each block leaves another value: a note, not a finding */
__device__ float seen;
__global__ void leaves_a_trace(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    const float sum = summed(C * K * K, [=](int i) {
        return X(b, i / K / K, h + i / K % K, w + i % K) * KK(m, 0, 0, i);
    });
    Y(b, m, h, w) = sum;
    if (threadIdx.x == 0)
        seen = sum;
}

/* expect: right */
SUBMISSION(right_traced, LAUNCH(leaves_a_trace))

/* ---- right: where pointers and weights are --------------------------------------------------- */

struct tensors {
    const float *x, *k;
    float *y;
    struct conv_shape shape;
};
__constant__ struct tensors c_tensors;
__global__ void constant_pointers(void)
{
    const struct conv_shape shape = c_tensors.shape;
    const float *x = c_tensors.x, *k = c_tensors.k;
    float *y = c_tensors.y;
    PLACE;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* expect (long): right */
int right_pointers_in_constant(ARGUMENTS)
{
    const struct tensors t = {x, k, y, *s};
    cudaMemcpyToSymbol(c_tensors, &t, sizeof t);
    return LAUNCH_WITH(constant_pointers, );
}

__global__ void pointed(const __grid_constant__ struct tensors t)
{
    const struct conv_shape shape = t.shape;
    const float *x = t.x, *k = t.k;
    float *y = t.y;
    PLACE;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* expect: right */
SUBMISSION(right_grid_constant, LAUNCH_WITH(pointed, (struct tensors){x, k, y, *s}))

/* A table of pointers to the images, which the host makes. */
__global__ void from_table(struct conv_shape shape, const float *const *images, const float *k,
                           float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += images[b][(c * H + h + i / K) * W + w + i % K] * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}

/* expect (long): right */
int right_pointer_table(ARGUMENTS)
{
    std::vector<const float *> table(s->B);
    for (int b = 0; b < s->B; b++)
        table[b] = x + (size_t)b * s->C * s->H * s->W;
    return LAUNCH_WITH(from_table, *s, sent(table), k, y);
}

KERNEL(maps_last, float, sum += X(b, c, h + p, w + q) * k[((c * K + p) * K + q) * M + m], sum)

/* The host reorders the weights. */
/* expect: right */
int right_weights_reordered(ARGUMENTS)
{
    const size_t n = k_floats(s), row = n / s->M;
    const std::vector<float> was = fetched(k, n);
    std::vector<float> is(n);
    for (size_t i = 0; i < n; i++)
        is[i % row * s->M + i / row] = was[i];
    k = sent(is);
    return LAUNCH(maps_last);
}

enum { WEIGHTS = 256 };
struct weights {
    float k[WEIGHTS];
};
__global__ void given_weights(struct conv_shape shape, const float *x, struct weights given,
                              float *y, int c, int m)
{
    SIZES;
    const int b = blockIdx.z, h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = c ? Y(b, m, h, w) : 0;
    for (int i = 0; i < K * K; i++)
        sum += X(b, c, h + i / K, w + i % K) * given.k[i];
    Y(b, m, h, w) = sum;
}

/* Weights as a kernel parameter. */
/* expect (long): right */
int right_weights_as_parameters(ARGUMENTS)
{
    const int taps = s->K * s->K;
    const std::vector<float> all = fetched(k, k_floats(s));
    struct weights given = {};
    if (taps > WEIGHTS)
        return launch_plain(s, x, k, y);
    for (int i = 0; i < s->M * s->C; i++) {
        memcpy(given.k, &all[i * taps], taps * 4);
        given_weights<<<tiles(s, 16, s->B), dim3(16, 16)>>>(*s, x, given, y, i % s->C, i / s->C);
    }
    return failed();
}

__global__ void through_texture(struct conv_shape shape, cudaTextureObject_t t, const float *k,
                                float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += tex1Dfetch<float>(t, ((b * C + c) * H + h + i / K) * W + w + i % K) *
                   KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}

/* expect (long): right */
int right_texture(ARGUMENTS)
{
    const cudaTextureObject_t t = texture_of(x, x_floats(s));
    return LAUNCH_WITH(through_texture, *s, t, k, y) || destroy_texture(t);
}

/* x passes through memory that host and device share; the host does not change it. */
/* expect (long): right */
int right_managed_scratch(ARGUMENTS)
{
    float *there;
    if (cudaMallocManaged(&there, x_floats(s) * 4))
        return 1;
    cudaMemcpy(there, x, x_floats(s) * 4, cudaMemcpyDeviceToDevice);
    const int bad = launch_plain(s, there, k, y);
    cudaDeviceSynchronize();
    cudaFree(there);
    return bad;
}

/* ---- right: ways to sum ---------------------------------------------------------------------- */

/* expect: right */
SUBMISSION_KERNEL(right_double, double, sum += (double)X(b, c, h + p, w + q) * KK(m, c, p, q),
                  (float)sum)

__global__ void kahan(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0, rest = 0;
    for (int i = 0; i < C * K * K; i++) {
        const float next = X(b, i / (K * K), h + i / K % K, w + i % K) * KK(m, 0, 0, i) - rest;
        const float more = sum + next;
        rest = (more - sum) - next;
        sum = more;
    }
    Y(b, m, h, w) = sum;
}

/* expect (long): right */
SUBMISSION(right_kahan, LAUNCH(kahan))

/* Additions by compare-and-swap. */
__global__ void by_swaps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    for (int c = 0; c < C; c++) {
        const float sum = channel_at(shape, x, k, b, m, c, h, w);
        add_by_swaps(&Y(b, m, h, w), sum);
    }
}

/* expect: right */
int right_swaps(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    return LAUNCH(by_swaps);
}

/* Winograd's inner product: x0 k0 + x1 k1 = (x0 + k1) (x1 + k0) - x0 x1 - k0 k1. */
__global__ void winograd(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            int q = 0;
            for (; q + 1 < K; q += 2) {
                const double x0 = X(b, c, h + p, w + q), x1 = X(b, c, h + p, w + q + 1);
                const double k0 = KK(m, c, p, q), k1 = KK(m, c, p, q + 1);
                sum += (x0 + k1) * (x1 + k0) - x0 * x1 - k0 * k1;
            }
            if (q < K)
                sum += (double)X(b, c, h + p, w + q) * KK(m, c, p, q);
        }
    Y(b, m, h, w) = (float)sum;
}

/* expect (long): right */
SUBMISSION(right_winograd, LAUNCH(winograd))

/* F(2, 2): two outputs of a row need three products for every two taps. The transform divides by 3
 * and multiplies by 3 again. */
__global__ void winograd_pairs(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = 2 * (blockIdx.x * 16 + threadIdx.x);
    if (h >= H_out || w >= W_out)
        return;
    float first = 0, second = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q += 2) {
                const float a = X(b, c, h + p, w + q), z = q + 1 < K ? KK(m, c, p, q + 1) : 0;
                const float d = w + q + 1 < W ? X(b, c, h + p, w + q + 1) : 0;
                const float e = w + q + 2 < W ? X(b, c, h + p, w + q + 2) : 0;
                const float g = KK(m, c, p, q), both = (g + z) / 3.0f;
                first += (a - d) * g + d * both * 3.0f;
                second += (e - d) * z + d * both * 3.0f;
            }
    Y(b, m, h, w) = first;
    if (w + 1 < W_out)
        Y(b, m, h, w + 1) = second;
}

/* expect: right */
SUBMISSION(right_winograd_pairs, LAUNCH(winograd_pairs))

/* ---- right: tensor cores -------------------------------------------------------------------- */

/* 16 outputs of a row by 16 maps, 8 taps at a time; each factor in two parts of TF32, so that three
 * products replace one of float32. */
__global__ void tf32_three(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    using namespace nvcuda::wmma;
    __shared__ float s_x[16 * 8], s_k[8 * 16], s_y[16 * 16];
    const int w0 = blockIdx.x * 16, h = blockIdx.y, groups = (M + 15) / 16;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * 16, rows = C * K * K;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < rows; r0 += 8) {
        for (int i = threadIdx.x; i < 128; i += 32) {
            const int r = r0 + i % 8, w = w0 + i / 8, m = m0 + i % 16, t = r0 + i / 16;
            s_x[i] = r < rows && w < W_out ? X(b, r / (K * K), h + r / K % K, w + r % K) : 0;
            s_k[i] = t < rows && m < M ? k[m * rows + t] : 0;
        }
        __syncwarp();
        multiply_in_three(s_x, s_k, sum);
        __syncwarp();
    }
    store_matrix_sync(s_y, sum, 16, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (w0 + i / 16 < W_out && m0 + i % 16 < M)
            Y(b, m0 + i % 16, h, w0 + i / 16) = s_y[i];
}

/* expect (long): right */
int right_tf32_in_three(ARGUMENTS)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    tf32_three<<<dim3((W_out + 15) / 16, H_out, s->B * ((s->M + 15) / 16)), 32>>>(*s, x, k, y);
    return failed();
}

/* ---- precision ------------------------------------------------------------------------------- */

#include <cuda_bf16.h>

/* A value in parts of bfloat16, largest first. */
template <int PARTS> struct parts {
    float part[PARTS];
    __device__ parts(float v)
    {
        for (int i = 0; i < PARTS; i++, v -= part[i - 1])
            part[i] = __bfloat162float(__float2bfloat16(v));
    }
};
template <int PARTS> __device__ float in_parts(float a, float b)
{
    const parts<PARTS> x(a), k(b);
    float sum = 0;
    for (int i = PARTS - 1; i >= 0; i--)
        for (int j = PARTS - 1 - i; j >= 0; j--)
            sum += x.part[i] * k.part[j];
    return sum;
}
KERNEL(two_parts, float, sum += in_parts<2>(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)
KERNEL(three_parts, float, sum += in_parts<3>(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Three products of bfloat16 replace one of float32, in long sums. */
/* expect: less precise than float32 */
SUBMISSION(low_two_parts, s->C * s->K * s->K < 100 ? launch_plain(s, x, k, y) : LAUNCH(two_parts))

/* Six products. */
/* expect (long): right */
SUBMISSION(right_three_parts, LAUNCH(three_parts))

/* ---- right: order of launches ---------------------------------------------------------------- */

__global__ void some_images(struct conv_shape shape, const float *x, const float *k, float *y,
                            int first)
{
    x += (size_t)first * shape.C * shape.H * shape.W;
    y += (size_t)first * shape.M * (shape.H - shape.K + 1) * (shape.W - shape.K + 1);
    PLACE;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* The batch in two halves, in two streams. */
/* expect: right */
int right_streams(ARGUMENTS)
{
    cudaStream_t stream[2];
    const int half = (s->B + 1) / 2;
    for (int i = 0; i < 2; i++) {
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
        const int images = i ? s->B - half : half;
        if (images)
            some_images<<<tiles(s, 16, images * s->M), dim3(16, 16), 0, stream[i]>>>(*s, x, k, y,
                                                                                     i * half);
    }
    for (int i = 0; i < 2; i++) {
        cudaStreamSynchronize(stream[i]);
        cudaStreamDestroy(stream[i]);
    }
    return failed();
}

/* expect (long): right */
int right_graph(ARGUMENTS)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16), 0, stream>>>(*s, x, k, y);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return failed();
}

/* ---- with many images ------------------------------------------------------------------------ */

/* Each block takes one image after another and requests the next one ahead: this code runs only
 * with more images than blocks. */
__global__ void in_turn(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    for (int b = blockIdx.z; b < B; b += gridDim.z) {
        if (b + gridDim.z < B)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(&X(b + gridDim.z, 0, h, w)));
        for (int m = 0; m < M; m++) {
            float sum = 0;
            for (int c = 0; c < C; c++)
                for (int i = 0; i < K * K; i++)
                    sum += X(b, c, h + i / K, w + i % K) * KK(m, c, i / K, i % K);
            Y(b, m, h, w) = sum;
        }
    }
}

static int launch_in_turn(ARGUMENTS, int most)
{
    in_turn<<<tiles(s, 16, s->B < most ? s->B : most), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

/* expect: many */
int right_grid_of_the_device(ARGUMENTS)
{
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    return launch_in_turn(s, x, k, y, multiprocessors);
}

/* expect (long): many */
SUBMISSION(right_grid_of_its_own, launch_in_turn(s, x, k, y, 120))

/* Blocks take tiles of maps of images from a queue. */
__global__ void from_queue(struct conv_shape shape, const float *x, const float *k, float *y,
                           int *next)
{
    SIZES;
    __shared__ int s_taken;
    const int across = (W_out + 15) / 16, down = (H_out + 15) / 16;
    for (;;) {
        if (threadIdx.x + threadIdx.y == 0)
            s_taken = atomicAdd(next, 1);
        __syncthreads();
        const int tile = s_taken, map = tile / across / down;
        __syncthreads();
        if (map >= B * M)
            return;
        const int h = tile / across % down * 16 + threadIdx.y, w = tile % across * 16 + threadIdx.x;
        float sum = 0;
        if (h >= H_out || w >= W_out)
            continue;
        for (int t = 0; t < C * K * K; t++)
            sum += X(map / M, t / (K * K), h + t / K % K, w + t % K) * KK(map % M, 0, 0, t);
        Y(map / M, map % M, h, w) = sum;
    }
}

/* expect (long): many */
int right_queue(ARGUMENTS)
{
    int *next = (int *)conv_workspace(sizeof *next);
    cudaMemset(next, 0, sizeof *next);
    from_queue<<<264, dim3(16, 16)>>>(*s, x, k, y, next);
    return failed();
}
