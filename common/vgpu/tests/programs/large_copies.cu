// Copies of many sizes and alignments, in all directions, each compared byte by byte.
#include "vgpu/tests/check.cuh"

int main()
{
    const size_t most = (11u << 20) + 3;
    Random random(30);
    std::vector<unsigned char> from(most), to(most);
    for (unsigned char &c : from)
        c = (unsigned char)(random.bits() >> 24);
    Device<unsigned char> a(most), b(most);
    bool ok = true;
    for (size_t n :
         {(size_t)1, (size_t)3, (size_t)4096, (size_t)65537, (size_t)4 << 20, most - 9}) {
        size_t at = n % 7;
        std::fill(to.begin(), to.end(), 0);
        CHECK(cudaMemset(b, 0x5a, most));
        CHECK(cudaMemcpy(a + at, from.data() + 1, n, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(b + 2, a + at, n, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemcpy(to.data() + 5, b + 2, n, cudaMemcpyDeviceToHost));
        ok &= memcmp(to.data() + 5, from.data() + 1, n) == 0 && to[4] == 0 && to[5 + n] == 0;
        unsigned char around[2];
        CHECK(cudaMemcpy(&around[0], b + 1, 1, cudaMemcpyDefault));
        CHECK(cudaMemcpy(&around[1], b + 2 + n, 1, cudaMemcpyDefault));
        ok &= around[0] == 0x5a && around[1] == 0x5a;
    }
    return verdict("large_copies", ok, to);
}
