// nvcc: -std=c++17 -arch=compute_80
// Cooperative launches whose blocks order their accesses without grid.sync(), or whose conflicts do
// not matter: none is a race that must be reported.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include <algorithm>

#include "vgpu/tests/check.cuh"

namespace cg = cooperative_groups;

__device__ unsigned arrived, generation, ticket, serving;
__device__ volatile unsigned flags[64];
__device__ unsigned plain_flags[64];
__device__ int lock, last_total, changed;

// A barrier of our own: a counter and a volatile generation.
__device__ void own_barrier()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned now = *(volatile unsigned *)&generation;
        __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            *(volatile unsigned *)&generation = now + 1;
        } else
            while (*(volatile unsigned *)&generation == now)
                continue;
        __threadfence();
    }
    __syncthreads();
}

__global__ void with_own_barrier(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < 3; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = a[(i + 70) % n] + 1;
        own_barrier();
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            a[i] = b[(i + 70) % n];
        own_barrier();
    }
}

// The last block adds all partial results and resets the counter.
__global__ void last_block(const int *x, int *partial, int *total, int n)
{
    cg::grid_group grid = cg::this_grid();
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += x[i];
    sum = __reduce_add_sync(~0u, sum);
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int i = 0; i < gridDim.x; i++)
            all += partial[i];
        *total = all;
        ticket = 0;
    }
}

// Each block waits for its predecessor's volatile flag, then reads its plain result.
__global__ void chain(int *sums, const int *x)
{
    int before = 0;
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0)
            continue;
        __threadfence();
        before = sums[blockIdx.x - 1];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = before + x[blockIdx.x];
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

// The same with plain flags and a fence in the loop.
__global__ void chain_plain(int *sums, const int *x)
{
    int before = 0;
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        while (plain_flags[blockIdx.x - 1] == 0)
            __threadfence();
        before = sums[blockIdx.x - 1];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = before + x[blockIdx.x];
        __threadfence();
        plain_flags[blockIdx.x] = 1;
    }
}

// Decoupled look-back with cuda::atomic_ref, release and acquire.
__global__ void chain_acquire(int *sums, const int *x, int *state)
{
    int before = 0;
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> s(state[blockIdx.x - 1]);
        while (s.load(cuda::memory_order_acquire) == 0)
            continue;
        before = sums[blockIdx.x - 1];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = before + x[blockIdx.x];
        cuda::atomic_ref<int, cuda::thread_scope_device>(state[blockIdx.x])
            .store(1, cuda::memory_order_release);
    }
}

// Polls with atomics, and posts with a plain store.
__global__ void chain_atomic(int *sums, const int *x, int *state)
{
    int before = 0;
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        while (atomicAdd(&state[blockIdx.x - 1], 0) == 0)
            continue;
        before = sums[blockIdx.x - 1];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = before + x[blockIdx.x];
        __threadfence();
        state[blockIdx.x] = 1;
    }
}

// Plain data under a lock, which a plain store or an exchange opens.
__global__ void locked(int *sum, int exchange)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            continue;
        __threadfence();
        *sum += blockIdx.x + 1;
        __threadfence();
        if (exchange)
            atomicExch(&lock, 0);
        else
            *(volatile int *)&lock = 0;
    }
}

// A ticket lock.
__global__ void in_turn(int *sum)
{
    if (threadIdx.x == 0) {
        const unsigned mine = atomicAdd(&ticket, 1);
        while (*(volatile unsigned *)&serving != mine)
            continue;
        sum[0] = sum[0] * 3 % 1009 + 1;
        __threadfence();
        atomicAdd(&serving, 1);
    }
}

// Levels of a graph, a ring with chords: blocks see a neighbour's level early or late.
__global__ void levels(int *level, int n, int *depth)
{
    cg::grid_group grid = cg::this_grid();
    for (int now = 0;; now++) {
        if (grid.thread_rank() == 0)
            changed = 0;
        grid.sync();
        for (int v = grid.thread_rank(); v < n; v += grid.size())
            if (level[v] == now)
                for (int k : {1, 7, n - 1, n - 7})
                    if (level[(v + k) % n] < 0) {
                        level[(v + k) % n] = now + 1;
                        changed = 1;
                    }
        grid.sync();
        if (!changed) {
            if (grid.thread_rank() == 0)
                *depth = now;
            return;
        }
        grid.sync();
    }
}

// Shortest paths: plain reads beside atomicMin().
__global__ void distances(int *distance, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < n / 14 + 6; round++) { /* more than the longest path has edges */
        for (int v = grid.thread_rank(); v < n; v += grid.size())
            for (int k : {1, 7, n - 1, n - 7})
                if (distance[v] + 1 < distance[(v + k) % n])
                    atomicMin(&distance[(v + k) % n], distance[v] + 1);
        grid.sync();
    }
}

