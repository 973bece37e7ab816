// nvcc: -arch=compute_75 -rdc=true
// A kernel passes the address of its own variable to the kernel that it launches.
#include "vgpu/tests/faults.cuh"

__global__ void child(int *p, int *out)
{
    *out = p ? 1 : 0;
}

__global__ void parent(int *out, int n)
{
    int mine[4];
    int *p = n ? mine : out;
    for (int i = 0; i < 4; i++)
        mine[i] = n * i;
    child<<<1, 1>>>(p, out); // expect: child_pointer
    out[1] = mine[n];
}

int main()
{
    Device<int> out(2);
    out.zero();
    parent<<<1, 1>>>(out, 1);
    return done(cudaSuccess);
}
