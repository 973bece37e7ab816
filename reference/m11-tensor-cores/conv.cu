/** @file
 * Milestone m11: the forward pass of a convolution layer on a GPU's tensor cores, with the accuracy
 * of float32.
 *
 * common/conv.h is the contract: the arguments of conv_forward() and the required y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* BEGIN SOLUTION */
//~ /* You write a kernel whose multiply-adds are matrix instructions (mma, or wmma), and
//~  * conv_forward(), which launches it. Tensor cores multiply numbers of 11 bits; the assignment page
//~  * (README.md in this folder) says how three such products give one of float32. Add functions,
//~  * constants and #include lines as you need them; everything stays in this one file. Say here, in a
//~  * few lines, how matrices are laid over the convolution, what gain over m9 you expected and what
//~  * you measured. */
//~
/*
 * The idea. mma.m16n8k16 multiplies a 16 x 16 by a 16 x 8 matrix of halves and adds the product to
 * a 16 x 8 matrix of float32: 2048 multiply-adds, where FFMA computes 32. As in m5 and m6, the
 * convolution is a product of matrices: weights (maps x depth) times windows (depth x positions).
 * The unrolled matrix exists only in registers. There are two kernels:
 *
 *     conv_halves  a lane supplies four input maps at one position: layers with several input maps
 *     conv_pairs   a lane supplies pairs of neighbours in a row: layers with one
 *
 * Three products for one. With big(v) = v rounded to half and small(v) = v - big(v) rounded to half,
 *
 *     x * k = big(x) big(k) + small(x) big(k) + big(x) small(k) + less than 2^-22 of the product
 *
 * See README.md in this folder for the layout, scales, expected and measured results, failed
 * attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DWARPS=8. */
#ifndef WARPS
#define WARPS 6 /* warps of a block */
#endif
#ifndef TILES
#define TILES 6 /* tiles of 8 positions that a warp multiplies at a time; even */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* blocks that should run on a multiprocessor at the same time */
#endif
#ifndef THREADS_MAP
#define THREADS_MAP 128 /* threads of a block of conv_pairs */
#endif
#ifndef BLOCKS_MAP
#define BLOCKS_MAP 3 /* like BLOCKS, for conv_pairs */
#endif
#define THREADS       (32 * WARPS)
#define MAPS_MOST     3     /* a block has at most 8 times this number of maps */
#define IMAGE_MOST    60000 /* floats of an image: positions times columns stay below 2^32 */
#define FILTER_MOST   4000  /* maximum number of weights of a map */
#define BLK_ANY       256   /* threads of a block of conv_any */
#define GRID_DIM_X    2147483647
#define MOST_EXPONENT 14 /* of a scaled number: half overflows at 2^16 */

/** Rounds up to a multiple of unit. */
#define ROUND_UP(n, unit) (((n) + (unit)-1) / (unit) * (unit))

/** The layout of a layer in quads. A quad is four input maps at one position; a lane supplies it to
 * an mma. */
struct layout {
    int eights; /* a block has 8 times this number of maps */
    int groups; /* groups of maps, one per block */
    int steps;  /* steps of 16 along the depth */
    int planes; /* planes of four input maps */
    int pitch;  /* quads from row to row */
    int plane;  /* quads from plane to plane */
};

/** @return 2 to the power of MOST_EXPONENT - the exponent of the float with these bits */
static __device__ float scale_for(unsigned bits)
{
    const int exponent = (int)(bits >> 23);
    return bits ? __uint_as_float((unsigned)min(max(127 + MOST_EXPONENT + 127 - exponent, 1), 253)
                                  << 23)
                : 1.0f;
}

/** @return the larger of the bits of two numbers without their signs */
static __device__ unsigned larger(unsigned bits, float v)
{
    return max(bits, __float_as_uint(fabsf(v)));
}

