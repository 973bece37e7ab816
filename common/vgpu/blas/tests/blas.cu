// Tests the virtual GPU's functions of libcublas against loops on the host. NVIDIA's library on an
// H200 passes all but one: it does not complete the factors of a singular matrix.
#include "vgpu/tests/check.cuh"

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <dlfcn.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

static cublasHandle_t handle;

template <class T> static std::vector<T> numbers(size_t n, int seed)
{
    Random random(seed);
    std::vector<T> to(n);
    for (T &x : to)
        x = (T)random.exact();
    return to;
}

template <class T> static bool same(const std::vector<T> &got, const std::vector<double> &want)
{
    for (size_t i = 0; i < want.size(); i++)
        if (std::fabs((double)got[i] - want[i]) > 1e-5 * (1 + std::fabs(want[i])))
            return false;
    return got.size() == want.size();
}

// The sizes are not multiples of a tile, and leading dimensions are padded.
enum { M = 67, N = 45, K = 33, LDA = 70, LDB = 71, LDC = 69, PRODUCTS = 3 };

// alpha op(A) op(B) + beta C of column-major matrices.
template <class T>
static std::vector<double> product(bool ta, bool tb, double alpha, const T *a, const T *b,
                                   double beta, const T *c)
{
    std::vector<double> to(c, c + LDC * N);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[ta ? k + i * LDA : i + k * LDA] *
                       (double)b[tb ? j + k * LDB : k + j * LDB];
            to[i + j * LDC] = alpha * sum + beta * (double)c[i + j * LDC];
        }
    return to;
}

static cublasStatus_t gemm(cublasOperation_t a, cublasOperation_t b, const float *alpha,
                           const float *pa, const float *pb, const float *beta, float *pc)
{
    return cublasSgemm(handle, a, b, M, N, K, alpha, pa, LDA, pb, LDB, beta, pc, LDC);
}

static cublasStatus_t gemm(cublasOperation_t a, cublasOperation_t b, const double *alpha,
                           const double *pa, const double *pb, const double *beta, double *pc)
{
    return cublasDgemm(handle, a, b, M, N, K, alpha, pa, LDA, pb, LDB, beta, pc, LDC);
}

template <class T> static void products()
{
    const std::vector<T> a = numbers<T>(LDA * M, 1), b = numbers<T>(LDB * N, 2),
                         c = numbers<T>(LDC * N, 3);
    Device<T> da(a), db(b);
    for (int way = 0; way < 8; way++) {
        const bool ta = way & 1, tb = way & 2;
        const T alpha = (T)0.5, beta = (T)(way & 4 ? 2 : 0);
        Device<T> dc(c);
        BLAS(gemm(ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, &alpha, da.p,
                  db.p, &beta, dc.p));
        EXPECT(same(dc.host(), product(ta, tb, alpha, a.data(), b.data(), beta, c.data())));
    }
}

// Several products in one call: with strides, and with lists of pointers on the device.
static void many_products()
{
    const std::vector<float> a = numbers<float>(PRODUCTS * LDA * K, 4),
                             b = numbers<float>(PRODUCTS * LDB * N, 5), c(PRODUCTS * LDC * N, 0);
    const float alpha = 1, beta = 0;
    Device<float> da(a), db(b), dc(c), dd(c);
    BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, da, LDA,
                                   LDA * K, db, LDB, LDB * N, &beta, dc, LDC, LDC * N, PRODUCTS));
    std::vector<const float *> lists[2];
    std::vector<float *> results;
    for (int i = 0; i < PRODUCTS; i++) {
        lists[0].push_back(da.p + i * LDA * K);
        lists[1].push_back(db.p + i * LDB * N);
        results.push_back(dd.p + i * LDC * N);
    }
    Device<const float *> la(lists[0]), lb(lists[1]);
    Device<float *> lc(results);
    BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, la, LDA, lb, LDB,
                            &beta, lc, LDC, PRODUCTS));
    const std::vector<float> got = dc.host();
    EXPECT(got == dd.host());
    for (int i = 0; i < PRODUCTS; i++)
        EXPECT(same(std::vector<float>(got.begin() + i * LDC * N, got.begin() + (i + 1) * LDC * N),
                    product(false, false, 1, &a[i * LDA * K], &b[i * LDB * N], 0, &c[0])));
}

