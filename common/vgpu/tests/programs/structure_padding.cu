// Structures with padding, copied as integers of 64 bits: the padding was never written. This is not
// a finding.
#include "vgpu/tests/check.cuh"

const int N = 100, LETTERS = 13;

struct Item {
    float value; // 4 bytes of padding follow
    long long index;
};

__global__ void make(Item *items)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        items[i].value = i * 0.5f;
        items[i].index = N - i;
    }
}

__global__ void copy(const unsigned long long *from, unsigned long long *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * N)
        to[i] = from[i];
}

// Only the first letters of a row are written; the whole row is copied.
__global__ void words(unsigned long long *to)
{
    __shared__ __align__(8) unsigned char row[16];
    if (threadIdx.x < LETTERS)
        row[threadIdx.x] = 'a' + threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 2)
        to[threadIdx.x] = ((unsigned long long *)row)[threadIdx.x];
}

int main()
{
    Device<Item> from(N), to(N);
    Device<unsigned long long> text(2);
    make<<<2, 64>>>(from);
    copy<<<4, 64>>>((const unsigned long long *)from.p, (unsigned long long *)to.p);
    words<<<1, 32>>>(text);
    LAUNCHED();
    bool ok = true;
    const std::vector<Item> items = to.host();
    for (int i = 0; i < N; i++)
        ok &= items[i].value == i * 0.5f && items[i].index == N - i;
    const std::vector<unsigned long long> letters = text.host();
    ok &= memcmp(letters.data(), "abcdefghijklm", LETTERS) == 0;
    return verdict("structure_padding", ok);
}