/** @return the largest number of all threads; @param most  a word for each warp */
static __device__ unsigned largest_of_block(unsigned mine, unsigned *most)
{
    mine = __reduce_max_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        most[threadIdx.x / 32] = mine;
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x / 32; i++)
        mine = max(mine, most[i]);
    return mine;
}

static __device__ unsigned packed(half2 both)
{
    return *(const unsigned *)&both;
}

/** @return two numbers times scale: their big parts in x, the small parts in y */
static __device__ uint2 split_pair(float one, float two, float scale)
{
    const half2 big = __floats2half2_rn(one * scale, two * scale);
    const float2 b = __half22float2(big);
    return make_uint2(packed(big), packed(__floats2half2_rn(one * scale - b.x, two * scale - b.y)));
}

/** @return four numbers times scale: their big parts in x and y, the small parts in z and w */
static __device__ uint4 split_quad(float4 v, float scale)
{
    const uint2 one = split_pair(v.x, v.y, scale), two = split_pair(v.z, v.w, scale);
    return make_uint4(one.x, two.x, one.y, two.y);
}

/** Copies n weights to shared memory unchanged, and finds a scale for each map.
 * @param unscaled  [maps]: 1 / the scale; 1 for missing maps */
static __device__ void fetch_weights(float *raw, float *unscaled, const float *k, int taps, int n,
                                     int maps)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        __pipeline_memcpy_async(raw + i, k + i, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int m = threadIdx.x / 32; m < maps; m += blockDim.x / 32) {
        unsigned most = 0;
        for (int i = m * taps + threadIdx.x % 32; i < min((m + 1) * taps, n); i += 32)
            most = larger(most, raw[i]);
        most = __reduce_max_sync(0xffffffff, most);
        if (threadIdx.x % 32 == 0)
            unscaled[m] = 1 / scale_for(most);
    }
    __syncthreads();
}

/** Scales and splits the weights of a group of 8 * EIGHTS maps.
 * @param weights  as 16 x 16 matrices in the order of lanes' registers, [step][matrix][lane]; their
 *                 rows are all big parts of the group, then all small parts
 * @param raw      from fetch_weights() */