static void half_products()
{
    const std::vector<float> a = numbers<float>(LDA * K, 6), b = numbers<float>(LDB * N, 7),
                             c(LDC * N, 0);
    std::vector<__half> ha(a.begin(), a.end()), hb(b.begin(), b.end());
    Device<__half> da(ha), db(hb);
    Device<float> dc(c);
    const float alpha = 1, beta = 0;
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, da, CUDA_R_16F, LDA, db,
                      CUDA_R_16F, LDB, &beta, dc, CUDA_R_32F, LDC, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    const std::vector<double> want = product(false, false, 1, a.data(), b.data(), 0, c.data());
    EXPECT(same(dc.host(), want));

    // results in half precision: one product, a batch that repeats it, and a list of it
    const __half one = 1.0f, zero = 0.0f;
    Device<__half> d1(LDC * N), d2(2 * LDC * N), d3(LDC * N);
    Device<const __half *> la(std::vector<const __half *>{da.p}),
        lb(std::vector<const __half *>{db.p});
    Device<__half *> lc(std::vector<__half *>{d3.p});
    BLAS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, da, LDA, db, LDB, &zero, d1,
                     LDC));
    BLAS(cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, da, LDA, 0, db,
                                   LDB, 0, &zero, d2, LDC, LDC * N, 2));
    BLAS(cublasHgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, la, LDA, lb, LDB,
                            &zero, lc, LDC, 1));
    const std::vector<__half> h1 = d1.host(), h2 = d2.host(), h3 = d3.host();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            const int at = i + j * LDC;
            // NVIDIA's library may add in half precision
            for (const float x :
                 {__half2float(h1[at]), __half2float(h2[at + LDC * N]), __half2float(h3[at])})
                EXPECT(std::fabs(x - want[at]) <= 0.02 * (1 + std::fabs(want[at])));
        }
}

// alpha op(A) + beta op(B)
static void sums()
{
    const std::vector<float> a = numbers<float>(LDA * N, 14), b = numbers<float>(LDB * M, 15);
    Device<float> da(a), db(b), dc(LDC * N);
    const float alpha = 2, beta = -3, zero = 0;
    BLAS(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, &alpha, da, LDA, &beta, db, LDB, dc,
                     LDC));
    const std::vector<float> c = dc.host();
    BLAS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, &alpha, db, LDB, &zero, nullptr, M, dc,
                     LDC));
    const std::vector<float> turned = dc.host();
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            EXPECT(c[i + j * LDC] == 2 * a[i + j * LDA] - 3 * b[j + i * LDB] &&
                   turned[i + j * LDC] == 2 * b[j + i * LDB]);
}

// P A = L U for several matrices; the last is singular.
static void factors()
{
    enum { SIZE = 19, STEP = 21, COUNT = 3 };
    std::vector<double> a = numbers<double>(COUNT * STEP * SIZE, 16);
    for (int i = 0; i < SIZE; i++)
        a[2 * STEP * SIZE + 4 * STEP + i] = 0;
    Device<double> da(a);
    std::vector<double *> list;
    for (int i = 0; i < COUNT; i++)
        list.push_back(da.p + i * STEP * SIZE);
    Device<double *> matrices(list);
    Device<int> pivots(COUNT * SIZE), info(COUNT);
    BLAS(cublasDgetrfBatched(handle, SIZE, matrices, STEP, pivots, info, COUNT));
    const std::vector<double> lu = da.host();
    const std::vector<int> at = pivots.host();
    EXPECT(info.host() == (std::vector<int>{0, 0, 5}));
    for (int which = 0; which < COUNT; which++) {
        double *const m = &a[which * STEP * SIZE];
        const double *const f = &lu[which * STEP * SIZE];
        for (int k = 0; k < SIZE; k++)
            for (int j = 0; j < SIZE; j++)
                std::swap(m[k + j * STEP], m[at[which * SIZE + k] - 1 + j * STEP]);
        for (int j = 0; j < SIZE; j++)
            for (int i = 0; i < SIZE; i++) {
                double sum = 0;
                for (int k = 0; k <= i && k <= j; k++)
                    sum += (k == i ? 1 : f[i + k * STEP]) * f[k + j * STEP];
                EXPECT(close(sum, m[i + j * STEP], 1e-9));
            }
    }
}

