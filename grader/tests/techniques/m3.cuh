/* Shared by the submissions for m3: a tile of 16 by 16 outputs, with the halo of x in shared
 * memory. */
#include "common.cuh"

/* The indices of a thread in the tile. */
#define TILE_PLACE                                                                                 \
    SIZES;                                                                                         \
    const int side = 16 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M;                           \
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, t = threadIdx.y * 16 + threadIdx.x;      \
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;                                          \
    extern __shared__ float s_x[]

/* All threads load the tile of input map c. Defines the first element of a thread's window in the
 * tile, at the thread's row and column. */
#define LOAD_TILE(c)                                                                               \
    for (int i = t; i < side * side; i += 256)                                                     \
    s_x[i] = h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0
#define TILED(i) s_x[(threadIdx.y + (i) / K) * side + threadIdx.x + (i) % K]

/* Stores the sum, if the thread has an output. */
#define STORE(sum)                                                                                 \
    if (h < H_out && w < W_out)                                                                    \
    Y(b, m, h, w) = sum

/* Launches with this many floats of shared memory, or without a tile if they do not fit. */
#define SIDE        (16 + s->K - 1)
#define TILE_FLOATS (SIDE * SIDE)
#define TILE_LAUNCH(name, floats_, ...)                                                            \
    ((floats_)*4 > 48 << 10                                                                        \
         ? launch_plain(s, x, k, y)                                                                \
         : (name<<<tiles(s, 16, s->B * s->M), dim3(16, 16), (floats_)*4>>>(__VA_ARGS__),           \
            failed()))
#define TILE(name, floats_) TILE_LAUNCH(name, floats_, *s, x, k, y)
