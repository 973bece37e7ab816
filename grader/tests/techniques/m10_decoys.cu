/* Useless sums instead of register tiles, for m10, and right tiles whose sums take other paths. */
#include "common.cuh"

enum { TILE = 16 };

/* How a thread makes its useless sums look useful: it keeps them in scratch memory, from which
 * another kernel takes y; it stores its output several times; it adds zeros to it. */
enum trick { KEPT, STORED_AGAIN, ZEROS_ADDED };

/* One output per thread, and USELESS other sums of the same elements of x. */
template <enum trick TRICK, int USELESS>
__global__ void useless_sums(struct conv_shape shape, const float *x, const float *k, float *y,
                             size_t n, float never)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, id = threadIdx.y * TILE + threadIdx.x;
    float *const s_k = s_x + pitch * pitch;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * TILE,
              w0 = blockIdx.x * TILE;
    float sum = 0, other[USELESS] = {}, largest = 0;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * pitch; i += TILE * TILE)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        for (int i = id; i < K * K; i += TILE * TILE)
            s_k[i] = KK(m, c, 0, i);
        __syncthreads();
        for (int i = 0; i < K * K; i++) {
            const float v = s_x[(threadIdx.y + i / K) * pitch + threadIdx.x + i % K], f = s_k[i];
            sum += v * f;
            for (int j = 0; j < USELESS; j++)
                other[j] += v * (f + j + 1);
        }
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    volatile float *const to = &Y(b, m, h, w);
    for (int j = 0; j < USELESS; j++)
        largest = fmaxf(largest, other[j]);
    *to = TRICK != KEPT && largest > never ? largest : sum;
    for (int j = 0; j < USELESS; j++)
        if (TRICK == KEPT)
            to[(j + 1) * n] = other[j];
        else if (TRICK == STORED_AGAIN)
            *to = sum;
        else
            atomicAdd((float *)to, 0.0f);
}

template <enum trick TRICK, int USELESS> static int go_useless(ARGUMENTS)
{
    const size_t side = TILE + s->K - 1, bytes = 4 * (side * side + (size_t)s->K * s->K);
    const size_t n = y_floats(s);
    float *const to = TRICK == KEPT ? floats(n * (USELESS + 1)) : y;
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    useless_sums<TRICK, USELESS>
        <<<tiles(s, TILE, s->B * s->M), dim3(TILE, TILE), bytes>>>(*s, x, k, to, n, 1e30f);
    if (TRICK == KEPT)
        copy_floats<<<(n + 255) / 256, 256>>>(to, y, n);
    return failed();
}

/* expect: 0% of the products were computed by threads that need most of their products */
SUBMISSION(decoy_kept, go_useless<KEPT, 1>(s, x, k, y))
/* expect: 0% of the products were computed by threads that need most of their products */
SUBMISSION(decoy_stored_again, go_useless<STORED_AGAIN, 3>(s, x, k, y))
/* expect: 0% of the products were computed by threads that need most of their products */
SUBMISSION(decoy_zeros_added, go_useless<ZEROS_ADDED, 3>(s, x, k, y))

/* Four maps per thread. In all but every eighth block, a thread computes them one after the other,
 * with three useless sums each. */
__global__ void some_tiled(struct conv_shape shape, const float *x, const float *k, float *y,
                           float never)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, id = threadIdx.y * TILE + threadIdx.x, groups = M / 4;
    float *const s_k = s_x + pitch * pitch;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * 4;
    const int h0 = blockIdx.y * TILE, w0 = blockIdx.x * TILE;
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    const bool tiled = (blockIdx.x + blockIdx.y + blockIdx.z) % 8 == 0;
    for (int round = 0; round < (tiled ? 1 : 4); round++) {
        float sum[4] = {};
        for (int c = 0; c < C; c++) {
            __syncthreads();
            for (int i = id; i < pitch * pitch; i += TILE * TILE)
                s_x[i] = h0 + i / pitch < H && w0 + i % pitch < W
                             ? X(b, c, h0 + i / pitch, w0 + i % pitch)
                             : 0;
            for (int i = id; i < 4 * K * K; i += TILE * TILE)
                s_k[i] = KK(m0 + i / (K * K), c, 0, i % (K * K));
            __syncthreads();
            for (int i = 0; i < K * K; i++) {
                const float v = s_x[(threadIdx.y + i / K) * pitch + threadIdx.x + i % K];
                const float f = s_k[round * K * K + i];
                for (int j = 0; j < 4; j++)
                    sum[j] += v * (tiled ? s_k[j * K * K + i] : f + j);
            }
        }
        if (h < H_out && w < W_out && tiled)
            for (int j = 0; j < 4; j++)
                Y(b, m0 + j, h, w) = sum[j];
        else if (h < H_out && w < W_out)
            Y(b, m0 + round, h, w) = fmaxf(sum[1], fmaxf(sum[2], sum[3])) > never ? sum[1] : sum[0];
    }
}

