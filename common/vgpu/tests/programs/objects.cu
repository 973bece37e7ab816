// nvcc: -std=c++17 -arch=compute_75 --extended-lambda
// C++ on the device: virtual functions, new and delete, templates with dynamic shared memory,
// lambdas, structured bindings, constant structures, std::array and tuples of libcu++.
#include "vgpu/tests/check.cuh"

#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>

struct Shape {
    __device__ virtual ~Shape()
    {
    }
    __device__ virtual float area() const = 0;
};

struct Square : Shape {
    float a;
    __device__ explicit Square(float a_) : a(a_)
    {
    }
    __device__ float area() const override
    {
        return a * a;
    }
};

struct Box : Shape {
    float *sides; // on the device's heap
    __device__ Box(float a, float b) : sides(new float[2]{a, b})
    {
    }
    __device__ ~Box() override
    {
        delete[] sides;
    }
    __device__ float area() const override
    {
        return sides[0] * sides[1];
    }
};

__global__ void make(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        shapes[i] = i % 3 ? (Shape *)new Square((float)i) : (Shape *)new Box((float)i, 0.5f);
}

__global__ void use(Shape *const *shapes, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = shapes[i]->area();
}

__global__ void end(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delete shapes[i];
}

struct Settings {
    int rows;
    float weights[3];
    double bias;
};
__constant__ Settings settings;

template <class T, int STEP> __global__ void reversed(T *out)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const int i = threadIdx.x;
    s[i] = (T)(settings.weights[i % settings.rows] + (T)settings.bias * i);
    __syncthreads();
    out[i] = s[(blockDim.x - 1 - i) / STEP * STEP];
}

template <class F> __global__ void apply(F f, float *out, int n)
{
    if (int i = threadIdx.x; i < n)
        out[i] = f(i);
}

__device__ cuda::std::tuple<int, float> split(float x)
{
    return {(int)x, x - (int)x};
}

__global__ void library(float *out)
{
    const int i = threadIdx.x;
    cuda::std::array<float, 4> a = {1, 2, 3, (float)i};
    auto [whole, rest] = split(i * 0.25f);
    cuda::std::complex<float> z(1, (float)i);
    z = z * z;
    if constexpr (sizeof(long) == 8)
        out[i] = a[i % 4] + whole + rest + z.real() + z.imag();
}

int main()
{
    const int n = 50;
    std::vector<float> all;
    bool ok = true;
    Device<Shape *> shapes(n);
    Device<float> out(64);
    make<<<2, 32>>>(shapes, n);
    use<<<2, 32>>>(shapes, out, n);
    end<<<2, 32>>>(shapes, n);
    LAUNCHED();
    std::vector<float> got = out.host();
    for (int i = 0; i < n; i++)
        ok &= got[i] == (i % 3 ? (float)i * i : i * 0.5f);
    all.insert(all.end(), got.begin(), got.begin() + n);

    const Settings s = {3, {1, 2, 4}, 0.25};
    CHECK(cudaMemcpyToSymbol(settings, &s, sizeof s));
    Device<double> wide(32);
    reversed<float, 1><<<1, 64, 64 * sizeof(float)>>>(out);
    reversed<double, 2><<<1, 32, 32 * sizeof(double)>>>(wide);
    LAUNCHED();
    got = out.host();
    std::vector<double> doubles = wide.host();
    for (int i = 0; i < 64; i++)
        ok &= got[i] == s.weights[(63 - i) % 3] + 0.25f * (63 - i);
    for (int i = 0; i < 32; i++)
        ok &= doubles[i] == s.weights[(31 - i) / 2 * 2 % 3] + 0.25 * ((31 - i) / 2 * 2);
    all.insert(all.end(), got.begin(), got.end());

    float offset = 1.5f;
    apply<<<1, 64>>>([offset] __device__(int i) { return i + offset; }, out, 64);
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 64; i++)
        ok &= got[i] == i + 1.5f;
    library<<<1, 64>>>(out);
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 64; i++) {
        const float a[4] = {1, 2, 3, (float)i};
        ok &= got[i] == a[i % 4] + i * 0.25f + (1 - (float)i * i) + 2 * (float)i;
    }
    all.insert(all.end(), got.begin(), got.end());
    return verdict("objects", ok, all);
}
