// nvcc: -std=c++17 -arch=compute_80
// wmma with elements of 1 and 4 bits, in global and in shared memory, with gaps between the rows.
#include <mma.h>

#include "vgpu/tests/check.cuh"

using namespace nvcuda;
using namespace nvcuda::wmma::experimental;

const int WORDS = 4, GAP = 4, STRIDE = WORDS + GAP;

enum Operation { PRODUCT, DIFFERENT, BOTH };

template <class T, int K, Operation OPERATION>
__global__ void multiply(const uint32_t *a, const uint32_t *b, int *d, bool through_shared)
{
    __shared__ __align__(16) uint32_t shared[8 * STRIDE];
    wmma::fragment<wmma::matrix_a, 8, 8, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> fd;
    wmma::fill_fragment(fd, 5);
    for (int i = threadIdx.x; i < 8 * STRIDE; i += 32)
        shared[i] = a[i];
    __syncwarp();
    wmma::load_matrix_sync(fa, through_shared ? shared : a, STRIDE * K / WORDS);
    wmma::load_matrix_sync(fb, b, STRIDE * K / WORDS);
    if constexpr (OPERATION == PRODUCT)
        wmma::mma_sync(fd, fa, fb, fd);
    else
        wmma::bmma_sync(fd, fa, fb, fd, OPERATION == BOTH ? bmmaBitOpAND : bmmaBitOpXOR);
    wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
}

template <int BITS, bool IS_SIGNED> static int element(const uint32_t *row, int i)
{
    const int v = row[i * BITS / 32] >> i * BITS % 32 & ((1 << BITS) - 1);
    return IS_SIGNED && v >> (BITS - 1) ? v - (1 << BITS) : v;
}

template <class T, int BITS, bool IS_SIGNED, Operation OPERATION> static bool test()
{
    const int K = WORDS * 32 / BITS;
    std::vector<uint32_t> a(8 * STRIDE), b(8 * STRIDE);
    Random random(BITS + IS_SIGNED);
    for (uint32_t &x : a)
        x = random.bits();
    for (uint32_t &x : b)
        x = random.bits();
    Device<uint32_t> d_a(a), d_b(b);
    Device<int> d_d(64);
    bool ok = true;
    for (int through_shared = 0; through_shared < 2; through_shared++) {
        multiply<T, K, OPERATION><<<1, 32>>>(d_a, d_b, d_d, through_shared);
        LAUNCHED();
        const std::vector<int> d = d_d.host();
        for (int i = 0; i < 64; i++) {
            int sum = 5;
            for (int k = 0; k < K; k++) {
                const int x = element<BITS, IS_SIGNED>(&a[i / 8 * STRIDE], k);
                const int y = element<BITS, IS_SIGNED>(&b[i % 8 * STRIDE], k);
                sum += OPERATION == DIFFERENT ? x ^ y : x * y;
            }
            ok &= d[i] == sum;
        }
    }
    return ok;
}

int main()
{
    const bool ok =
        test<precision::s4, 4, true, PRODUCT>() && test<precision::u4, 4, false, PRODUCT>() &&
        test<precision::b1, 1, false, DIFFERENT>() && test<precision::b1, 1, false, BOTH>();
    return verdict("wmma_bits", ok, std::vector<int>());
}
