// nvcc: -arch=compute_75 -rdc=true
// A block passes the address of its shared memory to a kernel that it launches, to add the numbers
// there. The child has no shared memory, so its first access is outside all memory.
#include "vgpu/tests/faults.cuh"

__global__ void sum(const int *numbers, int n, int *out)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += numbers[i]; // expect: invalid_address
    *out = s;
}

__global__ void parent(int *out)
{
    __shared__ int numbers[32];
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 3)
        sum<<<1, 1>>>(numbers, 32, out); // expect: child_pointer
}

int main()
{
    Device<int> out(1);
    parent<<<1, 32>>>(out);
    return done(cudaErrorIllegalAddress);
}