// Solutions with triangles on either side, stored in either half, transposed or not: multiplied out.
static void triangles()
{
    enum { M = 7, N = 5, LDA = 9, LDB = 8 };
    for (int form = 0; form < 16; form++) {
        const bool left = form & 1, lower = form & 2, transposed = form & 4, unit = form & 8;
        const int size = left ? M : N;
        const double alpha = 0.5;
        std::vector<double> a = numbers<double>(LDA * size, 20 + form);
        std::vector<double> b = numbers<double>(LDB * N, 40 + form);
        for (int i = 0; i < size; i++)
            a[i + i * LDA] = 3 + i;
        Device<double> da(a), db(b);
        BLAS(cublasDtrsm(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                         lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                         transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                         unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, M, N, &alpha, da, LDA, db,
                         LDB));
        const std::vector<double> x = db.host();
        auto op = [&](int i, int k) {
            const int row = transposed ? k : i, column = transposed ? i : k;
            return row == column             ? (unit ? 1 : a[row + row * LDA])
                   : (row > column) == lower ? a[row + column * LDA]
                                             : 0;
        };
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                double sum = 0;
                for (int k = 0; k < size; k++)
                    sum += left ? op(i, k) * x[k + j * LDB] : x[i + k * LDB] * op(k, j);
                EXPECT(close(sum, alpha * b[i + j * LDB], 1e-9));
            }
    }
}

// Vectors with strides, forward and backward.
static void vectors()
{
    enum { LENGTH = 1001 };
    std::vector<float> x = numbers<float>(2 * LENGTH, 8), y = numbers<float>(LENGTH, 9);
    x[2 * 777] = -5;
    Device<float> dx(x), dy(y);
    double dot = 0, squares = 0, sum = 0;
    std::vector<double> axpy(y.begin(), y.end());
    for (int i = 0; i < LENGTH; i++) {
        dot += (double)x[2 * i] * y[LENGTH - 1 - i];
        squares += (double)x[2 * i] * x[2 * i];
        sum += std::fabs(x[2 * i]);
        axpy[i] += 3.0 * x[2 * i];
    }
    float value;
    int at;
    BLAS(cublasSdot(handle, LENGTH, dx, 2, dy, -1, &value));
    EXPECT(close(value, dot, 1e-5));
    std::vector<__half> hx(x.begin(), x.end()), hy(y.begin(), y.end());
    Device<__half> dhx(hx), dhy(hy);
    __half half;
    BLAS(cublasDotEx(handle, LENGTH, dhx, CUDA_R_16F, 2, dhy, CUDA_R_16F, -1, &half, CUDA_R_16F,
                     CUDA_R_32F));
    EXPECT(close(__half2float(half), dot, 1e-2));
    BLAS(cublasSnrm2(handle, LENGTH, dx, 2, &value));
    EXPECT(close(value, std::sqrt(squares), 1e-5));
    BLAS(cublasSasum(handle, LENGTH, dx, 2, &value));
    EXPECT(close(value, sum, 1e-5));
    BLAS(cublasIsamax(handle, LENGTH, dx, 2, &at));
    EXPECT(at == 778);

    // a factor and a result on the device
    Device<float> factor(std::vector<float>{3}), result(1);
    Device<int> place(1);
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    BLAS(cublasSaxpy(handle, LENGTH, factor, dx, 2, dy, 1));
    BLAS(cublasSdot(handle, LENGTH, dy, 1, dy, 1, result));
    BLAS(cublasIsamax(handle, LENGTH, dx, 2, place));
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    EXPECT(same(dy.host(), axpy) && result.host()[0] > 0 && place.host()[0] == 778);

    const float two = 2;
    BLAS(cublasSscal(handle, LENGTH, &two, dy, 1));
    for (double &v : axpy)
        v *= 2;
    EXPECT(same(dy.host(), axpy));
    Device<float> dz(LENGTH);
    BLAS(cublasScopy(handle, LENGTH, dy, 1, dz, 1));
    EXPECT(same(dz.host(), axpy));
    BLAS(cublasSswap(handle, LENGTH, dx, 2, dz, 1));
    EXPECT(dz.host()[777] == -5);
}

