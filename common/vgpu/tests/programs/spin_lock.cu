// Locks, taken by one thread per block, then by all threads of a warp, which needs the independent
// thread scheduling of Volta and later.
#include "vgpu/tests/check.cuh"

__device__ int lock_word, counter, turn;

__global__ void by_block(int rounds)
{
    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < rounds; i++) {
        while (atomicCAS(&lock_word, 0, 1) != 0)
            ;
        __threadfence();
        counter = *(volatile int *)&counter + 1;
        __threadfence();
        atomicExch(&lock_word, 0);
    }
}

__global__ void by_thread()
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            __threadfence();
            counter = *(volatile int *)&counter + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

__global__ void in_turn(int *order)
{
    int me = 31 - (int)threadIdx.x;
    bool done = false;
    while (!done) {
        if (*(volatile int *)&turn == me) {
            order[me] = (int)threadIdx.x;
            __threadfence();
            atomicAdd(&turn, 1);
            done = true;
        }
    }
}

int main()
{
    int got = 0;
    by_block<<<6, 32>>>(5);
    LAUNCHED();
    by_thread<<<2, 64>>>();
    LAUNCHED();
    CHECK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    Device<int> order(32);
    in_turn<<<1, 32>>>(order);
    LAUNCHED();
    std::vector<int> o = order.host();
    bool ok = got == 30 + 128;
    for (int i = 0; i < 32; i++)
        ok &= o[i] == 31 - i;
    return verdict("spin_lock", ok, o);
}
