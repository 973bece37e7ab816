// Values that nothing wrote are first copied, and then used: from a workspace and from an incomplete
// array through shared memory, through a local array, through a structure in global memory, and
// copied to the result.
#include "vgpu/tests/faults.cuh"

const int N = 64;

struct Item {
    float value;
    short rank; // 2 bytes of padding follow
};

__global__ void sum_tiles(const float *in, float *out)
{
    __shared__ float tile[N];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < N; i++)
        sum += tile[i]; // expect: uninitialised
    out[threadIdx.x] = sum;
}

__global__ void sum_local(const float *in, const int *order, float *out)
{
    float own[4];
    for (int i = 0; i < 4; i++)
        own[i] = in[4 * threadIdx.x + i];
    out[threadIdx.x] = own[order[0]] + own[order[1]]; // expect: uninitialised
}

__global__ void rank(Item *items)
{
    items[threadIdx.x].rank = threadIdx.x;
}

__global__ void copy(const Item *from, Item *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void sum_items(const Item *items, float *out)
{
    out[threadIdx.x] = items[threadIdx.x].value + items[threadIdx.x].rank; // expect: uninitialised
}

__global__ void copy_result(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // expect: uninitialised
}

__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[8][9];
    const int x = threadIdx.x % 8, y = threadIdx.x / 8;
    tile[y][x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[x][y]; // expect: uninitialised
}

int main()
{
    const std::vector<float> h(N, 1.0f);
    Device<float> part(N), empty(N), out(N);
    Device<int> order(std::vector<int>{1, 3});
    Device<Item> items(N), copies(N);
    CHECK(cudaMemcpy(part, h.data(), (N - 1) * sizeof(float), cudaMemcpyHostToDevice));
    out.zero();
    sum_tiles<<<1, N>>>(part, out);
    sum_local<<<1, N / 4>>>(part, order, out);
    rank<<<1, N>>>(items);
    copy<<<1, N>>>(items, copies);
    sum_items<<<1, N>>>(copies, out);
    copy_result<<<1, N>>>(empty, out);
    transpose<<<1, N>>>(empty, out);
    return done(cudaSuccess);
}