static void matrix_and_vector()
{
    const std::vector<double> a = numbers<double>(LDA * N, 10), x = numbers<double>(M, 11),
                              y = numbers<double>(N, 12);
    Device<double> da(a), dx(x), dy(y), dz(M);
    std::vector<double> transposed(N), plain(M, 0), updated(a);
    for (int j = 0; j < N; j++) {
        transposed[j] = 2 * y[j];
        for (int i = 0; i < M; i++)
            transposed[j] += a[i + j * LDA] * x[i];
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            plain[i] += a[i + j * LDA] * transposed[j];
            updated[i + j * LDA] += x[i] * transposed[j];
        }
    const double one = 1, two = 2, zero = 0;
    BLAS(cublasDgemv(handle, CUBLAS_OP_T, M, N, &one, da, LDA, dx, 1, &two, dy, 1));
    EXPECT(same(dy.host(), transposed));
    BLAS(cublasDgemv(handle, CUBLAS_OP_N, M, N, &one, da, LDA, dy, 1, &zero, dz, 1));
    EXPECT(same(dz.host(), plain));
    BLAS(cublasDger(handle, M, N, &one, dx, 1, dy, 1, da, LDA));
    EXPECT(same(da.host(), updated));
}

static void copies()
{
    const std::vector<float> a = numbers<float>(M * N, 13);
    std::vector<float> back(M * N, 0);
    Device<float> da(LDA * N);
    BLAS(cublasSetMatrix(M, N, sizeof(float), a.data(), M, da, LDA));
    BLAS(cublasGetMatrix(M, N, sizeof(float), da, LDA, back.data(), M));
    EXPECT(a == back);
    BLAS(cublasSetVector(M, sizeof(float), a.data(), 2, da, 1));
    BLAS(cublasGetVector(M, sizeof(float), da, 1, back.data(), 3));
    EXPECT(back[3 * (M / 2)] == a[2 * (M / 2)]);
}

// Sums of many floats: a thread that added its share in float would exceed the tolerance.
static void long_sums()
{
    const int n = 1 << 22;
    const float tenth = 0.1f;
    Device<float> x(std::vector<float>(n, tenth));
    float value;
    BLAS(cublasSdot(handle, n, x, 1, x, 1, &value));
    EXPECT(close(value, (double)tenth * tenth * n, 2e-6));
    BLAS(cublasSnrm2(handle, n, x, 1, &value));
    EXPECT(close(value, tenth * sqrt((double)n), 1e-6));
    BLAS(cublasSasum(handle, n, x, 1, &value));
    EXPECT(close(value, (double)tenth * n, 2e-6));
}

// A program may make a handle of cuBLASLt and not use it.
static void light_handle()
{
    void *library = dlopen("libcublasLt.so.13", RTLD_NOW), *made = NULL;
    const auto create = (cublasStatus_t(*)(void **))dlsym(library, "cublasLtCreate");
    const auto destroy = (cublasStatus_t(*)(void *))dlsym(library, "cublasLtDestroy");
    EXPECT(create && destroy && create(NULL) == CUBLAS_STATUS_INVALID_VALUE);
    BLAS(create(&made));
    EXPECT(made);
    BLAS(destroy(made));
}

int main()
{
    light_handle();
    BLAS(cublasCreate(&handle));
    products<float>();
    products<double>();
    many_products();
    half_products();
    sums();
    factors();
    triangles();
    vectors();
    long_sums();
    matrix_and_vector();
    copies();
    const float one = 1;
    EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, nullptr, 2, nullptr, 4,
                       &one, nullptr, 4) == CUBLAS_STATUS_INVALID_VALUE);
    BLAS(cublasDestroy(handle));
    return verdict("blas", true);
}
