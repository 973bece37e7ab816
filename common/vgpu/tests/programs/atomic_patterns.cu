// Atomics with lanes on one address, in rows, in groups, anywhere, or with some lanes idle: each
// old value of an address is returned once, and the last value is kept.
#include "vgpu/tests/check.cuh"

enum { CELLS = 256, THREADS = 96, BLOCKS = 5, ROUNDS = 4, PATTERNS = 5 };

struct Ticket {
    int cell, old;
};

__device__ int cell_of(int pattern, int thread, unsigned &random)
{
    random = random * 1664525 + 1013904223;
    return pattern == 0   ? 7
           : pattern == 1 ? thread
           : pattern == 2 ? thread / 8
           : pattern == 3 ? thread * 5 % CELLS
                          : (int)(random >> 24);
}

template <class T> __global__ void in_global(int pattern, T *cells, Ticket *tickets)
{
    const int thread = threadIdx.x, all = blockIdx.x * THREADS + thread;
    unsigned random = all;
    for (int i = 0; i < ROUNDS; i++) {
        const int cell = cell_of(pattern, thread, random);
        if ((thread + i) % 7 != 0)
            tickets[all * ROUNDS + i] = {cell, (int)atomicAdd(&cells[cell], (T)1)};
    }
}

// The cells of each block start at 0.
template <class T> __global__ void in_shared(int pattern, T *cells, Ticket *tickets)
{
    __shared__ T mine[CELLS];
    const int thread = threadIdx.x, all = blockIdx.x * THREADS + thread;
    unsigned random = all;
    for (int i = thread; i < CELLS; i += THREADS)
        mine[i] = 0;
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++) {
        const int cell = cell_of(pattern, thread, random);
        if ((thread + i) % 7 != 0)
            tickets[all * ROUNDS + i] = {cell, (int)atomicAdd(&mine[cell], (T)1)};
    }
    __syncthreads();
    for (int i = thread; i < CELLS; i += THREADS)
        cells[blockIdx.x * CELLS + i] = mine[i];
}

// Checks tickets: the tickets of a cell must be 0, 1, 2, ..., and its value their number.
template <class T> static bool complete(const Ticket *tickets, int n, const T *cells)
{
    std::vector<std::vector<bool>> given(CELLS, std::vector<bool>(n));
    std::vector<int> count(CELLS);
    for (int i = 0; i < n; i++) {
        const Ticket t = tickets[i];
        if (t.cell < 0)
            continue;
        if (t.old < 0 || t.old >= n || given[t.cell][t.old])
            return false;
        given[t.cell][t.old] = true;
        count[t.cell]++;
    }
    for (int i = 0; i < CELLS; i++)
        if (cells[i] != (T)count[i] || (count[i] && !given[i][count[i] - 1]))
            return false;
    return true;
}

template <class T> static bool works(int pattern)
{
    const int n = THREADS * ROUNDS;
    const std::vector<Ticket> none(BLOCKS * n, Ticket{-1, -1});
    Device<T> global{std::vector<T>(CELLS)}, shared(BLOCKS * CELLS);
    Device<Ticket> of_global(none), of_shared(none);
    in_global<T><<<BLOCKS, THREADS>>>(pattern, global, of_global);
    in_shared<T><<<BLOCKS, THREADS>>>(pattern, shared, of_shared);
    LAUNCHED();
    bool ok = complete(of_global.host().data(), BLOCKS * n, global.host().data());
    for (int b = 0; b < BLOCKS; b++)
        ok &= complete(of_shared.host().data() + b * n, n, shared.host().data() + b * CELLS);
    return ok;
}

int main()
{
    bool ok = true;
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        ok &= works<int>(pattern) && works<unsigned long long>(pattern) && works<float>(pattern) &&
              works<double>(pattern);
    return verdict("atomic_patterns", ok);
}
