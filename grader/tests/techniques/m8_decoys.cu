/* One disguised kernel for both layers, for m8. */
#include "common.cuh"
template <int WHICH>
__global__ void conv(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * blockDim.y + threadIdx.y,
              w = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}
#define GO(NUMBER, t)                                                                              \
    (conv<NUMBER><<<dim3((s->W - s->K + t.x) / t.x, (s->H - s->K + t.y) / t.y, s->B * s->M), t>>>( \
         *s, x, k, y),                                                                             \
     failed())
/* expect: the same kernel and blocks for both layers */
int two_names(ARGUMENTS)
{
    const dim3 t(16, 16);
    return s->C > 4 ? GO(1, t) : GO(2, t);
}
/* another stream, another launch function */
/* expect: the same kernel and blocks for both layers */
int other_stream(ARGUMENTS)
{
    const dim3 t(16, 16);
    if (s->C > 4)
        return GO(1, t);
    cudaStream_t st;
    cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking);
    conv<1><<<tiles(s, 16, s->B * s->M), t, 0, st>>>(*s, x, k, y);
    cudaStreamSynchronize(st);
    cudaStreamDestroy(st);
    return 0;
}
/* another order of blocks */
__global__ void turned(struct conv_shape shape, const float *x, const float *k, float *y, int up)
{
    SIZES;
    const int z = up ? blockIdx.z : gridDim.z - 1 - blockIdx.z, b = z / M, m = z % M,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(other_order, LAUNCH_WITH(turned, *s, x, k, y, s->C > 4))
/* copies x first in one layer */
/* expect: the same kernel and blocks for both layers */
int copied_in_one(ARGUMENTS)
{
    const dim3 t(16, 16);
    const size_t n = x_floats(s);
    if (s->C > 4) {
        float *u = floats(n);
        cudaMemcpyAsync(u, x, n * 4, cudaMemcpyDeviceToDevice);
        x = u;
    }
    return GO(1, t);
}
/* splits the images in one layer */
/* expect: the same kernel and blocks for both layers */
int image_by_image(ARGUMENTS)
{
    if (s->C == 1)
        return launch_plain(s, x, k, y);
    struct conv_shape one = *s;
    one.B = 1;
    for (int b = 0; b < s->B; b++)
        plain<<<tiles(s, 16, s->M), dim3(16, 16)>>>(one, x + (size_t)b * s->C * s->H * s->W, k,
                                                    y + (size_t)b * s->M * (s->H - s->K + 1) *
                                                            (s->W - s->K + 1));
    return 0;
}
/* a branch that both layers take the same way */
__global__ void branched(struct conv_shape shape, const float *x, const float *k, float *y,
                         int kind)
{
    PLACE;
    float sum = kind == 1 ? 0.0f : -0.0f;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(branch_of_nothing, LAUNCH_WITH(branched, *s, x, k, y, s->C > 4))
/* blocks larger than a plane: in one layer more threads exit at once */
/* expect: the same kernel and blocks for both layers */
int large_blocks(ARGUMENTS)
{
    const dim3 t(32, 32);
    return GO(1, t);
}
/* an unused word of x in shared memory */
__global__ void one_word(struct conv_shape shape, const float *x, const float *k, float *y,
                         int extra)
{
    SIZES;
    volatile __shared__ float word;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    if (extra && threadIdx.x + threadIdx.y == 0)
        word = x[0];
    if (h >= H_out || w >= W_out)
        return;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(word_in_one_layer, LAUNCH_WITH(one_word, *s, x, k, y, s->C > 4))
/* a filter over all input maps in shared memory, which is larger if the layer has more maps */
__global__ void filter(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_k[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < C * K * K; i += 256)
        s_k[i] = KK(m, 0, 0, i);
    __syncthreads();
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int i = 0; i < C * K * K; i++)
        sum += X(b, i / (K * K), h + i / K % K, w + i % K) * s_k[i];
    Y(b, m, h, w) = sum;
}
/* expect: the same kernel and blocks for both layers */
int whole_filter(ARGUMENTS)
{
    filter<<<tiles(s, 16, s->B * s->M), dim3(16, 16), s->C * s->K * s->K * 4>>>(*s, x, k, y);
    return failed();
}
template <int ROWS>
__global__ void in_rows(struct conv_shape shape, const float *x, const float *k, float *y, int m0,
                        int maps)
{
    SIZES;
    const int b = blockIdx.z / maps, m = m0 + blockIdx.z % maps, w = blockIdx.x * 16 + threadIdx.x,
              h = (blockIdx.y * 16 + threadIdx.y) * ROWS;
    float sum[ROWS] = {};
    if (w >= W_out || h >= H_out)
        return;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const float f = KK(m, c, 0, i);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                sum[r] += X(b, c, min(h + r + i / K, H - 1), w + i % K) * f;
        }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (h + r < H_out)
            Y(b, m, h + r, w) = sum[r];
}
template <int ROWS>
static void launch_rows(const struct conv_shape *s, const float *x, const float *k, float *y,
                        int m0, int maps)
{
    if (maps)
        in_rows<ROWS>
            <<<dim3((s->W - s->K + 16) / 16, (s->H - s->K + 16 * ROWS) / (16 * ROWS), s->B * maps),
               dim3(16, 16)>>>(*s, x, k, y, m0, maps);
}
/* the second layer has a kernel of its own only if there are few images; one of its maps is always
 * computed by the other kernel */
/* expect: timed: but not in the timed runs */
int own_when_few(ARGUMENTS)
{
    const int other = s->C > 4 && s->B <= 24 ? 1 : s->M;
    launch_rows<1>(s, x, k, y, 0, other);
    launch_rows<4>(s, x, k, y, other, s->M - other);
    return failed();
}

/* Unrolled instructions that compute nothing of y, in one of the layers */
template <int USELESS>
__global__ void with_useless(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    unsigned a = threadIdx.x;
    float f = (float)threadIdx.y;
#pragma unroll
    for (int i = 0; i < USELESS; i++) {
        asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(a) : "r"(i));
        asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(f) : "f"((float)i));
    }
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}
/* expect: the same kernel and blocks for both layers */
int useless_in_one(ARGUMENTS)
{
    if (s->C > 4)
        with_useless<0><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    else
        with_useless<100><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

/* Useless products of x and k in the code for one of the layers */
template <bool USELESS>
__global__ void with_products(struct conv_shape shape, const float *x, const float *k, float *y,
                              float never)
{
    PLACE;
    float sum = 0, other = 0;
#pragma unroll 1
    for (int t = 0; t < C * K * K; t++) {
        const float v = X(b, t / (K * K), h + t / K % K, w + t % K), f = KK(m, 0, 0, t);
        sum += v * f;
        other += USELESS ? v * (f + 1) : 0;
    }
    Y(b, m, h, w) = other > never ? other : sum;
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(useless_products, s->C > 4 ? LAUNCH_WITH(with_products<false>, *s, x, k, y, 1e30f)
                                      : LAUNCH_WITH(with_products<true>, *s, x, k, y, 1e30f))

/* Numbered threads: blocks of 32 x 8 and of 16 x 16 threads compute the same outputs. */
__global__ void numbered(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.y * blockDim.x + threadIdx.x;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    y[i] = sum_at(shape, x, k, b, m, h, w);
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION_LAUNCH(numbered_threads, const dim3 block = s->C > 4 ? dim3(16, 16) : dim3(32, 8);
                  numbered<<<(y_floats(s) + 255) / 256, block>>>(*s, x, k, y))
/* expect: pass */
SUBMISSION_LAUNCH(tiles_and_numbers, if (s->C > 4) return launch_plain(s, x, k, y);
                  numbered<<<(y_floats(s) + 255) / 256, 256>>>(*s, x, k, y))

/* A column that no product uses, in the tile of one layer */
__global__ void wider(struct conv_shape shape, const float *x, const float *k, float *y, int more)
{
    SIZES;
    extern __shared__ float s_x[];
    const int side = 16 + K - 1, pitch = side + more, b = blockIdx.z / M, m = blockIdx.z % M;
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, id = threadIdx.y * 16 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < side * pitch; i += 256)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += s_x[(threadIdx.y + i / K) * pitch + threadIdx.x + i % K] * KK(m, c, 0, i);
        __syncthreads();
    }
    if (h0 + threadIdx.y < H_out && w0 + threadIdx.x < W_out)
        Y(b, m, h0 + threadIdx.y, w0 + threadIdx.x) = sum;
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION_LAUNCH(useless_column, const int side = 15 + s->K, more = s->C == 1;
                  if (side * (side + more) * 4 > 48 << 10) return launch_plain(s, x, k, y);
                  wider<<<tiles(s, 16, s->B * s->M), dim3(16, 16), side *(side + more) * 4>>>(*s, x,
                                                                                              k, y,
                                                                                              more))
