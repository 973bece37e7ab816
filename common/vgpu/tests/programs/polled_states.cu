// Each thread sweeps over its own nodes until all are decided, and a node waits for nodes of other blocks: no block can
// end before all blocks have begun. The lanes of a warp diverge and meet again in each iteration, so that no fragment
// runs for long, and they do work while they wait.
#include "vgpu/tests/check.cuh"

enum { NODES = 6144, CHAIN = 100, WAITS = 4 };

static __global__ void decide(const int *counts, const int *before, volatile unsigned char *state)
{
    int missing;
    do {
        missing = 0;
        for (int v = (int)(blockIdx.x * blockDim.x + threadIdx.x); v < NODES;
             v += (int)(gridDim.x * blockDim.x)) {
            if (state[v])
                continue;
            int i = 0, most = 0;
            while (i < counts[v] && state[before[v * WAITS + i]]) {
                most = max(most, (int)state[before[v * WAITS + i]]);
                i++;
            }
            if (i < counts[v])
                missing = 1;
            else
                state[v] = (unsigned char)(most + 1);
        }
    } while (missing);
}

int main()
{
    // A chain through all blocks; its nodes also wait for single nodes.
    std::vector<int> counts(NODES), before(NODES * WAITS);
    std::vector<unsigned char> expected(NODES, 1);
    for (int k = 1; k < CHAIN; k++) {
        const int v = NODES - 1 - k * 61;
        counts[v] = 1 + v % WAITS;
        for (int i = 1; i < counts[v]; i++)
            before[v * WAITS + i - 1] = v + i;
        before[v * WAITS + counts[v] - 1] = v + 61;
        expected[v] = (unsigned char)(expected[v + 61] + 1);
    }
    Device<int> d_counts(counts), d_before(before);
    Device<unsigned char> state(NODES);
    state.zero();
    decide<<<24, 128>>>(d_counts, d_before, state);
    LAUNCHED();
    return verdict("polled_states", state.host() == expected, expected);
}
