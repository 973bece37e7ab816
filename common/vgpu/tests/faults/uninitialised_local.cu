// Reads elements of arrays in local memory that nothing wrote: the last one, and one that is behind
// the top of a stack.
#include "vgpu/tests/faults.cuh"

__global__ void gather(const float *in, const int *order, int n, float *out)
{
    float own[8], sum = 0;
    for (int i = 0; i < n; i++)
        own[i] = in[i];
    for (int i = 0; i < 8; i++)
        sum += own[order[i]]; // expect: uninitialised
    out[threadIdx.x] = sum;
}

__global__ void pop(const int *in, int n, int *out)
{
    int stack[16], top = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > 2)
            stack[top++] = in[i];
    if (stack[top] > 4) // expect: uninitialised
        out[threadIdx.x] = 1;
}

int main()
{
    std::vector<float> h(8, 1.0f);
    Device<float> in(h), out(64);
    Device<int> order(std::vector<int>{7, 1, 2, 3, 4, 5, 6, 0}), found(64);
    gather<<<2, 32>>>(in, order, 7, out);
    pop<<<2, 32>>>(order, 8, found);
    return done(cudaSuccess);
}
