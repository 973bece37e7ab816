// Arrays in local memory with indices known only at run time: a heap sort in every thread.
#include "vgpu/tests/check.cuh"

const int N = 24;

__global__ void work(const int *in, int *out)
{
    int a[N], t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < N; i++)
        a[i] = in[t * N + i];
    for (int start = N / 2 - 1, end = N - 1; end > 0;) {
        int root;
        if (start >= 0)
            root = start--;
        else {
            int swap = a[0];
            a[0] = a[end], a[end] = swap;
            end--, root = 0;
        }
        int last = start >= -1 && end == N - 1 ? N - 1 : end;
        while (2 * root + 1 <= last) {
            int child = 2 * root + 1;
            child += child + 1 <= last && a[child] < a[child + 1];
            if (a[root] >= a[child])
                break;
            int swap = a[root];
            a[root] = a[child], a[child] = swap;
            root = child;
        }
    }
    for (int i = 0; i < N; i++)
        out[t * N + i] = a[i];
}

int main()
{
    const int threads = 96;
    Random random(32);
    std::vector<int> in(threads * N);
    for (int &v : in)
        v = random.below(1000);
    Device<int> din(in), dout(in.size());
    work<<<3, 32>>>(din, dout);
    LAUNCHED();
    std::vector<int> out = dout.host();
    bool ok = true;
    for (int t = 0; t < threads; t++) {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum += in[t * N + i] - out[t * N + i];
            ok &= i == 0 || out[t * N + i - 1] <= out[t * N + i];
        }
        ok &= sum == 0;
    }
    return verdict("local_arrays", ok, out);
}
