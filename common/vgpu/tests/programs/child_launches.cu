// nvcc: -arch=compute_75 -rdc=true
// Launches from kernels and their order: a block's default stream, streams and events, the tail,
// fire and forget, copies and fills, grandchildren, dynamic shared memory, one lane of a warp.
#include "vgpu/tests/check.cuh"

struct Large {
    char tag;
    double scale;
    int values[20];
};

__global__ void append(int *log, int value)
{
    log[1 + log[0]] = value;
    log[0]++;
}

// The ordered launches: first the default stream, then the tail; a tail launch's own tail precedes
// the next tail launch.
__global__ void tail_again(int *log, int value)
{
    log[1 + log[0]] = value; // before the launch: later work is unordered
    log[0]++;
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, value + 2);
    append<<<1, 1>>>(log, value + 1);
}

__global__ void ordered(int *log)
{
    log[1] = 5;
    log[0] = 1;
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 50);
    tail_again<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 60);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 70);
    append<<<1, 1>>>(log, 10);
    tail_again<<<1, 1>>>(log, 20);
    append<<<1, 1>>>(log, 30);
}

__global__ void scale(Large large, double *out)
{
    if (threadIdx.x < 20)
        out[threadIdx.x] = large.tag == 's' ? large.scale * large.values[threadIdx.x] : -1;
}

__global__ void reverse(const int *from, int *to, int n)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

// Streams that wait for each other by an event; copies and fills between the kernels.
__global__ void mixed(int *a, int *b, int *c, double *out, int n, int pitch)
{
    if (threadIdx.x != 5)
        return;
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    reverse<<<1, n, n * sizeof(int), first>>>(a, b, n);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    cudaMemcpyAsync(c, b, n * sizeof(int), cudaMemcpyDeviceToDevice, second);
    cudaMemsetAsync(b, 0, n * sizeof(int), second);
    // zeros, because an H100 with CUDA 13.0 fills with zeros whatever the value is
    cudaMemset2DAsync(c, pitch * sizeof(int), 0, 2 * sizeof(int), n / pitch, second);
    cudaMemcpy2DAsync(b + 8, pitch * sizeof(int), c, pitch * sizeof(int), 4 * sizeof(int), 3,
                      cudaMemcpyDeviceToDevice, second);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    Large large = {'s', 0.5, {}};
    for (int i = 0; i < 20; i++)
        large.values[i] = i * i;
    scale<<<1, 32>>>(large, out);
}

// Lanes launch separately, with different numbers of threads, over three generations.
__global__ void family(int *sum, int weight, int generation)
{
    atomicAdd(sum, weight);
    if (generation < 3 && threadIdx.x % 3 == blockIdx.x % 3)
        family<<<2, threadIdx.x + 1, 0, threadIdx.x % 2 ? cudaStreamFireAndForget : 0>>>(
            sum, weight * 10 + (int)threadIdx.x, generation + 1);
}

static int family_sum(int blocks, int threads, int weight, int generation)
{
    int sum = 0;
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < threads; t++) {
            sum += weight;
            if (generation < 3 && t % 3 == b % 3)
                sum += family_sum(2, t + 1, weight * 10 + t, generation + 1);
        }
    return sum;
}

__global__ void launch_large(int *p, int bytes)
{
    reverse<<<1, 64, bytes>>>(p, p + 64, 64);
    p[128] = cudaGetLastError();
}

int main()
{
    std::vector<int> all, zeros(64, 0);
    Device<int> log(zeros);
    ordered<<<1, 1>>>(log);
    LAUNCHED();
    const std::vector<int> want = {11, 5, 10, 20, 21, 22, 30, 50, 60, 61, 62, 70};
    std::vector<int> got = log.host();
    EXPECT(std::vector<int>(got.begin(), got.begin() + 12) == want);
    all = got;

    const int n = 64, pitch = 16;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; i++)
        numbers[i] = 100 + i;
    Device<int> a(numbers), b(zeros), c(zeros);
    Device<double> out(20);
    mixed<<<1, 32>>>(a, b, c, out, n, pitch);
    LAUNCHED();
    std::vector<int> x = b.host(), y = c.host();
    std::vector<double> z = out.host();
    for (int i = 0; i < n; i++) {
        int copied = i % pitch < 2 ? 0 : 163 - i, from = i - 8;
        EXPECT(y[i] == copied);
        bool in = from >= 0 && from % pitch < 4 && from / pitch < 3;
        EXPECT(x[i] == (in ? y[from] : 0));
    }
    for (int i = 0; i < 20; i++)
        EXPECT(z[i] == 0.5 * i * i);
    all.insert(all.end(), x.begin(), x.end());
    all.insert(all.end(), y.begin(), y.end());

    Device<int> sum(1);
    sum.zero();
    family<<<3, 5>>>(sum, 1, 0);
    LAUNCHED();
    EXPECT(sum.host()[0] == family_sum(3, 5, 1, 0));
    all.push_back(sum.host()[0]);

    // More shared memory than a block's default limit works only after the kernel's attribute
    // allows it.
    std::vector<int> large(200, 0);
    for (int i = 0; i < 64; i++)
        large[i] = i;
    Device<int> l(large);
    launch_large<<<1, 1>>>(l, 60000);
    LAUNCHED();
    EXPECT(l.host()[64] == 0 && l.host()[128] != cudaSuccess);
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    launch_large<<<1, 1>>>(l, 60000);
    LAUNCHED();
    EXPECT(l.host()[64] == 63 && l.host()[127] == 0 && l.host()[128] == cudaSuccess);
    return verdict("child_launches", true, all);
}
