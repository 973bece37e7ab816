// nvcc: -std=c++17 -arch=compute_90a
// Bulk copies without tensor maps: global to shared memory of one block and of several, shared to shared memory of
// another block, shared to global memory, reductions, and stores that complete on a barrier object.
#include "vgpu/tests/check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ unsigned of_block(unsigned address, unsigned rank)
{
    unsigned to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
    return to;
}

__device__ void init(uint64_t *barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count)
                 : "memory");
}

__device__ void expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ void wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 0x989680;\n"
                 "@!done bra AGAIN; }" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ void load(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(at(to)),
        "l"(from), "r"(bytes), "r"(at(barrier))
        : "memory");
}

__device__ void store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(at(from)), "r"(bytes)
                 : "memory");
}

// Two stages of tiles are loaded ahead, changed in place and stored.
__global__ void pipeline(const int *in, int tiles, int *out)
{
    const int n = 256;
    __shared__ __align__(128) int stage[2][n];
    __shared__ uint64_t full[2];
    const int t = threadIdx.x;
    const int *from = in + blockIdx.x * tiles * n;
    int *to = out + blockIdx.x * tiles * n;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < 2 && i < tiles; i++) {
            expect(&full[i], n * sizeof(int));
            load(stage[i], from + i * n, n * sizeof(int), &full[i]);
        }
    for (int i = 0; i < tiles; i++) {
        wait(&full[i % 2], i / 2 % 2);
        stage[i % 2][t] = stage[i % 2][t] * 3 + i;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            store(to + i * n, stage[i % 2], n * sizeof(int));
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            if (i + 2 < tiles) {
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                expect(&full[i % 2], n * sizeof(int));
                load(stage[i % 2], from + (i + 2) * n, n * sizeof(int), &full[i % 2]);
            }
        }
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// One block loads for its whole cluster; each block adds its rank and sends a part to the next
// block.
__global__ void __cluster_dims__(4, 1, 1) multicast(const int *in, int *out)
{
    __shared__ __align__(128) int tile[128], received[128];
    __shared__ uint64_t full, sent;
    auto cluster = cg::this_cluster();
    const int t = threadIdx.x;
    const unsigned rank = cluster.block_rank();
    if (t == 0) {
        init(&full, 1);
        init(&sent, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&full, sizeof tile);
        expect(&sent, sizeof received);
    }
    cluster.sync();
    if (t == 0 && rank == 1)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::
                "r"(at(tile)),
            "l"(in + blockIdx.x / 4 * 128), "r"((unsigned)sizeof tile), "r"(at(&full)),
            "h"((unsigned short)15)
            : "memory");
    wait(&full, 0);
    tile[t] += rank;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                "r"(of_block(at(received), (rank + 1) % 4)),
            "r"(at(tile)), "r"((unsigned)sizeof tile), "r"(of_block(at(&sent), (rank + 1) % 4))
            : "memory");
    wait(&sent, 0);
    out[blockIdx.x * 128 + t] = received[t];
    cluster.sync();
}

// Computes sums over all blocks by reductions of whole tiles.
__global__ void reduce(int *sums, unsigned long long *most, float *floats)
{
    __shared__ __align__(16) int a[64];
    __shared__ __align__(16) unsigned long long b[64];
    __shared__ __align__(16) float c[64];
    const int t = threadIdx.x;
    a[t] = blockIdx.x + t;
    b[t] = blockIdx.x * 1000003ull % 64 * t << 20;
    c[t] = (float)(blockIdx.x * t) / 4;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;" ::"l"(
                sums),
            "r"(at(a))
            : "memory");
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u64 [%0], [%1], 512;" ::"l"(
                most),
            "r"(at(b))
            : "memory");
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(
                floats),
            "r"(at(c))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Each thread stores to the other block and arrives at its barrier object, which counts bytes and
// remote arrivals.
__global__ void __cluster_dims__(2, 1, 1) stores(int *out)
{
    __shared__ __align__(16) int got[4 * 32];
    __shared__ int total;
    __shared__ uint64_t full, empty;
    auto cluster = cg::this_cluster();
    const int t = threadIdx.x;
    const unsigned rank = cluster.block_rank(), other = rank ^ 1;
    if (t == 0) {
        init(&full, 1);
        init(&empty, 32);
        total = 100;
    }
    cluster.sync();
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        if (t == 0)
            expect(&full, sizeof got + 32 * sizeof(int));
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::
                "r"(of_block(at(&got[4 * t]), other)),
            "r"(t), "r"(round), "r"((int)rank), "r"(t * round), "r"(of_block(at(&full), other))
            : "memory");
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::
                "r"(of_block(at(&total), other)),
            "r"(t), "r"(of_block(at(&full), other))
            : "memory");
        wait(&full, round % 2);
        for (int k = 0; k < 4; k++)
            sum = sum * 7 + got[(4 * (31 - t) + k) % 128];
        sum += total;
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         of_block(at(&empty), other))
                     : "memory");
        wait(&empty, round % 2);
    }
    out[blockIdx.x * 32 + t] = sum;
    cluster.sync();
}

int main()
{
    std::vector<int> all;
    bool ok = true;
    auto keep = [&](const std::vector<int> &v) { all.insert(all.end(), v.begin(), v.end()); };
    const int tiles = 7, blocks = 5;
    std::vector<int> in(blocks * tiles * 256);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * i % 1009);
    Device<int> d_in(in), out(in.size());
    pipeline<<<blocks, 256>>>(d_in, tiles, out);
    LAUNCHED();
    std::vector<int> got = out.host();
    for (size_t i = 0; i < in.size(); i++)
        ok &= got[i] == in[i] * 3 + (int)(i / 256 % tiles);
    keep(got);

    Device<int> cast(8 * 128);
    multicast<<<8, 128>>>(d_in, cast);
    LAUNCHED();
    got = cast.host();
    for (int i = 0; i < 8 * 128; i++)
        ok &= got[i] == in[i / 512 * 128 + i % 128] + (i / 128 + 3) % 4;
    keep(got);

    Device<int> sums(64);
    Device<unsigned long long> most(64);
    Device<float> floats(64);
    sums.zero();
    most.zero();
    floats.zero();
    reduce<<<20, 64>>>(sums, most, floats);
    LAUNCHED();
    got = sums.host();
    std::vector<unsigned long long> m = most.host();
    std::vector<float> f = floats.host();
    for (int t = 0; t < 64; t++) {
        unsigned long long largest = 0;
        for (int b = 0; b < 20; b++)
            largest = std::max(largest, b * 1000003ull % 64 * t << 20);
        ok &= got[t] == 190 + 20 * t && m[t] == largest && f[t] == 190.0f * t / 4;
    }
    keep(got);

    Device<int> last(4 * 32);
    stores<<<4, 32>>>(last);
    LAUNCHED();
    got = last.host();
    for (int i = 0; i < 4 * 32; i++) {
        const int t = 31 - i % 32, rank = i / 32 % 2 ^ 1;
        int sum = 0;
        for (int r = 0; r < 3; r++) {
            for (int v : {t, r, rank, t * r})
                sum = sum * 7 + v;
            sum += 100 + 496 * (r + 1);
        }
        ok &= got[i] == sum;
    }
    keep(got);
    return verdict("bulk_copies", ok, all);
}
