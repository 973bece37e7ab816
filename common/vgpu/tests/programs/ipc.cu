// Processes that share the memory and events of the first one: each adds to one array, and the
// first sees all sums.
#include "vgpu/tests/check.cuh"
#include "vgpu/tests/spawn.cuh"

const int N = 5000, OTHERS = 3;

struct Sent {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void add(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

static int other(int value)
{
    Sent sent;
    receive(&sent, sizeof sent);
    int *p, *again;
    cudaEvent_t event;
    Device<int> own(7); // addresses need not be those of the first process
    CHECK(cudaIpcOpenMemHandle((void **)&p, sent.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&event, sent.event));
    CHECK(cudaIpcOpenMemHandle((void **)&again, sent.memory, cudaIpcMemLazyEnablePeerAccess));
    EXPECT(p == again);
    CHECK(cudaIpcCloseMemHandle(again));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    add<<<(N + 255) / 256, 256>>>(p, N, value);
    CHECK(cudaEventRecord(event, 0));
    LAUNCHED();
    EXPECT(cudaEventQuery(event) == cudaSuccess);
    EXPECT(cudaFree(p) != cudaSuccess); // the memory is not this process's
    cudaGetLastError();
    CHECK(cudaIpcCloseMemHandle(p));
    EXPECT(cudaIpcCloseMemHandle(p) != cudaSuccess);
    CHECK(cudaEventDestroy(event));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return other(atoi(argv[1]));
    std::vector<int> numbers(N);
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    Device<int> before(3), p(numbers), behind(3);
    Sent sent;
    cudaEvent_t event, plain;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetMemHandle(&sent.memory, p));
    CHECK(cudaIpcGetEventHandle(&sent.event, event));
    add<<<(N + 255) / 256, 256>>>(p, N, 1000000);
    CHECK(cudaEventRecord(event, 0));
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int i = 1; i <= OTHERS; i++)
        ok &= run_again(std::to_string(i * 10000).c_str(), &sent, sizeof sent) == 0;
    CHECK(cudaEventSynchronize(event));
    std::vector<int> got = p.host();
    for (int i = 0; i < N; i++)
        ok &= got[i] == i + 1060000;

    // Errors: a handle of this process, an invalid handle, other memory, an event that cannot be
    // shared.
    void *q;
    cudaIpcMemHandle_t wrong;
    memset(&wrong, 7, sizeof wrong);
    ok &= cudaIpcOpenMemHandle(&q, sent.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess;
    ok &= cudaIpcOpenMemHandle(&q, wrong, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess;
    ok &= cudaIpcGetMemHandle(&wrong, &ok) != cudaSuccess;
    ok &= cudaEventCreateWithFlags(&plain, cudaEventInterprocess) == cudaErrorInvalidValue;
    CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    ok &= cudaIpcGetEventHandle(&sent.event, plain) != cudaSuccess;
    cudaGetLastError();
    return verdict("ipc", ok, got);
}
