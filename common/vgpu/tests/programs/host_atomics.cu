// Atomic additions by a kernel and by the host to one word of managed memory, at the same time: none
// may be lost, even if one core runs the kernel.
#include "vgpu/tests/check.cuh"

const int THREADS = 256, TIMES = 5000, BY_HOST = 3000000;

__global__ void add(int *counter)
{
    for (int i = 0; i < TIMES; i++)
        atomicAdd_system(counter, 1);
}

int main()
{
    int *counter;
    CHECK(cudaMallocManaged(&counter, sizeof *counter));
    *counter = 0;
    add<<<4, THREADS>>>(counter);
    for (int i = 0; i < BY_HOST; i++)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    LAUNCHED();
    const bool ok = *counter == 4 * THREADS * TIMES + BY_HOST;
    CHECK(cudaFree(counter));
    return verdict("host_atomics", ok);
}
