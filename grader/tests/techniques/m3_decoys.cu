/* Right results without the tile of m3. */
#include "m3.cuh"
/* each thread's own elements through shared memory, loaded twice there; x is copied first, so that
 * its loads are few */
__global__ void own_twice(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ volatile float s_x[256];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.y * 16 + threadIdx.x,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const bool in = h < H_out && w < W_out;
            if (in)
                s_x[t] = X(b, c, h + i / K, w + i % K);
            __syncthreads();
            if (in) {
                float v = s_x[t];
                v = s_x[t];
                sum += v * KK(m, c, 0, i);
            }
        }
    STORE(sum);
}
/* expect: elements of each input map were loaded from global memory */
int own_element_of_a_copy(ARGUMENTS)
{
    const size_t n = x_floats(s);
    float *u = floats(n);
    copy_floats<<<(n + 255) / 256, 256>>>(x, u, n);
    return LAUNCH_WITH(own_twice, *s, u, k, y);
}
/* tile or x, through a pointer that depends on the number of images */
__global__ void by_pointer(struct conv_shape shape, const float *x, const float *k, float *y,
                           int tiled)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        const bool in = h < H_out && w < W_out;
        const float *from = tiled ? s_x + threadIdx.y * side + threadIdx.x
                                  : &X(b, c, min(h, H_out - 1), min(w, W_out - 1));
        const int pitch = tiled ? side : W;
        for (int i = 0; i < K * K; i++)
            sum += from[i / K * pitch + i % K] * KK(m, c, 0, i);
        __syncthreads();
        if (!in)
            sum = 0;
    }
    STORE(sum);
}
/* expect: timed: but not in the timed runs */
SUBMISSION(tile_when_few, TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, s->B <= 24))
/* outputs of every third column */
__global__ void thirds(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++)
            sum += (w % 3 ? X(b, c, h + i / K, w + i % K) : TILED(i)) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: of the products summed into y take x from shared memory */
SUBMISSION(tile_for_a_third, TILE(thirds, TILE_FLOATS))
__global__ void quarters(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++)
            sum += (w % 4 == 0 ? X(b, c, h + i / K, w + i % K) : TILED(i)) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: of the outputs take no x from shared memory */
SUBMISSION(tile_for_three_quarters, TILE(quarters, TILE_FLOATS))
/* tile in a global workspace, not in shared memory */
__global__ void in_workspace(struct conv_shape shape, const float *x, const float *k, float *y,
                             float *room)
{
    SIZES;
    const int side = 16 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16,
              w0 = blockIdx.x * 16, t = threadIdx.y * 16 + threadIdx.x, h = h0 + threadIdx.y,
              w = w0 + threadIdx.x;
    float *s_x = room + (size_t)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) *
                            side * side;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: 0% of the products summed into y take x from shared memory */
int tile_in_workspace(ARGUMENTS)
{
    const dim3 g = tiles(s, 16, s->B * s->M);
    float *room = floats((size_t)g.x * g.y * g.z * (15 + s->K) * (15 + s->K));
    in_workspace<<<g, dim3(16, 16)>>>(*s, x, k, y, room);
    return failed();
}
/* the tile's products are computed and multiplied by zero */
__global__ void times_nothing(struct conv_shape shape, const float *x, const float *k, float *y,
                              float zero)
{
    TILE_PLACE;
    float sum = 0, other = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++) {
            other += TILED(i) * KK(m, c, 0, i);
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
        }
        __syncthreads();
    }
    STORE(sum + zero * other);
}
/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(tile_times_zero, TILE_LAUNCH(times_nothing, TILE_FLOATS, *s, x, k, y, 0.0f))
/* neighbours' registers, no shared memory */
__global__ void shuffled(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int lane = threadIdx.x, b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y,
              w0 = blockIdx.x * 16, w = w0 + lane;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q0 = 0; q0 < K; q0 += 16) {
                const float a = w + q0 < W ? X(b, c, h + p, w + q0) : 0;
                for (int q = q0; q < K && q < q0 + 16; q++) {
                    const float v = __shfl_down_sync(~0u, a, q - q0);
                    sum += v * KK(m, c, p, q);
                }
            }
    if (lane < 16 && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: 0% of the products summed into y take x from shared memory */
int shuffles_only(ARGUMENTS)
{
    shuffled<<<dim3((s->W - s->K + 16) / 16, s->H - s->K + 1, s->B * s->M), 32>>>(*s, x, k, y);
    return failed();
}
/* each thread stages elements that only it uses, for two maps */
__global__ void own_places(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    volatile __shared__ float s_x[256];
    const int pairs = (M + 1) / 2, b = blockIdx.z / pairs, m = blockIdx.z % pairs * 2,
              t = threadIdx.y * 16 + threadIdx.x, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x, next = min(m + 1, M - 1);
    float sum[2] = {};
    for (int i = 0; i < C * K * K && h < H_out && w < W_out; i++) {
        s_x[t] = X(b, i / (K * K), h + i / K % K, w + i % K);
        sum[0] += s_x[t] * KK(m, 0, 0, i);
        sum[1] += s_x[t] * KK(next, 0, 0, i);
    }
    __syncthreads();
    if (h < H_out && w < W_out) {
        Y(b, m, h, w) = sum[0];
        Y(b, next, h, w) = next == m ? sum[0] : sum[1];
    }
}
/* expect: of the loads of x from shared memory take a value that another thread stored there */
SUBMISSION_LAUNCH(own_place_twice,
                  own_places<<<tiles(s, 16, s->B *((s->M + 1) / 2)), dim3(16, 16)>>>(*s, x, k, y))
/* rows slide through registers, and each element gets and loses products of shared memory */
__global__ void through_products(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.x;
    const int h0 = blockIdx.y * 8, w = blockIdx.x * 32 + t;
    __shared__ float s_x[32];
    s_x[t] = x[t % (H * W)];
    __syncthreads();
    const float v = s_x[31 - t] * k[0] + s_x[(t + 7) % 32] * k[0];
    float sum[8] = {};
    for (int i = 0; i < C * K && w < W_out; i++)
        for (int r = 0; r < 7 + K && h0 + r < H; r++) {
            const float a = hidden(X(b, i / K, h0 + r, w + i % K), v);
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (r >= j && r - j < K)
                    sum[j] += a * KK(m, i / K, r - j, i % K);
        }
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (h0 + j < H_out && w < W_out)
            Y(b, m, h0 + j, w) = sum[j];
}
/* expect: 0% of the products summed into y take x from shared memory */
int tile_of_products(ARGUMENTS)
{
    const dim3 grid((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B * s->M);
    through_products<<<grid, 32>>>(*s, x, k, y);
    return failed();
}
/* a tile only if there are many images */
/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(tile_when_many, TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, s->B >= 50))
/* a tile only for images that are smaller than those of the network, in the same code */
/* expect: timed: but not in the timed runs */
SUBMISSION(tile_of_small_images, TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, s->H < 33))
/* ... and by another kernel */
/* expect: timed: but not in the timed runs */
SUBMISSION(kernel_of_small_images, s->H < 33 ? TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, 1)
                                             : launch_plain(s, x, k, y))