/* expect: of the products were computed by threads that need most of their products */
int decoy_some_tiled(ARGUMENTS)
{
    const size_t side = TILE + s->K - 1, bytes = 4 * (side * side + 4 * (size_t)s->K * s->K);
    if (bytes > 48 << 10 || s->M % 4)
        return launch_plain(s, x, k, y);
    some_tiled<<<tiles(s, TILE, s->B * s->M / 4), dim3(TILE, TILE), bytes>>>(*s, x, k, y, 1e30f);
    return failed();
}

/* Where a thread's sums go: to scratch memory, one part for each half of the input maps; into y by
 * atomics; into y after each input map. */
enum path { PARTS, ATOMICS, EACH_MAP };

/* Two rows and ROWS maps per thread. PADDED: the sums past the edges are kept, too. */
template <enum path PATH, bool PADDED>
__global__ void two_by_two(struct conv_shape shape, const float *x, const float *k, float *y,
                           int tall, int wide)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, rows = 2 * TILE + K - 1, id = threadIdx.y * TILE + threadIdx.x;
    float *const s_k = s_x + pitch * rows;
    const int groups = (M + 1) / 2, parts = PATH == EACH_MAP ? 1 : 2, part = blockIdx.z % parts;
    const int b = blockIdx.z / parts / groups, m0 = blockIdx.z / parts % groups * 2;
    const int h0 = blockIdx.y * TILE * 2, w0 = blockIdx.x * TILE, half = (C + parts - 1) / parts;
    float sum[2][2] = {};
    for (int c = part * half; c < min(C, (part + 1) * half); c++) {
        for (int i = id; i < pitch * rows; i += TILE * TILE)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        for (int i = id; i < 2 * K * K; i += TILE * TILE)
            s_k[i] = KK(min(m0 + i / (K * K), M - 1), c, 0, i % (K * K));
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            for (int r = 0; r < 2; r++) {
                const int row = threadIdx.y + TILE * r + i / K;
                const float v = s_x[row * pitch + threadIdx.x + i % K];
                sum[0][r] += v * s_k[i];
                sum[1][r] += v * s_k[K * K + i];
            }
        __syncthreads();
        for (int j = 0; j < 4 && PATH == EACH_MAP; j++) {
            const int m = m0 + j / 2, h = h0 + threadIdx.y + TILE * (j % 2), w = w0 + threadIdx.x;
            if (m < M && h < H_out && w < W_out)
                Y(b, m, h, w) = (c ? Y(b, m, h, w) : 0) + sum[j / 2][j % 2];
            sum[j / 2][j % 2] = 0;
        }
    }
    for (int j = 0; j < 4 && PATH != EACH_MAP; j++) {
        const int m = m0 + j / 2, h = h0 + threadIdx.y + TILE * (j % 2), w = w0 + threadIdx.x;
        if (PATH == ATOMICS && m < M && h < H_out && w < W_out)
            atomicAdd(&Y(b, m, h, w), sum[j / 2][j % 2]);
        if (PATH == PARTS && (PADDED || (m < M && h < H_out && w < W_out)))
            y[(((size_t)(part * B + b) * groups * 2 + m) * tall + h) * wide + w] =
                sum[j / 2][j % 2];
    }
}