template <int EIGHTS>
static __device__ void split_weights(uint4 *weights, const float *unscaled, const float *raw, int n,
                                     const struct conv_shape *shape, const struct layout *lay)
{
    constexpr int maps = EIGHTS * 8;
    const int K = shape->K, taps = shape->C * K * K;
    for (int i = threadIdx.x; i < lay->steps * maps * 4; i += blockDim.x) {
        const int step = i / (maps * 4), quad = step * 4 + i % 4, m = i / 4 % maps;
        const int at = quad / lay->planes, c = quad % lay->planes * 4; /* first down, then across */
        const int tap = m * taps + at % K * K + at / K;
        float v[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            v[j] =
                m * taps < n && c + j < shape->C && at < K * K ? raw[tap + (c + j) * K * K] : 0.0f;
        const uint4 part = split_quad(make_float4(v[0], v[1], v[2], v[3]), 1 / unscaled[m]);
        for (int small = 0; small < 2; small++) {
            const int half = m / 8 + small * EIGHTS; /* of a matrix */
            uint4 *of_lane = weights + (step * EIGHTS + half / 2) * 32 + m % 8 * 4 + i % 4;
            unsigned *to = (unsigned *)of_lane + half % 2;
            to[0] = small ? part.z : part.x; /* a0 or a1 */
            to[2] = small ? part.w : part.y; /* a2 or a3 */
        }
    }
    __syncthreads();
}

/** Scales and splits the weights of 16 maps into pairs of neighbours.
 * @param weights  [STEPS][2][32]: matrices of big parts and of small parts, with 4 pairs twice in a
 * row; even maps are the first 8 rows, odd maps the other rows */
template <int K, int STEPS>
static __device__ void split_pairs(uint4 *weights, const float *unscaled, const float *raw, int n)
{
    constexpr int ROW_PAIRS = (K + 1) / 2;
    for (int i = threadIdx.x; i < STEPS * 16 * 4; i += blockDim.x) {
        const int pair = i / 64 * 4 + i % 4, m = i / 4 % 16;
        const int p = pair / ROW_PAIRS, q = pair % ROW_PAIRS * 2;
        const float *tap = raw + (m * K + p) * K + q;
        const bool is_there = p < K && m * K * K < n;
        const uint2 part = split_pair(is_there ? tap[0] : 0.0f,
                                      is_there && q + 1 < K ? tap[1] : 0.0f, 1 / unscaled[m]);
        unsigned *to = (unsigned *)(weights + i / 64 * 64 + m / 2 * 4 + i % 4) + m % 2;
        to[0] = to[2] = part.x;
        to[128] = to[130] = part.y;
    }
    __syncthreads();
}

/** sum += a * b on tensor cores; PTX ISA, "Matrix Fragments for mma.m16n8k16". */
static __device__ void multiply_add(float sum[4], uint4 a, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

/** All steps of the depth, for a warp's tiles.
 * @param in  where the window of my column of each tile begins in the slot */
template <int EIGHTS>
static __device__ void multiply_tiles(float sum[TILES][EIGHTS][4], const uint4 *slot,
                                      const int in[TILES], const uint4 *weights, const int *offsets,
                                      int steps)
{
    const int lane = threadIdx.x % 32;
#pragma unroll 3
    for (int step = 0; step < steps; step++) {
        const uint4 *here = slot + offsets[step * 4 + lane % 4];
        uint4 weight[EIGHTS], pixel[TILES];
#pragma unroll
        for (int e = 0; e < EIGHTS; e++)
            weight[e] = weights[(step * EIGHTS + e) * 32 + lane];
#pragma unroll
        for (int t = 0; t < TILES; t++)
            pixel[t] = here[in[t]];
#pragma unroll
        for (int e = 0; e < EIGHTS; e++)
#pragma unroll
            for (int t = 0; t < TILES; t++)
                multiply_add(sum[t][e], weight[e], pixel[t].x, pixel[t].y);
#pragma unroll
        for (int e = 0; e < (EIGHTS + 1) / 2; e++)
#pragma unroll
            for (int t = 0; t < TILES; t++)
                multiply_add(sum[t][e], weight[e], pixel[t].z, pixel[t].w);
    }
}

/** @return the position of column g of tile t, chosen so that four lanes store neighbours */
static __device__ int position_of(int t, int g)
{
    return t * 8 + g / 2 + g % 2 * 4;
}

/** Copies an image, as quads of float32, with zeros past the last input map. @return my largest
 * number
 * @param slot  where the image's first quad goes */
static __device__ unsigned fetch_image(float4 *slot, const float *image, const struct layout &lay,
                                       int C, int H, int W)
{
    const int next = H * W, total = lay.planes * next;
    const int dw = THREADS % W, dh = THREADS / W % H, dc = THREADS / W / H;
    int w = threadIdx.x % W, h = threadIdx.x / W % H, c = threadIdx.x / W / H;
    unsigned most = 0;
#pragma unroll 6
    for (int i = threadIdx.x; i < total; i += THREADS) {
        const float *from = image + i + c * 3 * next;
        float v[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            v[j] = c * 4 + j < C ? from[j * next] : 0.0f;
            most = larger(most, v[j]);
        }
        slot[c * lay.plane + h * lay.pitch + w] = make_float4(v[0], v[1], v[2], v[3]);
        w += dw, h += dh, c += dc; /* i / W and i % W, without a division */
        if (w >= W)
            w -= W, h++;
        if (h >= H)
            h -= H, c++;
    }
    return most;
}

/** Stores the sums of a warp.
 * @param out   the first position in my first map; maps are plane floats apart
 * @param left  number of positions from there on; maps_left: number of maps; back: 1 / the scale of
 * x */
template <int EIGHTS>
static __device__ void store_tiles(float *out, int left, int plane, int maps_left,
                                   const float sum[TILES][EIGHTS][4], float back,
                                   const float *unscaled)
{
    const int column = threadIdx.x % 4;
#pragma unroll
    for (int e = 0; e < EIGHTS; e++, out += (size_t)8 * plane) {
        const int small = EIGHTS + e; /* a half of a matrix, like e */
        float all[TILES][2];
        if (e * 8 >= maps_left)
            break;
#pragma unroll
        for (int i = 0; i < TILES * 2; i++)
            all[i / 2][i % 2] = (sum[i / 2][e / 2][e % 2 * 2 + i % 2] +
                                 sum[i / 2][small / 2][small % 2 * 2 + i % 2]) *
                                (back * unscaled[e * 8]);
#pragma unroll
        for (int i = 0; i < TILES * 2; i++) {
            const int n = i / 2 * 8 + i % 2 * 4 + column;
            if (n < left)
                out[n] = all[i / 2][i % 2];
        }
    }
}

/** Computes y in the 8 * EIGHTS maps of group blockIdx.y, for images blockIdx.x, blockIdx.x +
 * gridDim.x, ...; gridDim.z blocks share the positions of an image.
 * @pre shared_bytes() of dynamic shared memory */
template <int EIGHTS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    conv_halves(struct conv_shape shape, struct layout lay, const float *__restrict__ x,
                const float *__restrict__ k, float *__restrict__ y)
{
    extern __shared__ uint4 weights[]; /* [steps][EIGHTS][32], then the image, then the offsets */
    __shared__ unsigned most[WARPS];
    __shared__ float unscaled[EIGHTS * 8];
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;
    const int W_out = W - K + 1, positions = (H - K + 1) * W_out;
    const int lane = threadIdx.x % 32, warp = blockIdx.z * WARPS + threadIdx.x / 32;
    uint4 *const slot = weights + lay.steps * EIGHTS * 32;
    const int slot_quads = lay.planes * lay.plane;
    int *const offsets = (int *)(slot + slot_quads);

    const int m0 = blockIdx.y * EIGHTS * 8, taps = C * K * K, n = min(EIGHTS * 8, M - m0) * taps;
    fetch_weights((float *)slot, unscaled, k + (size_t)m0 * taps, taps, n, EIGHTS * 8);
    split_weights<EIGHTS>(weights, unscaled, (float *)slot, n, &shape, &lay);
    for (int i = threadIdx.x; i < lay.steps * 4; i += THREADS) {
        const int at = i / lay.planes;
        offsets[i] = at < K * K ? i % lay.planes * lay.plane + at % K * lay.pitch + at / K : 0;
    }
    for (int i = threadIdx.x; i < slot_quads; i += THREADS)
        slot[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();

    const unsigned per_row =
        (unsigned)((0x100000000ull + W_out - 1) / W_out); /* n / W_out = n * per_row >> 32 */
    for (int b = blockIdx.x; b < shape.B; b += gridDim.x) {
        /* 1. The image arrives in float32, each quad in its final location. The largest number
         * determines the scale. */
        const unsigned mine = fetch_image((float4 *)slot, x + (size_t)b * C * H * W, lay, C, H, W);
        const float scale = scale_for(largest_of_block(mine, most));

        /* 2. Quads become halves, in place. */
        for (int i = threadIdx.x; i < slot_quads; i += THREADS)
            slot[i] = split_quad(((const float4 *)slot)[i], scale);
        __syncthreads();

        /* 3. Products. */
        const int step = WARPS * TILES * 8 * gridDim.z;
        for (int first = warp * TILES * 8; first < positions; first += step) {
            int in[TILES];
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                const int at = min(first + position_of(t, lane / 4), positions - 1);
                in[t] = at + (int)__umulhi(at, per_row) * (lay.pitch - W_out);
            }
            float sum[TILES][EIGHTS][4] = {};
            multiply_tiles<EIGHTS>(sum, slot, in, weights, offsets, lay.steps);
            const int m = m0 + lane / 4;
            store_tiles<EIGHTS>(y + ((size_t)b * M + m) * positions + first, positions - first,
                                positions, M - m, sum, 1 / scale, unscaled + lane / 4);
        }
        __syncthreads(); /* the next image overwrites the slot */
    }
}

/** The part of its next 16 positions, in one map, that a lane stores. Memory is written in sectors
 * of 32 bytes; half of a sector costs the L2 cache as much as two sectors. So for maps that begin
 * in the middle of a sector, stores are delayed by four positions: each lane stores the earlier
 * values of the next lane, and the last lane stores the present values of the first lane. */
struct sectors {
    float *out; /* my next four positions */
    int at;     /* their index in the run of this warp: stored if from 0 to below end */
    unsigned end;
    bool late;
    float4 before; /* values of this lane in the previous 16 positions */
};

static __device__ void store_sectors(struct sectors *my, float4 now)
{
    float4 four = now;
    if (my->late) {
        const int column = threadIdx.x % 4, next = threadIdx.x % 32 - column + (column + 1) % 4;
        const float4 mine = column == 0 ? now : my->before;
        four.x = __shfl_sync(0xffffffff, mine.x, next);
        four.y = __shfl_sync(0xffffffff, mine.y, next);
        four.z = __shfl_sync(0xffffffff, mine.z, next);
        four.w = __shfl_sync(0xffffffff, mine.w, next);
        my->before = now;
    }
    if ((unsigned)my->at < my->end) /* an assignment would become four stores */
        asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(my->out), "f"(four.x),
                     "f"(four.y), "f"(four.z), "f"(four.w)
                     : "memory");
    my->at += 16;
    my->out += 16;
}

/** sum = 16 maps at 16 positions. A row of weights contains 4 pairs twice; a column of x contains
 * the big parts of 4 pairs and then the small parts: so big and small weights are multiplied by
 * both, with two matrix instructions for 4 pairs and 8 positions.
 * @param in  where my two columns begin */
template <int STEPS>
static __device__ void multiply_pairs(float sum[2][4], const uint2 *const in[2],
                                      const int offset[STEPS], const uint4 weights[STEPS][2])
{
    uint2 x[2][STEPS];
#pragma unroll
    for (int i = 0; i < 2 * STEPS; i++)
        x[i / STEPS][i % STEPS] = in[i / STEPS][offset[i % STEPS]];
    float other[2][4] = {}; /* two sums, so that dependent chains are half as long */
#pragma unroll
    for (int i = 0; i < 2 * STEPS; i++) {
        const int step = i / 2, t = i % 2;
        multiply_add(other[t], weights[step][1], x[t][step].x, x[t][step].y);
        multiply_add(sum[t], weights[step][0], x[t][step].x, x[t][step].y);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum[i / 4][i % 4] += other[i / 4][i % 4];
}

/** For layers with one input map: their depth is small, so lanes take pairs of neighbours in a row,
 * which need less padding than quads. An image is fetched while the previous one is multiplied.
 *
 *     shared memory: weights [groups][STEPS][2][32]   1 / their scales   image, float32   its pairs [H][pitch]
 *
 * A pair is the big parts of two neighbours, then their small parts. The lanes of a load access
 * columns of the same parity, in at most two rows, which an odd pitch puts into different banks.
 * @pre C = 1; 4 divides the number of positions; gridDim.z blocks share the positions of an
 * image */
template <int K>
__global__ void __launch_bounds__(THREADS_MAP, BLOCKS_MAP)
    conv_pairs(struct conv_shape shape, struct layout lay, const float *__restrict__ x,
               const float *__restrict__ k, float *__restrict__ y)
{
    enum { ROW_PAIRS = (K + 1) / 2, STEPS = (K * ROW_PAIRS + 3) / 4 };
    extern __shared__ uint4 weights[];
    __shared__ unsigned most[THREADS_MAP / 32];
    const int M = shape.M, W = shape.W, image_elems = shape.H * W, W_out = W - K + 1;
    const int positions = (shape.H - K + 1) * W_out, lane = threadIdx.x % 32, pitch = W | 1;
    float *const unscaled = (float *)(weights + lay.groups * STEPS * 64);
    float *const image = unscaled + lay.groups * 16;
    uint2 *const pairs = (uint2 *)(image + ROUND_UP(image_elems + 1, 4));

    const auto fetch = [&](int b) {
        const float *from = x + (size_t)b * image_elems;
        if (image_elems % 4 == 0)
            for (int i = threadIdx.x * 4; i < image_elems; i += THREADS_MAP * 4)
                __pipeline_memcpy_async(image + i, from + i, 4 * sizeof(float));
        else
            for (int i = threadIdx.x; i < image_elems; i += THREADS_MAP)
                __pipeline_memcpy_async(image + i, from + i, sizeof(float));
        __pipeline_commit();
    };
    fetch(blockIdx.x);
    for (int group = 0; group < lay.groups; group++) {
        const int n = min(16, M - group * 16) * K * K;
        fetch_weights((float *)pairs, unscaled + group * 16, k + group * 16 * K * K, K * K, n, 16);
        split_pairs<K, STEPS>(weights + group * STEPS * 64, unscaled + group * 16, (float *)pairs,
                              n);
    }
    if (threadIdx.x == 0)
        image[image_elems] = 0.0f;
    int offset[STEPS]; /* of my pairs in a window */
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        const int pair = min(i * 4 + lane % 4, K * ROW_PAIRS - 1);
        offset[i] = pair / ROW_PAIRS * pitch + pair % ROW_PAIRS * 2;
    }

    const unsigned per_row =
        (unsigned)((0x100000000ull + W_out - 1) / W_out); /* n / W_out = n * per_row >> 32 */
    /* Each warp has a run of whole granules of 16 positions. */
    const int warps = THREADS_MAP / 32 * gridDim.z;
    const int warp = blockIdx.z * (THREADS_MAP / 32) + threadIdx.x / 32;
    const int run = ((positions + 15) / 16 + warps - 1) / warps * 16;
    const int from = warp * run, to = min(from + run, positions);
    for (int b = blockIdx.x; b < shape.B; b += gridDim.x) {
        /* 1. The image has arrived; its largest number sets the scale. */
        __pipeline_wait_prior(0);
        __syncthreads();
        unsigned mine = 0;
#pragma unroll 4
        for (int i = threadIdx.x; i < image_elems; i += THREADS_MAP)
            mine = larger(mine, image[i]);
        const float scale = scale_for(largest_of_block(mine, most));

        /* 2. Pairs of halves; then the next image may be fetched. */
        for (int h = threadIdx.x / 32; h < shape.H; h += THREADS_MAP / 32)
            for (int w = lane; w < W; w += 32)
                pairs[h * pitch + w] = split_pair(image[h * W + w], image[h * W + w + 1], scale);
        __syncthreads();
        if (b + gridDim.x < shape.B)
            fetch(b + gridDim.x);

        /* 3. Products, for 16 maps at a time: lane / 4 has an even map and the odd map after it. */
        for (int group = 0; group < lay.groups; group++) {
            const int m = group * 16 + lane / 4 * 2;
            const float back[2] = {unscaled[m] / scale, unscaled[m + 1] / scale};
            float *const map = y + ((size_t)b * M + m) * positions;
            uint4 weight[STEPS][2];
            struct sectors my[2] = {};
#pragma unroll
            for (int i = 0; i < STEPS * 2; i++)
                weight[i / 2][i % 2] = weights[(group * STEPS * 2 + i) * 32 + lane];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                my[e].late = ((unsigned)b * M + e) * positions % 8 == 4;
                my[e].at = lane % 4 * 4 - (my[e].late ? 12 : 0);
                my[e].out = map + e * positions + from + my[e].at;
                my[e].end = m + e < M ? max(to - from, 0) : 0;
            }
#pragma unroll 2
            for (int first = from; first < to; first += 16) {
                float sum[2][4] = {};
                const uint2 *in[2];
#pragma unroll
                for (int t = 0; t < 2; t++) {
                    const int column = lane / 8 * 4 + lane / 4 % 2 * 2 + t;
                    const int at = min(first + column, positions - 1);
                    in[t] = pairs + at + (int)__umulhi(at, per_row) * (pitch - W_out);
                }
                multiply_pairs<STEPS>(sum, in, offset, weight);
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const float4 now = {sum[0][e * 2] * back[e], sum[1][e * 2] * back[e],
                                        sum[0][e * 2 + 1] * back[e], sum[1][e * 2 + 1] * back[e]};
                    store_sectors(&my[e], now);
                }
            }
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (my[e].late)
                    store_sectors(&my[e], make_float4(0, 0, 0, 0));
        }
    }
}

