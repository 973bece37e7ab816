// nvcc: -std=c++17 -gencode arch=compute_90a,code=compute_90a
// A half-precision GEMM for Hopper: one warp prefetches tiles with tensor maps, and multicasts
// shared tiles to both blocks of a cluster; two warpgroups use wgmma; the result is also stored
// with a tensor map.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/tensor_map.cuh"

#include <cuda_fp16.h>

// A block computes 128 x 64 elements of c = a * b, with b stored by columns; a cluster has two
// blocks in one row of tiles of c, so they need the same rows of a: each block loads half of the
// rows for both.
const int TILE_M = 128, TILE_N = 64, TILE_K = 64, STAGES = 3, HALF_A = TILE_M / 2 * TILE_K;

struct Shared {
    __half a[STAGES][TILE_M * TILE_K], b[STAGES][TILE_N * TILE_K];
    float c[2][64 * TILE_N];
    uint64_t full[STAGES], empty[STAGES];
};

__device__ unsigned of_block(unsigned address, unsigned rank)
{
    unsigned to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
    return to;
}

__device__ void load_box(void *to, const CUtensorMap *map, int x, int y, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
            "r"(at(to)),
        "l"(map), "r"(x), "r"(y), "r"(at(barrier))
        : "memory");
}

__device__ void load_box_twice(void *to, const CUtensorMap *map, int x, int y, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::
            "r"(at(to)),
        "l"(map), "r"(x), "r"(y), "r"(at(barrier)), "h"((unsigned short)3)
        : "memory");
}

__device__ unsigned long long descriptor(const void *p)
{
    // rows of 128 bytes, swizzled; 8 of them are 1024 bytes
    return (unsigned long long)(at(p) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
          "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}

__device__ void produce(Shared &s, const CUtensorMap *a, const CUtensorMap *b, int steps,
                        unsigned rank)
{
    unsigned leader;
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(leader));
    if (threadIdx.x >= 32 || !leader)
        return;
    for (int i = 0; i < steps; i++) {
        const int stage = i % STAGES;
        if (i >= STAGES)
            WAIT(&s.empty[stage], (i / STAGES + 1) % 2);
        expect(&s.full[stage], (TILE_M + TILE_N) * TILE_K * sizeof(__half));
        load_box_twice(s.a[stage] + rank * HALF_A, a, i * TILE_K,
                       blockIdx.y * TILE_M + rank * TILE_M / 2, &s.full[stage]);
        load_box(s.b[stage], b, i * TILE_K, blockIdx.x * TILE_N, &s.full[stage]);
    }
}

__device__ void consume(Shared &s, const CUtensorMap *c, int steps)
{
    float d[32] = {0};
    const int group = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    for (int i = 0; i < steps; i++) {
        const int stage = i % STAGES;
        WAIT(&s.full[stage], i / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < TILE_K / 16; k++)
            multiply(d, descriptor(s.a[stage] + group * HALF_A) + 2 * k,
                     descriptor(s.b[stage]) + 2 * k);
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
        // both blocks load into this stage of both blocks
        if (t < 2)
            ARRIVE(of_block(at(&s.empty[stage]), t));
    }
    for (int i = 0; i < 32; i++)
        s.c[group][(t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * TILE_N + i / 4 * 8 + t % 4 * 2 +
                   i % 2] = d[i];
    fence_async();
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (t == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::
                "l"(c),
            "r"(blockIdx.x * TILE_N), "r"(blockIdx.y * TILE_M + group * 64), "r"(at(s.c[group]))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap c, int steps)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared &s = *reinterpret_cast<Shared *>(memory);
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) {
            init(&s.full[i], 1);
            init(&s.empty[i], 4); // two warpgroups of two blocks
        }
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x < 128)
        produce(s, &a, &b, steps, rank);
    else
        consume(s, &c, steps);
    __syncwarp();
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

static PFN_cuTensorMapEncodeTiled_v12000 encode;

static CUtensorMap map_of(void *p, bool is_half, int columns, int rows, int box_columns,
                          int box_rows)
{
    CUtensorMap map;
    const cuuint64_t size[] = {(cuuint64_t)columns, (cuuint64_t)rows},
                     stride[] = {(cuuint64_t)columns * (is_half ? 2 : 4)};
    const cuuint32_t box[] = {(cuuint32_t)box_columns, (cuuint32_t)box_rows}, step[] = {1, 1};
    EXPECT(encode(&map, is_half ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                  2, p, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  is_half ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

int main()
{
    const int m = 200, n = 250 / 4 * 4, k = 328; // none is a multiple of a tile
    encode = tensor_map_encoder();
    Random random(3);
    std::vector<__half> a(m * k), b(n * k);
    std::vector<float> fa(m * k), fb(n * k);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __float2half(fa[i] = random.below(17) - 8);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __float2half(fb[i] = random.below(9) - 4);
    Device<__half> d_a(a), d_b(b);
    Device<float> d_c(m * n);
    d_c.zero();
    const dim3 grid((n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    CHECK(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
    gemm<<<grid, 384, sizeof(Shared)>>>(
        map_of(d_a.p, true, k, m, TILE_K, TILE_M / 2), map_of(d_b.p, true, k, n, TILE_K, TILE_N),
        map_of(d_c.p, false, n, m, TILE_N, 64), (k + TILE_K - 1) / TILE_K);
    LAUNCHED();
    const std::vector<float> c = d_c.host();
    bool ok = true;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int q = 0; q < k; q++)
                sum += fa[i * k + q] * fb[j * k + q];
            ok &= c[i * n + j] == sum;
        }
    return verdict("hopper_gemm", ok, c);
}