/* a tile only for as many images as the proof's, graded with one image */
/* expect (long): but not in the timed runs */
SUBMISSION(tile_for_two_images, TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, s->B == 2))
/* ... by another kernel, for the proof's shape */
/* expect: but not in the timed runs */
SUBMISSION(kernel_of_two_images, s->B == 2 && s->H == 21
                                     ? TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, 1)
                                     : launch_plain(s, x, k, y))
/* no tile if there are many images, nor in a proof on one multiprocessor, which would cover the code
 * of the timed run */
static int multiprocessors(void)
{
    int n = 0;
    cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0);
    return n;
}
/* expect: timed: but not in the timed runs */
SUBMISSION(kernel_of_one_multiprocessor, s->B > 24 || multiprocessors() == 1
                                             ? launch_plain(s, x, k, y)
                                             : TILE_LAUNCH(by_pointer, TILE_FLOATS, *s, x, k, y, 1))
/* Each thread computes six outputs of a column. It gets the elements of x through shared memory, from
 * one other thread or all from the first thread, and no other thread uses them. */
enum { COLUMN = 6, MAILBOX = 128 };
__global__ void mailbox(struct conv_shape shape, const float *x, const float *k, float *y,
                        int by_first)
{
    SIZES;
    extern __shared__ float box[];
    const int down = (H_out + COLUMN - 1) / COLUMN, all = B * M * down * W_out;
    const int t = threadIdx.x, rows = COLUMN + K - 1, first = blockIdx.x * MAILBOX, own = first + t;
    float sum[COLUMN] = {};
    for (int c = 0; c < C; c++)
        for (int q = 0; q < K; q++) {
            __syncthreads();
            for (int to = by_first ? 0 : t ^ 1; to < MAILBOX; to += by_first ? 1 : MAILBOX) {
                const int o = first + to, h = o / W_out % down * COLUMN, b = o / W_out / down / M;
                for (int r = 0; r < rows && o < all && !(by_first && t); r++)
                    box[r * MAILBOX + to] = h + r < H ? X(b, c, h + r, o % W_out + q) : 0;
            }
            __syncthreads();
            for (int i = 0; i < K * COLUMN && own < all; i++)
                sum[i % COLUMN] +=
                    ((volatile float *)box)[(i % COLUMN + i / COLUMN) * MAILBOX + t] *
                    KK(own / W_out / down % M, c, i / COLUMN, q);
        }
    const int h0 = own / W_out % down * COLUMN;
    for (int r = 0; r < COLUMN && own < all && h0 + r < H_out; r++)
        Y(own / W_out / down / M, own / W_out / down % M, h0 + r, own % W_out) = sum[r];
}
static int launch_mailbox(ARGUMENTS, int by_first)
{
    const int down = (s->H - s->K + COLUMN) / COLUMN, bytes = (COLUMN + s->K - 1) * MAILBOX * 4;
    const int all = s->B * s->M * down * (s->W - s->K + 1);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    mailbox<<<(all + MAILBOX - 1) / MAILBOX, MAILBOX, bytes>>>(*s, x, k, y, by_first);
    return failed();
}
/* expect: 0% of the elements of x in shared memory were loaded from there by several threads */
SUBMISSION(mailboxes, launch_mailbox(s, x, k, y, 0))
/* expect (long): 0% of the elements of x in shared memory were loaded from there by several threads */
SUBMISSION(mailboxes_of_one, launch_mailbox(s, x, k, y, 1))
