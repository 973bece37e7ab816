// nvcc: -std=c++17 -arch=compute_90
// Thread block clusters: their registers and barriers, and access to the shared memory of other
// blocks.
#include "vgpu/tests/check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// The position of each block, with one number per special register.
__global__ void __cluster_dims__(2, 2, 1) places(unsigned *out)
{
    auto cluster = cg::this_cluster();
    unsigned v[12], explicit_cluster;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v[2]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[3]));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[4]));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[5]));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[6]));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[7]));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[8]));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[9]));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
        : "=r"(explicit_cluster));
    v[10] = explicit_cluster;
    v[11] = cluster.block_rank() * 100 + cluster.num_blocks() * 10 + cluster.dim_blocks().y +
            cluster.thread_rank() * 1000;
    unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    if (threadIdx.x == 3)
        for (int i = 0; i < 12; i++)
            out[block * 12 + i] = v[i];
}

// Each block sums its part; the first block of a cluster collects the sums of all blocks.
__global__ void __cluster_dims__(4, 1, 1) reduce(const int *in, int *out)
{
    __shared__ int part[8], sum;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    if (t == 0)
        sum = 0;
    v = __reduce_add_sync(~0u, v);
    if (t % 32 == 0)
        part[t / 32] = v;
    cluster.sync();
    if (t < blockDim.x / 32)
        atomicAdd(cluster.map_shared_rank(&sum, 0), part[t]);
    cluster.sync();
    if (t == 0 && cluster.block_rank() == 0)
        out[blockIdx.x / 4] = sum;
}

// A histogram over all shared memory of the cluster: each block has a part of the bins.
__global__ void histogram(const unsigned char *in, int n, int bins_per_block, int *bins)
{
    extern __shared__ int own[];
    auto cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        own[i] = 0;
    cluster.sync();
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += blockDim.x * gridDim.x) {
        int bin = in[i] % (bins_per_block * cluster.num_blocks());
        atomicAdd(cluster.map_shared_rank(own, bin / bins_per_block) + bin % bins_per_block, 1);
    }
    cluster.sync();
    int rank = cluster.block_rank();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        atomicAdd(&bins[rank * bins_per_block + i], own[i]);
}

// Values go around a ring of blocks; the barrier's two halves, arrive and wait, are separate and in
// PTX.
__global__ void ring(int rounds, int *out)
{
    __shared__ int slot[2][64];
    unsigned rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    int t = threadIdx.x, v = rank * 1000 + t;
    for (int r = 0; r < rounds; r++) {
        unsigned to;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(to)
                     : "r"(shared_address(&slot[r % 2][t])), "r"((rank + 1) % size));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        int kept = v * 3;
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        v = slot[r % 2][63 - t] + kept;
    }
    out[blockIdx.x * 64 + t] = v;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// Vectors, generic addresses, the address space and the owner of an address.
__global__ void __cluster_dims__(2, 1, 1) addresses(int *out)
{
    __shared__ __align__(16) int s[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = blockIdx.x * 100 + t;
    s[t + 32] = -s[t];
    cluster.sync();
    unsigned other = cluster.block_rank() ^ 1, at, owner, in_cta, in_cluster;
    const int *theirs = cluster.map_shared_rank(s, other);
    int4 four = *reinterpret_cast<const int4 *>(theirs + 4 * (t % 8));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(at)
                 : "r"(shared_address(s)), "r"(other));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(at));
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(in_cta)
                 : "l"(theirs));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(in_cluster)
                 : "l"(theirs));
    int two[2];
    asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2+8];"
                 : "=r"(two[0]), "=r"(two[1])
                 : "r"(at));
    unsigned long long old;
    asm volatile("atom.shared::cluster.add.u64 %0, [%1+128], 1;" : "=l"(old) : "r"(at));
    cluster.sync();
    if (old == 12345)
        s[33] = 0;
    int *to = out + (blockIdx.x * 32 + t) * 8;
    to[0] = four.x;
    to[1] = four.w;
    to[2] = owner == other && cluster.query_shared_rank(theirs) == other;
    to[3] = in_cta * 10 + in_cluster;
    to[4] = two[0];
    to[5] = two[1];
    to[6] = s[33];
    to[7] = s[32];
}

