/* More ways to overlap copies for m13: a stream per engine, and host threads with streams of their own. */
#include "common.cuh"
#include <thread>
#include <vector>
static void conv(struct conv_shape part, const float *x, const float *k, float *y, cudaStream_t st)
{
    plain<<<tiles(&part, 16, part.B * part.M), dim3(16, 16), 0, st>>>(part, x, k, y);
}
/* a ring of three buffers, one stream for copies in, one for kernels, one for copies out, joined by events */
/* expect: pass */
int right_three_engines(ARGUMENTS)
{
    enum { RING = 3, PART = 10 };
    const size_t xi = (size_t)s->C * s->H * s->W, yi = y_floats(s) / s->B;
    float *base = floats(RING * PART * (xi + yi) + k_floats(s)),
          *kd = base + RING * PART * (xi + yi);
    static cudaStream_t in, work, out;
    static cudaEvent_t filled[RING], done[RING], drained[RING];
    if (!in) {
        int low, high;
        cudaDeviceGetStreamPriorityRange(&low, &high);
        cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
        cudaStreamCreateWithPriority(&work, cudaStreamNonBlocking, high);
        cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
        for (int i = 0; i < RING; i++) {
            cudaEventCreateWithFlags(&filled[i], cudaEventDisableTiming);
            cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
            cudaEventCreateWithFlags(&drained[i], cudaEventDisableTiming);
        }
    }
    cudaMemcpyAsync(kd, k, k_floats(s) * 4, cudaMemcpyDefault, in);
    int n = 0;
    for (int b = 0; b < s->B; b += PART, n++) {
        const int r = n % RING;
        struct conv_shape part = *s;
        part.B = s->B - b < PART ? s->B - b : PART;
        float *xd = base + r * PART * (xi + yi), *yd = xd + PART * xi;
        if (n >= RING) {
            cudaStreamWaitEvent(in, done[r], 0);
            cudaStreamWaitEvent(work, drained[r], 0);
        }
        cudaMemcpyAsync(xd, x + b * xi, part.B * xi * 4, cudaMemcpyHostToDevice, in);
        cudaEventRecord(filled[r], in);
        cudaStreamWaitEvent(work, filled[r], 0);
        conv(part, xd, kd, yd, work);
        cudaEventRecord(done[r], work);
        cudaStreamWaitEvent(out, done[r], 0);
        cudaMemcpyAsync(y + b * yi, yd, part.B * yi * 4, cudaMemcpyDeviceToHost, out);
        cudaEventRecord(drained[r], out);
    }
    cudaStreamSynchronize(out);
    return failed();
}
/* copies in, convolves and copies out in the stream of the thread */
static void own_stream(struct conv_shape part, const float *x, float *xd, const float *kd,
                       float *yd, float *y)
{
    const size_t in = (size_t)part.B * part.C * part.H * part.W;
    cudaMemcpyAsync(xd, x, in * 4, cudaMemcpyHostToDevice, cudaStreamPerThread);
    conv(part, xd, kd, yd, cudaStreamPerThread);
    cudaMemcpyAsync(y, yd, y_floats(&part) * 4, cudaMemcpyDeviceToHost, cudaStreamPerThread);
}
/* host threads, each with the default stream of its thread */
/* expect: pass */
int right_host_threads(ARGUMENTS)
{
    const size_t xi = (size_t)s->C * s->H * s->W, yi = y_floats(s) / s->B;
    float *xd = floats(s->B * (xi + yi) + k_floats(s)), *yd = xd + s->B * xi, *kd = yd + s->B * yi;
    cudaMemcpy(kd, k, k_floats(s) * 4, cudaMemcpyHostToDevice);
    std::vector<std::thread> all;
    const int threads = s->B < 4 ? 1 : 4;
    for (int i = 0; i < threads; i++)
        all.emplace_back([=] {
            const int b0 = s->B * i / threads, b1 = s->B * (i + 1) / threads;
            for (int b = b0; b < b1; b += 5) {
                struct conv_shape part = *s;
                part.B = b1 - b < 5 ? b1 - b : 5;
                own_stream(part, x + b * xi, xd + b * xi, kd, yd + b * yi, y + b * yi);
            }
            cudaStreamSynchronize(cudaStreamPerThread);
        });
    for (auto &t : all)
        t.join();
    return failed();
}
/* host threads that wait for each of their copies and kernels: threads overlap, streams do not */
/* expect: pass */
int right_waiting_threads(ARGUMENTS)
{
    const size_t xi = (size_t)s->C * s->H * s->W, yi = y_floats(s) / s->B;
    float *xd = floats(s->B * (xi + yi) + k_floats(s)), *yd = xd + s->B * xi, *kd = yd + s->B * yi;
    cudaMemcpy(kd, k, k_floats(s) * 4, cudaMemcpyHostToDevice);
    enum { THREADS = 5 };
    static cudaStream_t own[THREADS];
    for (int i = 0; i < THREADS && !own[i]; i++)
        cudaStreamCreateWithFlags(&own[i], cudaStreamNonBlocking);
    std::vector<std::thread> all;
    for (int i = 0; i < THREADS; i++)
        all.emplace_back([=] {
            for (int b = i; b < s->B; b += THREADS) {
                struct conv_shape part = *s;
                part.B = 1;
                cudaMemcpyAsync(xd + b * xi, x + b * xi, xi * 4, cudaMemcpyDefault, own[i]);
                cudaStreamSynchronize(own[i]);
                conv(part, xd + b * xi, kd, yd + b * yi, own[i]);
                cudaStreamSynchronize(own[i]);
                cudaMemcpyAsync(y + b * yi, yd + b * yi, yi * 4, cudaMemcpyDefault, own[i]);
                cudaStreamSynchronize(own[i]);
            }
        });
    for (auto &t : all)
        t.join();
    return failed();
}
/* a thread for each part, which the host waits for before it begins the next part */
/* expect: 0% of their time, copies overlapped */
int one_thread_after_another(ARGUMENTS)
{
    const size_t xi = (size_t)s->C * s->H * s->W, yi = y_floats(s) / s->B;
    float *xd = floats(s->B * (xi + yi) + k_floats(s)), *yd = xd + s->B * xi, *kd = yd + s->B * yi;
    cudaMemcpy(kd, k, k_floats(s) * 4, cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += 5) {
        struct conv_shape part = *s;
        part.B = s->B - b < 5 ? s->B - b : 5;
        std::thread([=] {
            own_stream(part, x + b * xi, xd + b * xi, kd, yd + b * yi, y + b * yi);
            cudaStreamSynchronize(cudaStreamPerThread);
        }).join();
    }
    return failed();
}
/* asks its streams until their work is done; the answer "not ready" is not an error */
/* expect: pass */
int asks_until_done(ARGUMENTS)
{
    static cudaStream_t own[2];
    for (int i = 0; i < 2 && !own[i]; i++)
        cudaStreamCreateWithFlags(&own[i], cudaStreamNonBlocking);
    const size_t xi = (size_t)s->C * s->H * s->W, yi = y_floats(s) / s->B;
    float *xd = floats(s->B * (xi + yi) + k_floats(s)), *yd = xd + s->B * xi, *kd = yd + s->B * yi;
    cudaMemcpy(kd, k, k_floats(s) * 4, cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += 16) {
        struct conv_shape part = *s;
        part.B = s->B - b < 16 ? s->B - b : 16;
        cudaStream_t to = own[b / 16 % 2];
        cudaMemcpyAsync(xd + b * xi, x + b * xi, part.B * xi * 4, cudaMemcpyDefault, to);
        conv(part, xd + b * xi, kd, yd + b * yi, to);
        cudaMemcpyAsync(y + b * yi, yd + b * yi, part.B * yi * 4, cudaMemcpyDefault, to);
    }
    for (int i = 0; i < 2; i++)
        while (cudaStreamQuery(own[i]) == cudaErrorNotReady)
            continue;
    return failed();
}
