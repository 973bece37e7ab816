// The cost of launching an empty kernel, through the runtime library and the device process: part
// of `make bench`, by `build/vgpu-run build/vgpu/tests/bench/launch_overhead`. Runs on a GPU as
// well.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>

enum { LAUNCHES = 2000, REPEATS = 5 };
static const double goal_us = 100;

__global__ void empty()
{
}

static double now_us()
{
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Microseconds per launch; waits for each launch or only for the last one.
static double launches(bool wait)
{
    const double begin = now_us();
    for (int i = 0; i < LAUNCHES; i++) {
        empty<<<1, 32>>>();
        if (wait)
            cudaDeviceSynchronize();
    }
    cudaDeviceSynchronize();
    return (now_us() - begin) / LAUNCHES;
}

int main()
{
    double waiting[REPEATS], queued[REPEATS];
    launches(true);
    for (int i = 0; i < REPEATS; i++) {
        waiting[i] = launches(true);
        queued[i] = launches(false);
    }
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "launch_overhead: a launch failed\n");
        return 1;
    }
    std::nth_element(waiting, waiting + REPEATS / 2, waiting + REPEATS);
    std::nth_element(queued, queued + REPEATS / 2, queued + REPEATS);
    const double worse = std::max(waiting[REPEATS / 2], queued[REPEATS / 2]);
    printf("Launch of an empty kernel: %.1f us and waiting for it, %.1f us one after the other "
           "(goal: below %.0f us)%s\n",
           waiting[REPEATS / 2], queued[REPEATS / 2], goal_us,
           worse > goal_us ? "  (above the goal)" : "");
    return 0;
}
