// nvcc: -arch=compute_75 -rdc=true
// A block overwrites, for its next step, the input of a kernel that it has just launched. Writing
// other arrays, other bytes of a word that the child reads, and the input of a tail launch is
// right.
#include "vgpu/tests/faults.cuh"

__global__ void use(const int *p, const char *letters, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // expect: child_race
    out[threadIdx.x] += letters[0];
}

__global__ void use_later(const int *p, int *out)
{
    out[threadIdx.x] += p[threadIdx.x];
}

__global__ void steps(int *p, char *letters, int *other, int *out)
{
    if (threadIdx.x == 0) {
        use_later<<<1, 64, 0, cudaStreamTailLaunch>>>(p, out);
        use<<<1, 64>>>(p, letters, out);
    }
    __syncthreads();
    p[threadIdx.x] = 2 * threadIdx.x;
    other[threadIdx.x] = 1;
    if (threadIdx.x == 0)
        letters[1] = 'b';
}

int main()
{
    Device<int> p(64), other(64), out(64);
    Device<char> letters(4);
    p.zero();
    letters.zero();
    steps<<<1, 64>>>(p, letters, other, out);
    return done(cudaSuccess);
}
