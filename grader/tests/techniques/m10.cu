/* Submissions for m10: tiles in shared memory and in registers together. */
#include "common.cuh"

enum { TILE = 16 };

/* A tile of x of one input map, with its halo, and its weights for MAPS maps: each thread computes
 * a column of ROWS outputs in these maps. Only USED maps have weights; the others have zeros. */
template <int ROWS, int MAPS, bool X_STAGED, int USED>
__global__ void tiled(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, tall = TILE * ROWS + K - 1,
              id = threadIdx.y * TILE + threadIdx.x;
    float *const s_k = s_x + pitch * tall;
    const int groups = (M + USED - 1) / USED, b = blockIdx.z / groups,
              m0 = blockIdx.z % groups * USED;
    const int h0 = blockIdx.y * TILE * ROWS, w0 = blockIdx.x * TILE;
    float sum[MAPS][ROWS] = {};
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * tall; i += TILE * TILE)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        for (int i = id; i < MAPS * K * K; i += TILE * TILE)
            s_k[i] = i / (K * K) < USED && m0 + i / (K * K) < M
                         ? KK(m0 + i / (K * K), c, 0, i % (K * K))
                         : 0;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                float v[ROWS];
                for (int r = 0; r < ROWS; r++) {
                    const int h = threadIdx.y + TILE * r + p, w = threadIdx.x + q;
                    v[r] = X_STAGED ? s_x[h * pitch + w]
                                    : X(b, c, min(h0 + h, H - 1), min(w0 + w, W - 1));
                }
                for (int m = 0; m < MAPS; m++)
                    for (int r = 0; r < ROWS; r++)
                        sum[m][r] += v[r] * s_k[(m * K + p) * K + q];
            }
        __syncthreads();
    }
    for (int m = 0; m < USED; m++)
        for (int r = 0; r < ROWS; r++) {
            const int h = h0 + threadIdx.y + TILE * r, w = w0 + threadIdx.x;
            if (m0 + m < M && h < H_out && w < W_out)
                Y(b, m0 + m, h, w) = sum[m][r];
        }
}

template <int ROWS, int MAPS, bool X_STAGED = true, int USED = MAPS>
static int launch_tiled(ARGUMENTS)
{
    const size_t bytes =
        4 * ((TILE + s->K - 1) * (TILE * ROWS + s->K - 1) + (size_t)MAPS * s->K * s->K);
    const dim3 grid((s->W - s->K + TILE) / TILE, (s->H - s->K + TILE * ROWS) / (TILE * ROWS),
                    s->B * ((s->M + USED - 1) / USED));
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    tiled<ROWS, MAPS, X_STAGED, USED><<<grid, dim3(TILE, TILE), bytes>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_two_by_four, launch_tiled<2, 4>(s, x, k, y))

/* expect: pass */
SUBMISSION(right_two_by_two, launch_tiled<2, 2>(s, x, k, y))

/* Four rows, 16 apart: of 17 rows of outputs no thread has most, but of 54 rows in the layer with one
 * input map. */
/* expect (long): pass */
SUBMISSION(right_four_by_one, launch_tiled<4, 1>(s, x, k, y))

/* expect: pass */
SUBMISSION(right_four_by_two, launch_tiled<4, 2>(s, x, k, y))

/* Many maps at one position: the element of x is in a register, the weights are not. */
/* expect (long): pass */
SUBMISSION(right_maps_only, launch_tiled<1, 6>(s, x, k, y))

/* expect: 2.00 elements of x and k were loaded for each product */
SUBMISSION(decoy_one_output, launch_tiled<1, 1>(s, x, k, y))

/* expect: 1.50 elements of x and k were loaded for each product */
SUBMISSION(decoy_two_outputs, launch_tiled<2, 1>(s, x, k, y))

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_x_from_global_memory, launch_tiled<2, 4, false>(s, x, k, y))

/* One output per thread, and multiplications by zeros. */
/* expect: 2.00 elements of x and k were loaded for each product */
SUBMISSION(decoy_zeros, launch_tiled<1, 4, true, 1>(s, x, k, y))

/* One output per thread, and a second product with each element of x, which no output needs. */
__global__ void second_product(struct conv_shape shape, const float *x, const float *k, float *y,
                               float never)
{
    SIZES;
    extern __shared__ float s_x[];
    const int pitch = TILE + K - 1, id = threadIdx.y * TILE + threadIdx.x;
    float *const s_k = s_x + pitch * pitch;
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h0 = blockIdx.y * TILE, w0 = blockIdx.x * TILE;
    float sum = 0, other = 0, last = 1;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * pitch; i += TILE * TILE)
            s_x[i] = X(b, c, min(h0 + i / pitch, H - 1), min(w0 + i % pitch, W - 1));
        for (int i = id; i < K * K; i += TILE * TILE)
            s_k[i] = KK(m, c, 0, i);
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float v = s_x[(threadIdx.y + p) * pitch + threadIdx.x + q];
                const float weight = s_k[p * K + q];
                sum += v * weight;
                other += v * last;
                last = weight;
            }
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = other > never ? other : sum;
}

/* expect: of the products were computed by threads that need most of their products */
int decoy_second_product(ARGUMENTS)
{
    const size_t side = TILE + s->K - 1, bytes = 4 * (side * side + (size_t)s->K * s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    second_product<<<tiles(s, TILE, s->B * s->M), dim3(TILE, TILE), bytes>>>(*s, x, k, y, 1e30f);
    return failed();
}

/* Register tiles whose results are unused, then one output per thread. */
/* expect (long): elements of x and k were loaded for each product */
SUBMISSION(decoy_on_the_side,
           launch_tiled<2, 4>(s, x, k, floats(y_floats(s))) || launch_tiled<1, 1>(s, x, k, y))
