// Reads of elements that nothing wrote, which the program then ignores: past the end of lists that
// are merged, behind a condition, and the fourth element of a vector.
#include "vgpu/tests/check.cuh"

#include <algorithm>

const int THREADS = 64, N = 2 * THREADS;

struct Less {
    __device__ bool operator()(int a, int b) const
    {
        return a < b;
    }
};
struct LessSquare {
    __device__ bool operator()(double a, double b) const
    {
        return a * a < b * b;
    }
};

// Merges pairs of lists of one, two, four, ... elements in shared memory, one place per thread.
template <class T, class Order> __global__ void merge(const T *in, Order less, T *out)
{
    __shared__ T list[THREADS + 1];
    const int t = threadIdx.x;
    T mine = in[t];
    for (int size = 1; size < THREADS; size *= 2) {
        __syncthreads();
        list[t] = mine;
        __syncthreads();
        const int start = t / (2 * size) * 2 * size, a_end = start + size, b_end = a_end + size;
        int a = start, b = a_end;
        T first = list[a], second = list[b];
        for (int i = start; i <= t; i++) {
            const bool from_b = b < b_end && (a >= a_end || less(second, first));
            mine = from_b ? second : first;
            if (from_b)
                second = list[++b];
            else
                first = list[++a];
        }
    }
    out[t] = mine;
}

__global__ void choose(const int *in, int n, int *out)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int read = in[t];
    out[t] = t < n ? read * 3 : -1;
}

__global__ void fill(float4 *points)
{
    float *p = (float *)(points + threadIdx.x);
    p[0] = threadIdx.x, p[1] = 2, p[2] = 0.5f;
}

__global__ void measure(const float4 *points, float *out)
{
    const float4 p = points[threadIdx.x];
    out[threadIdx.x] = p.x + p.y * p.z;
}

int main()
{
    std::vector<int> in(THREADS);
    Random random(3);
    for (int &x : in)
        x = random.below(50);
    Device<int> d_in(in), d_sorted(THREADS), d_part(N), d_chosen(N);
    merge<int><<<1, THREADS>>>(d_in, Less(), d_sorted);
    LAUNCHED();
    std::vector<int> got = d_sorted.host();
    bool ok = std::is_sorted(got.begin(), got.end());

    Device<double> d_numbers(std::vector<double>(in.begin(), in.end())), d_by_square(THREADS);
    merge<double><<<1, THREADS>>>(d_numbers, LessSquare(), d_by_square);
    LAUNCHED();
    for (int i = 0; i < THREADS; i++)
        ok &= d_by_square.host()[i] == got[i];

    CHECK(cudaMemcpy(d_part, in.data(), THREADS * sizeof(int), cudaMemcpyHostToDevice));
    choose<<<2, THREADS>>>(d_part, THREADS, d_chosen);
    LAUNCHED();
    for (int i = 0; i < N; i++)
        ok &= d_chosen.host()[i] == (i < THREADS ? 3 * in[i] : -1);

    Device<float4> d_points(THREADS);
    Device<float> d_measured(THREADS);
    fill<<<1, THREADS>>>(d_points);
    measure<<<1, THREADS>>>(d_points, d_measured);
    LAUNCHED();
    for (int i = 0; i < THREADS; i++)
        ok &= d_measured.host()[i] == i + 1;
    return verdict("unset_ignored", ok, got);
}
