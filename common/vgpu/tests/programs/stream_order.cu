// The ways to order the work of two streams that do not wait for each other by themselves: none is a race.
#include "vgpu/tests/check.cuh"

#include <atomic>
#include <thread>

enum { N = 4096, BYTES = N * sizeof(float), BLOCK = 256 };

__global__ void scale(const float *in, float *out, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * by;
}

__global__ void signal(volatile int *flag)
{
    *flag = 1;
}

__global__ void take(const volatile int *box, int *out)
{
    *out = *box;
}

static float *numbers, *results, *a, *b;
static volatile int *flag;
static std::atomic<int> told;
static float factor = 1;

static void CUDART_CB tell(void *)
{
    told = 1;
}

static void expect_results()
{
    for (int i = 0; i < N; i++)
        EXPECT(results[i] == factor * numbers[i]);
    factor++;
}

// order(X, Y): later work of Y waits for the work of X.
template <typename Order> static void run(cudaStream_t copies, cudaStream_t kernels, Order order)
{
    CHECK(cudaMemcpyAsync(a, numbers, BYTES, cudaMemcpyHostToDevice, copies));
    order(copies, kernels);
    scale<<<N / BLOCK, BLOCK, 0, kernels>>>(a, b, N, factor);
    order(kernels, copies);
    CHECK(cudaMemcpyAsync(results, b, BYTES, cudaMemcpyDeviceToHost, copies));
    CHECK(cudaStreamSynchronize(copies));
    expect_results();
}

static void run_halves(cudaStream_t s, cudaStream_t t)
{
    CHECK(cudaMemsetAsync(a, 0, BYTES / 2, s));
    CHECK(cudaMemsetAsync(a + N / 2, 0, BYTES / 2, t));
    for (int half = 0; half < 2; half++) {
        const cudaStream_t of = half ? t : s;
        const int at = half * N / 2;
        CHECK(cudaMemcpyAsync(a + at, numbers + at, BYTES / 2, cudaMemcpyHostToDevice, of));
        scale<<<N / 2 / BLOCK, BLOCK, 0, of>>>(a + at, b + at, N / 2, factor);
        CHECK(cudaMemcpyAsync(results + at, b + at, BYTES / 2, cudaMemcpyDeviceToHost, of));
    }
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamSynchronize(t));
    expect_results();
}

static void run_buffers(cudaStream_t copies, cudaStream_t kernels)
{
    float *buffer[2];
    cudaEvent_t full[2], empty[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMalloc(&buffer[i], BYTES));
        CHECK(cudaEventCreate(&full[i]));
        CHECK(cudaEventCreate(&empty[i]));
    }
    for (int k = 0; k < 100; k++) {
        const int i = k & 1;
        if (k > 1)
            CHECK(cudaStreamWaitEvent(copies, empty[i], 0));
        CHECK(cudaMemcpyAsync(buffer[i], numbers, BYTES, cudaMemcpyHostToDevice, copies));
        CHECK(cudaEventRecord(full[i], copies));
        CHECK(cudaStreamWaitEvent(kernels, full[i], 0));
        scale<<<N / BLOCK, BLOCK, 0, kernels>>>(buffer[i], b, N, factor);
        CHECK(cudaEventRecord(empty[i], kernels));
    }
    CHECK(cudaMemcpyAsync(results, b, BYTES, cudaMemcpyDeviceToHost, kernels));
    CHECK(cudaStreamSynchronize(kernels));
    expect_results();
}

static void run_graph(cudaStream_t s, cudaStream_t t)
{
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(a, numbers, BYTES, cudaMemcpyHostToDevice, s));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    scale<<<N / 2 / BLOCK, BLOCK, 0, t>>>(a, b, N / 2, factor);
    scale<<<N / 2 / BLOCK, BLOCK, 0, s>>>(a + N / 2, b + N / 2, N / 2, factor);
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join, 0));
    CHECK(cudaMemcpyAsync(results, b, BYTES, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 3; k++)
        CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    expect_results();
}

