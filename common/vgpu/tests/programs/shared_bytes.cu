// Elements of shared memory smaller than a word that belong to different threads: bytes and halves
// of a word, of different lanes or warps, written and read between the same barriers.
#include "vgpu/tests/check.cuh"

const int N = 256;

// The index of thread t's element: the elements of a word belong to one warp or, if of_warps, to as
// many warps as it has elements.
template <class T> __device__ int place(int t, bool of_warps)
{
    const int per = 4 / (int)sizeof(T);
    return of_warps ? t % (N / per) * per + t / (N / per) : t;
}

template <class T> __global__ void own(T *out, bool of_warps)
{
    __shared__ T mine[N], sums[N];
    const int t = threadIdx.x, at = place<T>(t, of_warps);
    mine[at] = (T)t;
    sums[at] = 0;
    for (int i = 0; i < 5; i++) {
        sums[at] = (T)(sums[at] + mine[at]);
        mine[at] = (T)(mine[at] * 3 + 1);
    }
    out[t] = sums[at];
    __syncthreads();
    const uint32_t *words = (const uint32_t *)sums; // whole words, written by other threads
    if (t < (int)sizeof sums / 4 && words[t] == 0xdeadbeef)
        out[t] = 0;
}

template <class T> static bool runs(std::vector<unsigned> *all)
{
    bool ok = true;
    for (int of_warps = 0; of_warps < 2; of_warps++) {
        Device<T> d(N);
        own<T><<<1, N>>>(d, of_warps);
        LAUNCHED();
        const std::vector<T> got = d.host();
        for (int t = 0; t < N; t++) {
            T mine = (T)t, sum = 0;
            for (int i = 0; i < 5; i++) {
                sum = (T)(sum + mine);
                mine = (T)(mine * 3 + 1);
            }
            ok &= got[(size_t)t] == sum;
            all->push_back((unsigned)got[(size_t)t]);
        }
    }
    return ok;
}

int main()
{
    std::vector<unsigned> all;
    const bool ok = runs<uint8_t>(&all) && runs<uint16_t>(&all) && runs<int8_t>(&all);
    return verdict("shared_bytes", ok, all);
}
