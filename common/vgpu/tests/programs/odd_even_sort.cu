// A bitonic sort in shared memory and an odd-even sort over the whole array in many launches.
#include "vgpu/tests/check.cuh"

#include <algorithm>

__global__ void bitonic(unsigned *a)
{
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                unsigned swap = s[t];
                s[t] = s[other], s[other] = swap;
            }
            __syncthreads();
        }
    a[blockIdx.x * 256 + t] = s[t];
}

__global__ void odd_even(unsigned *a, int n, int phase)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n && a[i] > a[i + 1]) {
        unsigned swap = a[i];
        a[i] = a[i + 1], a[i + 1] = swap;
    }
}

int main()
{
    const int n = 512;
    Random random(40);
    std::vector<unsigned> in(n);
    for (unsigned &v : in)
        v = random.bits();
    Device<unsigned> d(in), e(in);
    bitonic<<<2, 256>>>(d);
    for (int i = 0; i < n; i++)
        odd_even<<<2, 128>>>(e, n, i & 1);
    LAUNCHED();
    std::vector<unsigned> halves = in, all = in, got = e.host();
    std::sort(halves.begin(), halves.begin() + 256);
    std::sort(halves.begin() + 256, halves.end());
    std::sort(all.begin(), all.end());
    return verdict("odd_even_sort", d.host() == halves && got == all, got);
}
