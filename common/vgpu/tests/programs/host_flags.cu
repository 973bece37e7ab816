// Kernels that wait for the host: for flags in mapped and in managed memory, which this or another
// thread sets while they run, after sleeping or after reading the kernel's answer.
#include "vgpu/tests/check.cuh"

#include <chrono>
#include <thread>

struct mail {
    volatile int asked, answered;
};

__global__ void answer(mail *boxes, int rounds)
{
    mail *box = &boxes[blockIdx.x];
    if (threadIdx.x == 0)
        for (int i = 1; i <= rounds; i++) {
            while (box->asked < i)
                ;
            box->answered = i * 10;
            __threadfence_system();
        }
    __syncthreads();
}

static void pause_ms(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static bool asks(mail *boxes, mail *device, int blocks)
{
    const int rounds = 3;
    for (int b = 0; b < blocks; b++)
        boxes[b].asked = boxes[b].answered = 0;
    answer<<<blocks, 64>>>(device, rounds);
    CHECK(cudaGetLastError());
    for (int i = 1; i <= rounds; i++)
        for (int b = blocks - 1; b >= 0; b--) {
            pause_ms(5);
            boxes[b].asked = i;
            for (int ms = 0; boxes[b].answered < i * 10 && ms < 20000; ms++)
                pause_ms(1);
        }
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int b = 0; b < blocks; b++)
        ok &= boxes[b].answered == rounds * 10;
    return ok;
}

__global__ void triple(int *x)
{
    *x *= 3;
}

// Before setting the flag, makes calls that do not wait for the kernel: they return at once, and
// their work is done after the kernel.
static bool calls_between(mail *box, mail *device)
{
    cudaStream_t stream;
    cudaEvent_t before, after;
    int *at = (int *)&device->answered;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    box->asked = box->answered = 0;
    CHECK(cudaEventRecord(before, stream));
    answer<<<1, 64, 0, stream>>>(device, 2);
    CHECK(cudaEventRecord(after, stream));
    triple<<<1, 1, 0, stream>>>(at);
    bool ok = cudaStreamQuery(stream) == cudaErrorNotReady;
    ok &= cudaEventQuery(after) == cudaErrorNotReady && cudaEventQuery(before) == cudaSuccess;
    triple<<<0, 1, 0, stream>>>(at); // refused at once
    ok &= cudaGetLastError() != cudaSuccess;
    box->asked = 2;
    CHECK(cudaStreamSynchronize(stream));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    ok &= box->answered == 60 && ms > 0 && cudaEventQuery(after) == cudaSuccess;
    CHECK(cudaStreamDestroy(stream));
    return ok;
}

int main()
{
    mail *mapped, *device, *managed;
    CHECK(cudaHostAlloc(&mapped, 5 * sizeof *mapped, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device, mapped, 0));
    CHECK(cudaMallocManaged(&managed, 5 * sizeof *managed));
    bool ok = asks(mapped, device, 1) && asks(mapped, device, 5) && asks(managed, managed, 3);
    ok &= calls_between(mapped, device);
    // Another thread sets the flag while this one waits for the kernel.
    mapped[0].asked = mapped[0].answered = 0;
    answer<<<1, 64>>>(device, 1);
    std::thread other([mapped] {
        pause_ms(300);
        mapped[0].asked = 1;
    });
    CHECK(cudaDeviceSynchronize());
    other.join();
    ok &= mapped[0].answered == 10;
    return verdict("host_flags", ok);
}