template <class... P, class... A>
static void launch(void (*kernel)(P...), int grid, int block, int cluster, size_t shared,
                   A... arguments)
{
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {(unsigned)cluster, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.attrs = &size;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, P(arguments)...));
    LAUNCHED();
}

int main()
{
    std::vector<int> all;
    bool ok = true;
    auto keep = [&](const std::vector<int> &v) { all.insert(all.end(), v.begin(), v.end()); };

    Device<unsigned> fields(6 * 4 * 12);
    places<<<dim3(6, 4), 64>>>(fields);
    LAUNCHED();
    std::vector<unsigned> f = fields.host();
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 6; x++) {
            const unsigned rank = x % 2 + 2 * (y % 2);
            const unsigned want[12] = {x / 2, y / 2, 3, 2,
                                       x % 2, y % 2, 2, 1,
                                       rank,  4,     1, rank * 100 + 42 + (rank * 64 + 3) * 1000};
            for (int i = 0; i < 12; i++)
                ok &= f[(x + 6 * y) * 12 + i] == want[i];
        }
    keep(std::vector<int>(f.begin(), f.end()));

    Random random(7);
    std::vector<int> in(16 * 256);
    for (int &v : in)
        v = random.below(1000);
    Device<int> d_in(in), sums(4);
    reduce<<<16, 256>>>(d_in, sums);
    LAUNCHED();
    std::vector<int> got = sums.host();
    for (int c = 0; c < 4; c++) {
        int want = 0;
        for (int i = 0; i < 1024; i++)
            want += in[c * 1024 + i];
        ok &= got[c] == want;
    }
    keep(got);

    std::vector<unsigned char> bytes(10007);
    for (auto &b : bytes)
        b = random.below(256);
    Device<unsigned char> d_bytes(bytes);
    for (int cluster : {1, 2, 8}) {
        Device<int> bins(256);
        bins.zero();
        const int each = 256 / cluster;
        launch(histogram, 16, 128, cluster, each * sizeof(int), d_bytes.p, (int)bytes.size(), each,
               bins.p);
        std::vector<int> want(256);
        for (auto b : bytes)
            want[b]++;
        got = bins.host();
        ok &= got == want;
        keep(got);
    }

    CHECK(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (int cluster : {1, 4, 8, 16}) {
        Device<int> out(2 * cluster * 64);
        launch(ring, 2 * cluster, 64, cluster, 0, 5, out.p);
        std::vector<int> v(cluster * 64), w(v);
        for (int i = 0; i < cluster * 64; i++)
            v[i] = i / 64 * 1000 + i % 64;
        for (int r = 0; r < 5; r++, v = w)
            for (int b = 0; b < cluster; b++)
                for (int t = 0; t < 64; t++)
                    w[b * 64 + t] =
                        v[(b + cluster - 1) % cluster * 64 + 63 - t] + 3 * v[b * 64 + t];
        got = out.host();
        for (int i = 0; i < 2 * cluster * 64; i++)
            ok &= got[i] == v[i % (cluster * 64)];
        keep(got);
    }

    Device<int> out(4 * 32 * 8);
    addresses<<<4, 32>>>(out);
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 4 * 32; i++) {
        const int other = (i / 32 ^ 1) * 100, k = 4 * (i % 8);
        const int want[6] = {other + k, other + k + 3, 1, 1, other + 2, other + 3};
        for (int n = 0; n < 6; n++)
            ok &= got[i * 8 + n] == want[n];
        // 32 threads of the other block each added one to the 64 bits of two elements
        const int mine = i / 32 * 100;
        const long long sum = ((long long)-(mine + 1) << 32 | (unsigned)-mine) + 32;
        ok &= got[i * 8 + 6] == (int)(sum >> 32) && got[i * 8 + 7] == (int)sum;
    }
    keep(got);
    return verdict("clusters", ok, all);
}
