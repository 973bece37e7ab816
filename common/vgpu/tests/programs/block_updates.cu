// Arrays that are changed in place without races between blocks: elements of other threads are not written
// in the same launch, several blocks write equal values, or any of the values is right.
#include "vgpu/tests/check.cuh"

#include <algorithm>

const int N = 1024;
__device__ int done;

// Each thread has its own row: a tridiagonal system, solved in place.
__global__ void solve(double *below, double *middle, double *right, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    double *a = below + t * n, *b = middle + t * n, *d = right + t * n;
    for (int i = 1; i < n; i++) {
        const double w = a[i] / b[i - 1];
        b[i] -= w;
        d[i] -= w * d[i - 1];
    }
    d[n - 1] /= b[n - 1];
    for (int i = n - 2; i >= 0; i--)
        d[i] = (d[i] - d[i + 1]) / b[i];
}

__global__ void relax(float *x, int color)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + color;
    if (i > 0 && i < N - 1)
        x[i] = 0.5f * (x[i - 1] + x[i + 1]);
}

// The second half of the array is the result.
__global__ void smooth(float *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < N - 1)
        x[N + i] = (x[i - 1] + x[i + 1]) / 2;
}

__global__ void sort_pairs(int *a, int phase)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < N) {
        const int x = a[i], y = a[i + 1];
        a[i] = min(x, y);
        a[i + 1] = max(x, y);
    }
}

__global__ void visit(const int *next, int *level, int now, int *changed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[i] == now)
        for (int k = 0; k < 3; k++)
            if (level[next[3 * i + k]] < 0) {
                level[next[3 * i + k]] = now + 1;
                *changed = 1;
            }
    done = 1;
}

__global__ void finish(int *out)
{
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        *out = blockIdx.x;
    out[1] = gridDim.x;
}

// Any index of the key is a result; found[1] only has to be positive.
__global__ void search(const int *in, int key, int *found)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] == key)
        *found = i;
    const bool any = __syncthreads_or(in[i] == key);
    if (threadIdx.x == 0) {
        if (any)
            found[1] = i + 1;
    }
    for (int k = 0; k < 4; k++)
        if (in[(i + k) % N] == key) {
            if (threadIdx.x > 0)
                found[2] = i;
            break;
        }
}

int main()
{
    Random random(4);
    const int n = 16;
    Device<double> below(std::vector<double>(N * n, -1)), middle(std::vector<double>(N * n, 4)),
        right(std::vector<double>(N * n, 1));
    solve<<<8, N / 8>>>(below, middle, right, n);
    std::vector<float> h(2 * N, 1);
    Device<float> x(h);
    relax<<<8, 64>>>(x, 0);
    relax<<<8, 64>>>(x, 1);
    smooth<<<8, N / 8>>>(x);
    std::vector<int> keys(N), next(3 * N), level(N, -1);
    for (int &key : keys)
        key = random.below(1000);
    Device<int> d_keys(keys);
    for (int i = 0; i < N; i++)
        sort_pairs<<<8, N / 16>>>(d_keys, i & 1);
    for (int &to : next)
        to = random.below(N);
    level[0] = 0;
    Device<int> d_next(next), d_level(level), changed(std::vector<int>(1, 0)), out(2);
    for (int now = 0; now < 8; now++)
        visit<<<8, N / 8>>>(d_next, d_level, now, changed);
    finish<<<8, 32>>>(out);
    Device<int> zeros(std::vector<int>(N, 0)), found(std::vector<int>(3, 0));
    search<<<8, N / 8>>>(zeros, 0, found);
    LAUNCHED();
    EXPECT(found.host()[1] > 0);
    const std::vector<int> sorted = d_keys.host();
    EXPECT(std::is_sorted(sorted.begin(), sorted.end()));
    EXPECT(x.host()[N + 5] == 1 && out.host()[0] == 7 && changed.host()[0] == 1);
    return verdict("block_updates", true, sorted);
}
