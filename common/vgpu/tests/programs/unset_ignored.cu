// Reads of elements that nothing wrote, which the program then ignores: past the end of lists that
// are merged, behind a condition, the fourth element of a vector, in a loop that is not entered, the
// element after the last one, numbers computed from them that no thread adds, the rest of an array in
// local memory, the other bits of a word with bit fields, and the old values of exchanges.
#include "vgpu/tests/check.cuh"

#include <algorithm>

#ifndef NAME
#define NAME "unset_ignored"
#endif

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

// Loads before it knows that it does not need the value.
__global__ void repeat(const float *in, const int *times, float *out)
{
    const float x = __ldcg(in + threadIdx.x), root = sqrtf(x) + 1;
    float sum = 0;
    for (int i = 0; i < times[threadIdx.x]; i++)
        sum += root / (i + 1);
    out[threadIdx.x] = sum;
}

// Loads the next element while it adds the current one.
__global__ void ahead(const float *in, int n, float *out)
{
    float sum = 0, next = __ldcg(in);
    for (int i = 0; i < n; i++) {
        const float x = next;
        next = __ldcg(in + i + 1) * 0.5f;
        sum += x;
    }
    out[threadIdx.x] = sum;
}

// Each thread scales an element, also after the last one. The first n are added.
__global__ void scale_and_add(const float *in, int n, float *out)
{
    __shared__ float scaled[N];
    scaled[threadIdx.x] = in[threadIdx.x] * 2 + 1;
    __syncthreads();
    float largest = 0;
    for (int i = 0; i < N; i++) {
        const float x = scaled[(threadIdx.x + i) % N];
        const bool known = (threadIdx.x + i) % N < n;
        largest = known && x > largest ? x : largest;
    }
    out[threadIdx.x] = largest;
}

struct Entry {
    char kind; // 3 bytes of padding follow
    int value;
};

// Looks at the element behind the top of a stack before it knows that there is none.
__global__ void pop_all(const int *in, int n, int *out)
{
    Entry stack[16], top = {};
    int size = 0, sum = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > 10)
            stack[size++] = {'a', in[i]};
    for (int i = 0; i < 16; i++) {
        const Entry next = stack[i];
        const bool taken = i < size && next.kind == 'a';
        sum += taken ? next.value : 0;
        top = i < size ? next : top;
    }
    out[threadIdx.x] = sum * 100 + top.value;
}

struct Fields {
    unsigned low : 5, middle : 11, high : 16;
};

__global__ void set_fields(Fields *fields)
{
    Fields *f = fields + threadIdx.x, own[2];
    f->middle = threadIdx.x, f->low = 3, f->high = threadIdx.x / 2;
    own[threadIdx.x & 1].high = 5, own[threadIdx.x & 1].low = 4;
    f->low += own[threadIdx.x & 1].low;
}

__global__ void add_fields(const Fields *fields, int *out)
{
    const Fields f = fields[threadIdx.x];
    out[threadIdx.x] = f.low + f.middle + f.high;
}

// Stores by exchanges, whose old values nothing reads.
__global__ void exchange(int *out, unsigned long long *pairs)
{
    __shared__ int turned[THREADS];
    const int t = threadIdx.x;
    atomicExch(&turned[THREADS - 1 - t], 3 * t);
    atomicExch(pairs + t, 5ull << 32);
    __syncthreads();
    atomicExch(out + t, turned[t]);
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

    Device<float> d_some(N + 1), d_sums(N);
    std::vector<int> times(N);
    std::vector<float> some(THREADS, 4);
    for (int i = 0; i < THREADS; i++)
        times[i] = 1;
    Device<int> d_times(times);
    CHECK(cudaMemcpy(d_some, some.data(), THREADS * sizeof(float), cudaMemcpyHostToDevice));
    repeat<<<1, N>>>(d_some, d_times, d_sums);
    LAUNCHED();
    for (int i = 0; i < N; i++)
        ok &= d_sums.host()[i] == (i < THREADS ? 3 : 0);
    ahead<<<1, N>>>(d_some, THREADS, d_sums);
    LAUNCHED();
    ok &= d_sums.host()[N - 1] == 4 + (THREADS - 1) * 2;
    scale_and_add<<<1, N>>>(d_some, THREADS, d_sums);
    LAUNCHED();
    for (int i = 0; i < N; i++)
        ok &= d_sums.host()[i] == 9;
    pop_all<<<1, THREADS>>>(d_in, 12, d_sorted);
    LAUNCHED();
    int sum = 0, top = 0;
    for (int i = 0; i < 12; i++)
        if (in[i] > 10)
            sum += in[i], top = in[i];
    ok &= d_sorted.host()[THREADS - 1] == sum * 100 + top;

    Device<Fields> d_fields(THREADS);
    set_fields<<<1, THREADS>>>(d_fields);
    add_fields<<<1, THREADS>>>(d_fields, d_sorted);
    LAUNCHED();
    for (int i = 0; i < THREADS; i++)
        ok &= d_sorted.host()[i] == 7 + i + i / 2;

#ifndef DEBUG // with -G, the old values are copied to variables
    Device<int> d_turned(THREADS);
    Device<unsigned long long> d_pairs(THREADS);
    exchange<<<1, THREADS>>>(d_turned, d_pairs);
    LAUNCHED();
    for (int i = 0; i < THREADS; i++)
        ok &= d_turned.host()[i] == 3 * (THREADS - 1 - i) && d_pairs.host()[i] == 5ull << 32;
#endif
    return verdict(NAME, ok, got);
}