static void run_pool(const cudaStream_t *streams)
{
    for (int k = 0; k < 8; k++) {
        const cudaStream_t s = streams[k & 1];
        float *in, *out;
        CHECK(cudaMallocAsync(&in, BYTES, s));
        CHECK(cudaMallocAsync(&out, BYTES, s));
        CHECK(cudaMemcpyAsync(in, numbers, BYTES, cudaMemcpyHostToDevice, s));
        scale<<<N / BLOCK, BLOCK, 0, s>>>(in, out, N, factor);
        CHECK(cudaFreeAsync(in, s));
        CHECK(cudaMemcpyAsync(results, out, BYTES, cudaMemcpyDeviceToHost, s));
        CHECK(cudaFreeAsync(out, s));
    }
    CHECK(cudaDeviceSynchronize());
    expect_results();
}

int main()
{
    cudaStream_t s, t, blocking, other;
    cudaEvent_t event;
    int *box, *taken, *word;
    CHECK(cudaMallocHost(&numbers, BYTES));
    CHECK(cudaMallocHost(&results, BYTES));
    CHECK(cudaMallocHost(&word, sizeof *word));
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK(cudaMalloc(&a, BYTES));
    CHECK(cudaMalloc(&b, BYTES));
    CHECK(cudaMalloc(&box, sizeof *box));
    CHECK(cudaMalloc(&taken, sizeof *taken));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaEventCreate(&event));
    for (int i = 0; i < N; i++)
        numbers[i] = i;

    run(s, t, [&](cudaStream_t x, cudaStream_t y) {
        CHECK(cudaEventRecord(event, x));
        CHECK(cudaStreamWaitEvent(y, event, 0));
    });
    run(s, t, [&](cudaStream_t x, cudaStream_t y) { /* by way of a third stream */
                                                    CHECK(cudaEventRecord(event, x));
                                                    CHECK(cudaStreamWaitEvent(other, event, 0));
                                                    CHECK(cudaEventRecord(event, other));
                                                    CHECK(cudaStreamWaitEvent(y, event, 0));
    });
    run(s, t, [&](cudaStream_t x, cudaStream_t) { CHECK(cudaStreamSynchronize(x)); });
    run(s, t, [&](cudaStream_t, cudaStream_t) { CHECK(cudaDeviceSynchronize()); });
    run(s, t, [&](cudaStream_t x, cudaStream_t) {
        CHECK(cudaEventRecord(event, x));
        CHECK(cudaEventSynchronize(event));
    });
    run(s, t, [&](cudaStream_t x, cudaStream_t) {
        CHECK(cudaEventRecord(event, x));
        while (cudaEventQuery(event) == cudaErrorNotReady)
            continue;
    });
    run(s, t, [&](cudaStream_t x, cudaStream_t) {
        while (cudaStreamQuery(x) == cudaErrorNotReady)
            continue;
    });
    /* The legacy default stream waits for blocking streams, and they wait for it. */
    run(blocking, 0, [&](cudaStream_t, cudaStream_t) {});
    run(0, blocking, [&](cudaStream_t, cudaStream_t) {});
    run(blocking, other, [&](cudaStream_t, cudaStream_t) { signal<<<1, 1>>>(taken); });
    /* The host sees in its own memory that a stream has come this far. */
    run(s, t, [&](cudaStream_t x, cudaStream_t) {
        *flag = 0;
        signal<<<1, 1, 0, x>>>(flag);
        while (!*flag)
            continue;
    });
    run_halves(s, t);
    run_buffers(s, t);
    run_graph(s, t);
    const cudaStream_t streams[] = {s, t};
    run_pool(streams);

    /* Accesses that synchronise do not race. */
    *word = 42;
    CHECK(cudaMemsetAsync(box, 0, sizeof *box, t));
    CHECK(cudaMemcpyAsync(box, word, sizeof *word, cudaMemcpyHostToDevice, t));
    take<<<1, 1, 0, s>>>(box, taken);
    CHECK(cudaDeviceSynchronize());

    /* Host functions and threads. */
    run(s, t, [&](cudaStream_t x, cudaStream_t) {
        told = 0;
        CHECK(cudaLaunchHostFunc(x, tell, nullptr));
        while (!told)
            continue;
    });
    std::thread thread([&] {
        CHECK(cudaMemcpyAsync(a, numbers, BYTES, cudaMemcpyHostToDevice, s));
        CHECK(cudaStreamSynchronize(s));
    });
    thread.join();
    run(t, t, [&](cudaStream_t, cudaStream_t) {});
    return verdict("stream_order", true);
}
