/* Another way to overlap copies for m13: a stream per engine. */
#include "common.cuh"
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