// Labels of components: plain reads and stores of smaller labels, until nothing changes.
__global__ void components(int *label, int n)
{
    cg::grid_group grid = cg::this_grid();
    do {
        grid.sync();
        if (grid.thread_rank() == 0)
            changed = 0;
        grid.sync();
        for (int v = grid.thread_rank(); v < n; v += grid.size()) {
            const int other = label[(v + 2) % n];
            if (other < label[v]) {
                label[v] = other;
                changed = 1;
            }
        }
        grid.sync();
    } while (changed);
}

// Neighbouring bytes of one word belong to different blocks.
__global__ void bytes(unsigned char *to, int n)
{
    for (int i = blockIdx.x; i < n; i += gridDim.x)
        if (threadIdx.x == 0) {
            to[i] = (unsigned char)(i + 1);
            to[i] = (unsigned char)(to[i] * 3);
        }
}

// An iteration with reductions, as in the conjugate gradient method.
__global__ void iterate(float *x, float *y, float *sum, int n, int *rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0;; round++) {
        if (grid.thread_rank() == 0)
            *sum = 0;
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            y[i] = 0.25f * (x[(i + n - 1) % n] + 2 * x[i] + x[(i + 1) % n]);
        grid.sync();
        float mine = 0;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            mine += fabsf(x[i] - y[i]);
            x[i] = y[i];
        }
        atomicAdd(sum, mine);
        grid.sync();
        if (*sum < 60 || round == 50) {
            if (grid.thread_rank() == 0)
                *rounds = round;
            return;
        }
        grid.sync();
    }
}

template <class... T> void launch(void (*kernel)(T...), T... parameters)
{
    void *arguments[] = {&parameters...};
    CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(6), dim3(32), arguments));
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    const int n = 500;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++)
        h[i] = (i * 37) % 101;
    Device<int> x(h), y((size_t)n), out((size_t)4), state((size_t)64);
    bool ok = true;
    y.zero();
    out.zero();
    state.zero();
    Device<int> a(h), b(n);
    launch(with_own_barrier, a.p, b.p, n);
    std::vector<int> want = h, got = a.host();
    for (int s = 0; s < 3; s++) {
        std::vector<int> next(n);
        for (int i = 0; i < n; i++)
            next[i] = want[(i + 140) % n] + 1;
        want = next;
    }
    ok &= got == want;

    int sum = 0;
    for (int v : h)
        sum += v;
    for (int round = 0; round < 2; round++) {
        launch(last_block, (const int *)x.p, y.p, out.p, n);
        ok &= out.host()[0] == sum;
    }
    int prefix[6];
    for (int i = 0; i < 6; i++)
        prefix[i] = h[i] + (i ? prefix[i - 1] : 0);
    auto is_prefix = [&] {
        bool is = true;
        const std::vector<int> sums = y.host();
        for (int i = 0; i < 6; i++)
            is &= sums[i] == prefix[i];
        y.zero();
        return is;
    };
    launch(chain, y.p, (const int *)x.p);
    ok &= is_prefix();
    launch(chain_plain, y.p, (const int *)x.p);
    ok &= is_prefix();
    launch(chain_acquire, y.p, (const int *)x.p, state.p);
    ok &= is_prefix();
    state.zero();
    launch(chain_atomic, y.p, (const int *)x.p, state.p);
    ok &= is_prefix();
    out.zero();
    launch(locked, out.p, 0);
    launch(locked, out.p, 1);
    ok &= out.host()[0] == 42;
    out.zero();
    launch(in_turn, out.p);
    ok &= out.host()[0] == 1 + 3 + 9 + 27 + 81 + 243;

    std::vector<int> start(n, -1);
    start[0] = 0;
    Device<int> level(start);
    launch(levels, level.p, n, out.p);
    for (int &v : start)
        v = v < 0 ? 1000 : 0;
    Device<int> distance(start);
    launch(distances, distance.p, n);
    ok &= level.host() == distance.host();
    launch(components, a.p, n);
    const int least[] = {*std::min_element(got.begin(), got.end())};
    int even = 1000, odd = 1000;
    for (int i = 0; i < n; i++)
        (i % 2 ? odd : even) = std::min(got[i], i % 2 ? odd : even);
    got = a.host();
    for (int i = 0; i < n; i++)
        ok &= got[i] == (i % 2 ? odd : even);
    ok &= least[0] == std::min(even, odd);
    Device<unsigned char> narrow((size_t)n);
    launch(bytes, narrow.p, n);
    ok &= narrow.host()[9] == 30;
    std::vector<float> f(n);
    for (int i = 0; i < n; i++)
        f[i] = i % 17;
    Device<float> fx(f), fy(n), fsum(std::vector<float>(1));
    launch(iterate, fx.p, fy.p, fsum.p, n, out.p);
    ok &= out.host()[0] > 1;
    return verdict("grid_protocols", ok, got);
}
