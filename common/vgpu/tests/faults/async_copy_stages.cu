// nvcc: -arch=compute_80
// Copies to two tiles in turn, one of which is read while the other is filled; elements past the end are filled
// with zeros. Without a barrier the next copy overwrites a tile that another warp still reads; with a wait that
// is too short the tile is read before it is filled.
#include "vgpu/tests/faults.cuh"

const int THREADS = 64, STEPS = 4, N = THREADS * STEPS - 10;

__device__ void copy(float *to, const float *in, int i)
{
    const int bytes = i < N ? 4 : 0;
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    // clang-format off
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(in + (i < N ? i : 0)), "r"(bytes)); // expect: race_war
    // clang-format on
    asm volatile("cp.async.commit_group;");
}

template <bool BARRIER, int LEFT> __device__ float sums(const float *in)
{
    __shared__ float tile[2][THREADS];
    const int t = threadIdx.x;
    float sum = 0;
    copy(&tile[0][t], in, t);
    for (int step = 0; step < STEPS; step++) {
        if (step + 1 < STEPS)
            copy(&tile[(step + 1) % 2][t], in, (step + 1) * THREADS + t);
        if (step + 1 < STEPS)
            asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
        else
            asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        sum += tile[step % 2][THREADS - 1 - t]; // expect: race_raw
        if (BARRIER)
            __syncthreads();
    }
    return sum;
}

__global__ void right(const float *in, float *out)
{
    out[threadIdx.x] = sums<true, 1>(in);
}

__global__ void no_barrier(const float *in, float *out)
{
    out[threadIdx.x] = sums<false, 1>(in);
}

__global__ void short_wait(const float *in, float *out)
{
    out[threadIdx.x] = sums<true, 2>(in);
}

int main()
{
    std::vector<float> h(N);
    for (int i = 0; i < N; i++)
        h[i] = i;
    Device<float> in(h), out(THREADS);
    right<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int t = 0; t < THREADS; t++) {
        float sum = 0;
        for (int step = 0; step < STEPS; step++)
            sum += step * THREADS + THREADS - 1 - t < N ? step * THREADS + THREADS - 1 - t : 0;
        ok &= out.host()[t] == sum;
    }
    if (!ok)
        printf("wrong sums\n");
    no_barrier<<<1, THREADS>>>(in, out);
    short_wait<<<1, THREADS>>>(in, out);
    return done(cudaSuccess) || !ok;
}
