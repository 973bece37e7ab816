// nvcc: -std=c++17 -arch=sm_80
// Thrust: device vectors, sort, scan, reduce, transform, unique; these use CUB's device-wide
// primitives.
#include "vgpu/tests/check.cuh"

#include <cub/device/device_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>

#include <algorithm>

struct Square {
    __host__ __device__ int operator()(int x) const
    {
        return x * x;
    }
};

// Tuples that sorting copies with their padding, which nothing writes.
static bool sorts_tuples()
{
    const int n = 700;
    thrust::device_vector<float> keys(n);
    thrust::device_vector<short> values(n);
    std::vector<float> h(n);
    for (int i = 0; i < n; i++)
        h[i] = (float)(i * 397 % n);
    thrust::copy(h.begin(), h.end(), keys.begin());
    thrust::sequence(values.begin(), values.end());
    auto first = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
    thrust::stable_sort(first, first + n);
    std::vector<short> order(n);
    thrust::copy(values.begin(), values.end(), order.begin());
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= order[i] * 397 % n == i;
    return ok;
}

struct Entry {
    double key;
    short value;
    __host__ __device__ bool operator<(const Entry &other) const
    {
        return key < other.key;
    }
};
struct Multiples {
    int step;
    __device__ Entry operator()(int i) const
    {
        Entry entry;
        entry.key = step * i;
        entry.value = (short)i;
        return entry;
    }
};

// Thrust reads the element after the last one, here in a part of global memory.
static bool intersects()
{
    const int n = 3000;
    thrust::device_vector<Entry> ones(n), threes(n), both(n);
    thrust::tabulate(ones.begin(), ones.end(), Multiples{1});
    thrust::tabulate(threes.begin(), threes.end(), Multiples{3});
    auto end = thrust::set_intersection(ones.begin(), ones.end(), threes.begin(),
                                        threes.begin() + n / 3, both.begin());
    return end - both.begin() == n / 3;
}

int main()
{
    const int n = 3001;
    Random random(8);
    std::vector<int> in(n);
    for (int &v : in)
        v = (int)(random.bits() >> 8) - (1 << 23);
    thrust::device_vector<int> d(in.begin(), in.end());
    thrust::sort(d.begin(), d.end());
    std::vector<int> got(n), want = in;
    thrust::copy(d.begin(), d.end(), got.begin());
    std::sort(want.begin(), want.end());
    bool ok = got == want;
    thrust::device_vector<int> s(n);
    thrust::sequence(s.begin(), s.end());
    ok &= thrust::transform_reduce(s.begin(), s.end(), Square(), 0, thrust::plus<int>()) ==
          (int)((int64_t)(n - 1) * n * (2 * n - 1) / 6);
    thrust::inclusive_scan(s.begin(), s.end(), s.begin());
    ok &= s[n - 1] == n * (n - 1) / 2;
    Device<int> largest(1);
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Max(nullptr, bytes, thrust::raw_pointer_cast(d.data()), largest.p, n));
    Device<char> scratch(bytes);
    CHECK(
        cub::DeviceReduce::Max(scratch.p, bytes, thrust::raw_pointer_cast(d.data()), largest.p, n));
    ok &= largest.host()[0] == want.back() && sorts_tuples() && intersects();
    return verdict("thrust_algorithms", ok, got);
}
