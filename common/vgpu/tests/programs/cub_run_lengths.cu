// nvcc: -std=c++17
// Runs of equal values that are longer than 1. CUB's kernel reads shared memory that it did not write.
#include "vgpu/tests/check.cuh"

#include <cub/device/device_run_length_encode.cuh>

int main()
{
    const int n = 4000;
    Random random(8);
    std::vector<int> in(n);
    for (int i = 0; i < n; i++)
        in[i] = i && random.below(4) ? in[i - 1] : random.below(5);
    Device<int> d(in), starts(n), lengths(n), count(1);
    size_t bytes = 0;
    CHECK(cub::DeviceRunLengthEncode::NonTrivialRuns(nullptr, bytes, d.p, starts.p, lengths.p,
                                                     count.p, n));
    Device<char> scratch(bytes);
    CHECK(cub::DeviceRunLengthEncode::NonTrivialRuns(scratch.p, bytes, d.p, starts.p, lengths.p,
                                                     count.p, n));
    std::vector<int> at = starts.host(), length = lengths.host(), want_at, want_length;
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && in[end] == in[i]; end++)
            ;
        if (end > i + 1)
            want_at.push_back(i), want_length.push_back(end - i);
    }
    const size_t runs = (size_t)count.host()[0];
    at.resize(runs), length.resize(runs);
    return verdict("cub_run_lengths", at == want_at && length == want_length, at);
}