/** For layers whose images or weights do not fit into shared memory: one thread per output, as in
 * m2. */
__global__ void __launch_bounds__(BLK_ANY)
    conv_any(struct conv_shape shape, const float *x, const float *k, float *y)
{
    const int C = shape.C, K = shape.K;
    const size_t M = shape.M, H = shape.H, W = shape.W, H_out = H - K + 1, W_out = W - K + 1;
    const size_t outputs = shape.B * M * H_out * W_out;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        const size_t w = i % W_out, h = i / W_out % H_out, m = i / (W_out * H_out) % M;
        const size_t b = i / (W_out * H_out * M);
        const float *weight = k + m * C * K * K;
        float sum = 0.0f;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum += x[((b * C + c) * H + h + p) * W + w + q] * *weight++;
        y[i] = sum;
    }
}

/** @return an attribute of the current device. */
static int device_has(enum cudaDeviceAttr what)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, what, device);
    return value;
}

/** @return the size in bytes of a block's dynamic shared memory */
static size_t shared_bytes(const struct conv_shape *shape, const struct layout *lay)
{
    const size_t raw = (size_t)lay->eights * 8 * shape->C * shape->K * shape->K * sizeof(float);
    const size_t image =
        (size_t)lay->planes * lay->plane * sizeof(uint4) + lay->steps * 4 * sizeof(int);
    return (size_t)lay->steps * lay->eights * 32 * sizeof(uint4) + (raw > image ? raw : image);
}

