// nvcc: -std=c++14 -arch=compute_80
// Matrices of each shape and type go from memory through fragments to memory: row- and
// column-major, with gaps between rows, in global memory, shared memory and by generic addresses.
// The products are compared with those of the CPU. Leading dimensions that a GPU does not allow are
// tried on the virtual GPU only: there, rows may start at any element.
#include <cuda_fp16.h>
#include <mma.h>

#include "vgpu/tests/check.cuh"

using namespace nvcuda;

template <typename T> struct number {
    static T of(int i)
    {
        return (T)i;
    }
    static float value(T t)
    {
        return (float)t;
    }
};
template <> struct number<__half> {
    static __half of(int i)
    {
        return __float2half((float)i);
    }
    static float value(__half h)
    {
        return __half2float(h);
    }
};

enum { GAP = 16, MOST = 32 * (32 + GAP) };

/* A pointer that the compiler takes for generic. */
template <typename T> __device__ T *generic(T *global, T *shared, int where)
{
    return where & 1 ? shared : global;
}

template <int M, int N, int K, typename T, typename S, typename A, typename B>
__global__ void multiply(const T *a, const T *b, S *d, int lda, int ldb, int ldd, bool by_column,
                         int where)
{
    __shared__ __align__(32) T shared_a[MOST], shared_b[MOST];
    __shared__ __align__(32) S shared_d[MOST];
    for (int i = threadIdx.x; i < MOST; i += 32) {
        shared_a[i] = a[i];
        shared_b[i] = b[i];
        shared_d[i] = d[i];
    }
    __syncwarp();
    const auto layout = by_column ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::fragment<wmma::matrix_a, M, N, K, T, A> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fd;
    if (where == 2)
        wmma::load_matrix_sync(fa, shared_a, lda);
    else
        wmma::load_matrix_sync(fa, generic(const_cast<T *>(a), shared_a, where), lda);
    wmma::load_matrix_sync(fb, generic(const_cast<T *>(b), shared_b, where >> 1), ldb);
    wmma::load_matrix_sync(fd, generic(d, shared_d, where), ldd, layout);
    wmma::mma_sync(fd, fa, fb, fd);
    __syncwarp();
    wmma::store_matrix_sync(generic(d, shared_d, where), fd, ldd, layout);
    __syncwarp();
    for (int i = threadIdx.x; i < MOST && where & 1; i += 32)
        d[i] = shared_d[i];
}

static Random seeded(5);

template <int M, int N, int K, typename T, typename S, typename A, typename B>
static bool is_right(bool a_by_column, bool b_by_column, bool by_column, int gap, int where)
{
    const int lda = (a_by_column ? M : K) + gap, ldb = (b_by_column ? K : N) + gap,
              ldd = (by_column ? M : N) + gap;
    std::vector<T> a(MOST), b(MOST);
    std::vector<S> d(MOST), want;
    for (int i = 0; i < MOST; i++) {
        a[i] = number<T>::of(seeded.below(10));
        b[i] = number<T>::of(seeded.below(10));
        d[i] = number<S>::of(seeded.below(10));
    }
    want = d;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const int at = by_column ? j * ldd + i : i * ldd + j;
            float sum = number<S>::value(d[at]);
            for (int p = 0; p < K; p++)
                sum += number<T>::value(a[a_by_column ? p * lda + i : i * lda + p]) *
                       number<T>::value(b[b_by_column ? j * ldb + p : p * ldb + j]);
            want[at] = number<S>::of((int)sum);
        }
    Device<T> da(a), db(b);
    Device<S> dd(d);
    multiply<M, N, K, T, S, A, B><<<1, 32>>>(da, db, dd, lda, ldb, ldd, by_column, where);
    LAUNCHED();
    return memcmp(dd.host().data(), want.data(), MOST * sizeof(S)) == 0;
}

static bool is_virtual()
{
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    return strstr(prop.name, "(virtual)") != NULL;
}

template <int M, int N, int K, typename T, typename S> static bool all_right()
{
    bool ok = true;
    const int step = is_virtual() ? 5 : GAP;
    for (int gap = 0; gap <= GAP; gap += step)
        for (int where = 0; where < 4; where++)
            for (int by_column = 0; by_column < 2; by_column++) {
                ok &= is_right<M, N, K, T, S, wmma::row_major, wmma::row_major>(
                    false, false, by_column, gap, where);
                ok &= is_right<M, N, K, T, S, wmma::col_major, wmma::col_major>(
                    true, true, by_column, gap, where);
                ok &= is_right<M, N, K, T, S, wmma::row_major, wmma::col_major>(
                    false, true, by_column, gap, where);
            }
    return ok;
}

int main()
{
    bool ok = all_right<16, 16, 16, __half, float>() & all_right<32, 8, 16, __half, float>() &
              all_right<8, 32, 16, __half, float>() & all_right<16, 16, 16, signed char, int>() &
              all_right<32, 8, 16, unsigned char, int>() &
              all_right<8, 32, 16, signed char, int>() & all_right<16, 16, 16, __half, __half>() &
              all_right<8, 8, 4, double, double>();
    return verdict("wmma_layouts", ok, std::vector<float>(1));
}
