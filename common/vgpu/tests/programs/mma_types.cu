// nvcc: -arch=compute_80
// wmma and mma.sync on all element types except f16: bf16, tf32, f64, 8-bit and 4-bit integers,
// bits.
#include "vgpu/tests/check.cuh"

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

template <class A, class F, class C, int M, int N, int K>
__global__ void multiply(const A *a, const A *b, C *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, F, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, F, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fill_fragment(fc, (C)0);
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

// Small integers, so that every sum is exact in every type. b is stored by columns.
template <class A, class F, class C, int M, int N, int K>
static bool check(std::vector<double> &all)
{
    Random random(M * 1000 + N * 10 + K);
    std::vector<A> a(M * K), b(N * K);
    std::vector<int> ia(M * K), ib(N * K);
    for (int i = 0; i < M * K; i++)
        ia[i] = random.below(15) - 7, a[i] = (A)(float)ia[i];
    for (int i = 0; i < N * K; i++)
        ib[i] = random.below(15) - 7, b[i] = (A)(float)ib[i];
    Device<A> da(a), db(b);
    Device<C> dc(M * N);
    multiply<A, F, C, M, N, K><<<1, 32>>>(da, db, dc);
    LAUNCHED();
    std::vector<C> got = dc.host();
    bool ok = true;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += ia[i * K + k] * ib[j * K + k];
            ok &= got[i * N + j] == (C)sum;
            all.push_back((double)got[i * N + j]);
        }
    return ok;
}

// Fragments filled by lane: a register holds 4 * PER bits along k, rows by groups of 4 lanes.
__global__ void small(const unsigned *a, const unsigned *b, int *c)
{
    int lane = threadIdx.x;
    int c0 = 0, c1 = 0;
    asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c0), "+r"(c1)
                 : "r"(a[lane]), "r"(b[lane]));
    c[2 * lane] = c0, c[2 * lane + 1] = c1;
    c0 = c1 = 1;
    asm volatile(
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c0), "+r"(c1)
        : "r"(a[lane]), "r"(b[lane]));
    c[64 + 2 * lane] = c0, c[64 + 2 * lane + 1] = c1;
    int d[4] = {0, 0, 0, 0};
    unsigned x = a[lane], y = b[lane];
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(x), "r"(~x), "r"(x >> 1), "r"(0), "r"(y), "r"(y >> 3));
    for (int i = 0; i < 4; i++)
        c[128 + 4 * lane + i] = d[i];
}

static bool check_small(std::vector<double> &all)
{
    Random random(5);
    std::vector<unsigned> a(32), b(32);
    for (int i = 0; i < 32; i++)
        a[i] = random.bits(), b[i] = random.bits();
    Device<unsigned> da(a), db(b);
    Device<int> dc(256);
    small<<<1, 32>>>(da, db, dc);
    LAUNCHED();
    std::vector<int> got = dc.host();
    bool ok = true;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            int sum = 0, bits = 1;
            for (int q = 0; q < 4; q++) {
                unsigned x = a[4 * i + q], y = b[4 * j + q];
                for (int e = 0; e < 8; e++)
                    sum += ((int)(x >> 4 * e << 28) >> 28) * (int)(y >> 4 * e & 15);
                bits += __builtin_popcount(x ^ y);
            }
            int at = 2 * (4 * i + j / 2) + j % 2;
            ok &= got[at] == sum && got[64 + at] == bits;
        }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int sum = 0;
            for (int q = 0; q < 4; q++) {
                unsigned x = a[4 * (i % 8) + q], y = b[4 * j + q];
                unsigned low = i < 8 ? x : ~x, high = i < 8 ? x >> 1 : 0;
                for (int e = 0; e < 4; e++)
                    sum += (signed char)(low >> 8 * e) * (int)(y >> 8 * e & 255) +
                           (signed char)(high >> 8 * e) * (int)(y >> 3 >> 8 * e & 255);
            }
            ok &= got[128 + 4 * (4 * (i % 8) + j / 2) + 2 * (i / 8) + j % 2] == sum;
        }
    for (int v : got)
        all.push_back(v);
    return ok;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// float64: each step is a fused multiply-add, also for NaNs.
static double add_product(double a, double b, double c)
{
    const double sum = fma(a, b, c), nan = b != b ? b : c != c ? c : a;
    const uint64_t quiet = 1ull << 51, none = 0xfff8ull << 48;
    return sum == sum ? sum : from_bits(nan != nan ? to_bits(nan) | quiet : none);
}

static bool check_doubles()
{
    const int N = 8, K = 4;
    Random random(6);
    bool ok = true;
    for (int round = 0; round < 20; round++) {
        std::vector<double> a(N * K), b(N * K);
        for (double *x : {a.data(), b.data()})
            for (int i = 0; i < N * K; i++) {
                const uint64_t payload = random.bits() | (uint64_t)random.below(2) << 51;
                x[i] = random.below(100) < 4 * round ? from_bits(0x7ff0ull << 48 | payload)
                                                     : (random.below(1000) - 500) / 7.0;
            }
        Device<double> da(a), db(b), dc(N * N);
        multiply<double, double, double, N, N, K><<<1, 32>>>(da, db, dc);
        LAUNCHED();
        std::vector<double> got = dc.host();
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum = add_product(a[i * K + k], b[j * K + k], sum);
                ok &= to_bits(got[i * N + j]) == to_bits(sum);
            }
    }
    return ok;
}

int main()
{
    std::vector<double> all;
    bool ok = check<float, wmma::precision::tf32, float, 16, 16, 8>(all);
    ok &= check<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>(all);
    ok &= check<__nv_bfloat16, __nv_bfloat16, float, 32, 8, 16>(all);
    ok &= check<signed char, signed char, int, 16, 16, 16>(all);
    ok &= check<signed char, signed char, int, 8, 32, 16>(all);
    ok &= check<double, double, double, 8, 8, 4>(all);
    ok &= check_small(all);
    ok &= check_doubles();
    return verdict("mma_types", ok, all);
}