/** @return the first number from n on with remainder @p rest when divided by unit */
static int next_of(int n, int rest, int unit)
{
    return n + ((rest - n) % unit + unit) % unit;
}

/** @return the maximum shared memory of a block */
static size_t shared_most(void)
{
    return device_has(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
}

/** Computes the layout of a layer. @return whether its weights and an image fit into shared
 * memory */
static bool lay_out(const struct conv_shape *shape, struct layout *lay)
{
    const int K = shape->K, eights = (shape->M + 7) / 8;
    if ((size_t)shape->C * shape->H * shape->W > IMAGE_MOST ||
        (size_t)shape->C * K * K > FILTER_MOST || shape->W == K)
        return false;
    lay->planes = (shape->C + 3) / 4;
    lay->groups = (eights + MAPS_MOST - 1) / MAPS_MOST;
    lay->eights = (eights + lay->groups - 1) / lay->groups;
    lay->steps = (lay->planes * K * K + 3) / 4;
    /* Four taps of a step are in different banks. */
    lay->pitch = next_of(shape->W, lay->planes % 4, 4);
    lay->plane = next_of(shape->H * lay->pitch, 1, 4);
    if (shared_bytes(shape, lay) > shared_most()) { /* use a pitch with bank conflicts */
        lay->pitch = shape->W;
        lay->plane = shape->H * lay->pitch;
    }
    return lay->groups <= 65535 && shared_bytes(shape, lay) <= shared_most();
}

/** Launches a kernel with as many blocks as the device can hold at a time. If there are few images,
 * several blocks share each image.
 * @param granules  parts into which an image can be divided */
template <typename kernel_type>
static void launch(kernel_type kernel, int threads, size_t bytes, const struct conv_shape *shape,
                   const struct layout *lay, int groups, int granules, const float *x,
                   const float *k, float *y)
{
    int per = 1;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, kernel, threads, bytes);
    const int room = device_has(cudaDevAttrMultiProcessorCount) * (per > 0 ? per : 1);
    const int images = shape->B < room ? shape->B : room;
    const int most = room / images / groups, shares = most < granules ? most : granules;
    kernel<<<dim3(images, groups, shares > 0 ? shares : 1), threads, bytes>>>(*shape, *lay, x, k,
                                                                              y);
}