__global__ void add_parts(struct conv_shape shape, const float *parts, float *y, int tall, int wide)
{
    FLAT_PLACE;
    const size_t at = (((size_t)b * ((M + 1) / 2 * 2) + m) * tall + h) * wide + w;
    y[i] = parts[at] + parts[at + (size_t)B * ((M + 1) / 2 * 2) * tall * wide];
}

template <enum path PATH, bool PADDED> static int go_two_by_two(ARGUMENTS)
{
    const size_t bytes = 4 * ((TILE + s->K - 1) * (2 * TILE + s->K - 1) + 2 * (size_t)s->K * s->K);
    const int groups = (s->M + 1) / 2, tall = (s->H - s->K + 2 * TILE) / (2 * TILE) * 2 * TILE,
              wide = (s->W - s->K + TILE) / TILE * TILE;
    float *const to = PATH == PARTS ? floats((size_t)4 * s->B * groups * tall * wide) : y;
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    if (PATH == ATOMICS)
        cudaMemsetAsync(y, 0, 4 * y_floats(s));
    two_by_two<PATH, PADDED>
        <<<dim3(wide / TILE, tall / (2 * TILE), s->B * groups * (PATH == EACH_MAP ? 1 : 2)),
           dim3(TILE, TILE), bytes>>>(*s, x, k, to, tall, wide);
    if (PATH == PARTS)
        add_parts<<<(y_floats(s) + 255) / 256, 256>>>(*s, to, y, tall, wide);
    return failed();
}

/* expect: pass */
SUBMISSION(right_parts, go_two_by_two<PARTS, false>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_padded_parts, go_two_by_two<PARTS, true>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_atomics, go_two_by_two<ATOMICS, false>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_each_map, go_two_by_two<EACH_MAP, false>(s, x, k, y))

/* ---- weights that no load brings ------------------------------------------------------------- */

/* As a parameter, or in the registers of a warp's lanes, which exchange them by shuffles: a thread
 * with one output has no register tile. */
struct weights {
    float v[7500];
};

template <int MAPS, bool SHUFFLES>
__global__ void without_loads(struct conv_shape shape, const float *x, const float *k, float *y,
                              const __grid_constant__ struct weights parameter)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, id = threadIdx.y * TILE + threadIdx.x, groups = M / MAPS;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * MAPS, lane = id % 32;
    const int h0 = blockIdx.y * TILE, w0 = blockIdx.x * TILE;
    float sum[MAPS] = {}, own[MAPS] = {};
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * pitch; i += TILE * TILE)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        for (int j = 0; j < MAPS; j++)
            own[j] = SHUFFLES && lane < K * K ? KK(m0 + j, c, 0, lane) : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++) {
            const float v = s_x[(threadIdx.y + i / K) * pitch + threadIdx.x + i % K];
            for (int j = 0; j < MAPS; j++)
                sum[j] += v * (SHUFFLES ? __shfl_sync(~0u, own[j], i)
                                        : parameter.v[((m0 + j) * C + c) * K * K + i]);
        }
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    for (int j = 0; j < MAPS && h < H_out && w < W_out; j++)
        Y(b, m0 + j, h, w) = sum[j];
}

template <int MAPS, bool SHUFFLES> static int go_without_loads(ARGUMENTS)
{
    static struct weights parameter;
    const size_t bytes = 4 * (TILE + s->K - 1) * (TILE + s->K - 1);
    if (bytes > 48 << 10 || s->K > 5 || s->M % MAPS || k_floats(s) > 7500)
        return launch_plain(s, x, k, y);
    cudaMemcpy(parameter.v, k, 4 * k_floats(s), cudaMemcpyDeviceToHost);
    without_loads<MAPS, SHUFFLES>
        <<<tiles(s, TILE, s->B * s->M / MAPS), dim3(TILE, TILE), bytes>>>(*s, x, k, y, parameter);
    return failed();
}

/* expect: elements of x and k were loaded for each product */
SUBMISSION(decoy_shuffled_weights, go_without_loads<1, true>(s, x, k, y))
/* expect: elements of x and k were loaded for each product */
SUBMISSION(decoy_weights_as_parameter, go_without_loads<1, false>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_shuffled_weights, go_without_loads<4, true>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_weights_as_parameter, go_without_loads<4, false>(s, x, k, y))
