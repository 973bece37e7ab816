// nvcc: -arch=compute_75 -rdc=true
// A kernel reads the results of a kernel that it launched, without waiting for it.
#include "vgpu/tests/faults.cuh"

__global__ void squares(int *p)
{
    p[threadIdx.x] = threadIdx.x * threadIdx.x; // expect: child_race
}

__global__ void sum(int *p, int *out)
{
    squares<<<1, 64>>>(p);
    int s = 0;
    for (int i = 0; i < 64; i++)
        s += p[i];
    *out = s;
}

int main()
{
    Device<int> p(64), out(1);
    p.zero();
    sum<<<1, 1>>>(p, out);
    return done(cudaSuccess);
}