/** @return whether the layer was launched as quads */
static bool launch_halves(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    struct layout lay;
    if (!lay_out(shape, &lay))
        return false;
    const auto kernel = lay.eights == 1   ? conv_halves<1>
                        : lay.eights == 2 ? conv_halves<2>
                                          : conv_halves<3>;
    const int positions = (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    launch(kernel, THREADS, shared_bytes(shape, &lay), shape, &lay, lay.groups,
           positions / (WARPS * TILES * 8), x, k, y);
    return true;
}

/** @return whether the layer was launched as pairs: this needs one input map that fits into shared
 * memory, and a multiple of four output maps */
template <int K>
static bool launch_pairs(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    struct layout lay = {};
    lay.groups = (shape->M + 15) / 16;
    lay.steps = (K * ((K + 1) / 2) + 3) / 4;
    const size_t elems = (size_t)shape->H * shape->W;
    const size_t raw = 16 * K * K * sizeof(float),
                 pairs = (size_t)shape->H * (shape->W | 1) * sizeof(uint2);
    const size_t weights = lay.groups * (lay.steps * 64 * sizeof(uint4) + 16 * sizeof(float));
    const size_t bytes =
        weights + ROUND_UP(elems + 1, 4) * sizeof(float) + (raw > pairs ? raw : pairs);
    const int positions = (shape->H - K + 1) * (shape->W - K + 1);
    if (shape->C != 1 || positions % 4 != 0 || elems > IMAGE_MOST || bytes > shared_most())
        return false;
    launch(conv_pairs<K>, THREADS_MAP, bytes, shape, &lay, 1, positions / (THREADS_MAP / 32 * 16),
           x, k, y);
    return true;
}

/** @return whether the layer was launched as pairs */
static bool launch_one_map(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    return shape->K == 3   ? launch_pairs<3>(shape, x, k, y)
           : shape->K == 5 ? launch_pairs<5>(shape, x, k, y)
           : shape->K == 7 ? launch_pairs<7>(shape, x, k, y)
                           : false;
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Launch your kernels here, check with
    //~  * cudaGetLastError() that the launch was accepted, and return 0 if so. x, k and y are
    //~  * device pointers: do not read or write through them in this function. Delete the next line
    //~  * when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    if (!launch_one_map(shape, x, k, y) && !launch_halves(shape, x, k, y)) {
        const size_t outputs =
            (size_t)shape->B * shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
        const size_t most = GRID_DIM_X, blocks = outputs / BLK_ANY + 1;
        const dim3 grid((unsigned)(blocks > most ? most : blocks));
        conv_any<<<grid, BLK_ANY>>>(*shape, x, k, y);
    }
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "m11: launch for %d maps of %d x %d, %d input maps, filter %d x %d: %s\n",
                shape->M, shape->H, shape->W, shape->C, shape->K, shape->K,
                cudaGetErrorString(error));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
