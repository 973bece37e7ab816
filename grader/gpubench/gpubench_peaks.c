/* The device's peaks: the two rates that determine the floor of a convolution. */
#include "grader/gpubench/gpubench.h"
#include "grader/gpubench/gpubench_kernels.h"

#include <cuda_runtime_api.h>

enum { WARMUPS = 3, RUNS = 15 };

/** The time between two events, in seconds; reports the error of a kernel. */
static int elapsed_s(cudaEvent_t begin, cudaEvent_t end, double *s)
{
    float ms = 0;
    int error = cudaEventSynchronize(end);
    if (!error)
        error = cudaEventElapsedTime(&ms, begin, end);
    *s = ms * 1e-3;
    return error;
}

/* Copies, by a kernel or by the runtime: which one is faster depends on the GPU. */
static int copy_once(int by_runtime, float *to, const float *from, size_t bytes)
{
    if (by_runtime)
        return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
    bench_copy(to, from, bytes / sizeof(float));
    return cudaGetLastError();
}

static int measure_copy(const struct bench_plan *plan, cudaEvent_t event[2], struct median *best)
{
    float *from = NULL, *to = NULL;
    int error = cudaMalloc((void **)&from, plan->peak_bytes);
    if (!error)
        error = cudaMalloc((void **)&to, plan->peak_bytes);
    if (!error)
        bench_fill(from, plan->peak_bytes / sizeof(float), plan->seed);
    for (int by_runtime = 0; by_runtime < 2 && !error; by_runtime++) {
        double rate[RUNS], s = 0;
        const int runs = plan->is_virtual ? 1 : RUNS, warmups = plan->is_virtual ? 0 : WARMUPS;
        for (int i = -warmups; i < runs && !error; i++) {
            cudaEventRecord(event[0], 0);
            error = copy_once(by_runtime, to, from, plan->peak_bytes);
            cudaEventRecord(event[1], 0);
            if (!error)
                error = elapsed_s(event[0], event[1], &s);
            if (i >= 0)
                rate[i] = 2.0 * (double)plan->peak_bytes / s; /* reads and writes */
        }
        if (error)
            break;
        const struct median m = median_of(rate, (size_t)runs);
        if (!best->n || m.median > best->median)
            *best = m;
    }
    cudaFree(from);
    cudaFree(to);
    return error;
}

static int measure_flops(const struct bench_plan *plan, cudaEvent_t event[2], struct median *best)
{
    float *out = NULL;
    double rate[RUNS], s = 0;
    int error =
        cudaMalloc((void **)&out, (size_t)plan->peak_blocks * BENCH_FMA_THREADS * sizeof(float));
    const int runs = plan->is_virtual ? 1 : RUNS, warmups = plan->is_virtual ? 0 : WARMUPS;
    for (int i = -warmups; i < runs && !error; i++) {
        cudaEventRecord(event[0], 0);
        const double flops = bench_multiply_add(out, plan->peak_blocks, plan->peak_rounds);
        error = cudaGetLastError();
        cudaEventRecord(event[1], 0);
        if (!error)
            error = elapsed_s(event[0], event[1], &s);
        if (i >= 0)
            rate[i] = flops / s;
    }
    if (!error)
        *best = median_of(rate, (size_t)runs);
    cudaFree(out);
    return error;
}

enum st_code bench_peaks_measure(const struct bench_plan *plan, struct bench_peaks *peaks,
                                 struct st_error *err)
{
    cudaEvent_t event[2];
    *peaks = (struct bench_peaks){0};
    int error = cudaEventCreate(&event[0]);
    if (!error)
        error = cudaEventCreate(&event[1]);
    if (!error)
        error = measure_copy(plan, event, &peaks->copy_bytes_per_s);
    if (!error)
        error = measure_flops(plan, event, &peaks->flops_per_s);
    return bench_cuda(error, "cannot measure the peak rates of the device", err);
}
