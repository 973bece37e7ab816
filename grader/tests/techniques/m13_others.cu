/* Submissions for m13 in the styles of other courses, and decoys. */
#include "common.cuh"

/* Device memory for x, k and y. */
struct device_tensors {
    float *x, *k, *y;
    size_t x_image, y_image;
};

static device_tensors in_workspace(const conv_shape *s)
{
    device_tensors d;
    d.x_image = x_floats(s) / s->B;
    d.y_image = y_floats(s) / s->B;
    d.x = floats(x_floats(s) + k_floats(s) + y_floats(s));
    d.k = d.x + x_floats(s);
    d.y = d.k + k_floats(s);
    return d;
}

static const cudaMemcpyKind IN = cudaMemcpyHostToDevice, OUT = cudaMemcpyDeviceToHost;

/* ---- two halves of a ring of small buffers, with events ---------------------------------------- */

/* expect: pass */
int right_ring(ARGUMENTS)
{
    enum { SLOTS = 3 };
    const int most = s->B < 24 ? (s->B + 1) / 2 : 12;
    const size_t xi = x_floats(s) / s->B, yi = y_floats(s) / s->B;
    float *base = floats(k_floats(s) + SLOTS * most * (xi + yi));
    float *kd = base, *xd[SLOTS], *yd[SLOTS];
    static cudaStream_t copying_in, computing, copying_out;
    static cudaEvent_t arrived[SLOTS], computed[SLOTS], left[SLOTS];
    if (!copying_in) {
        cudaStreamCreateWithFlags(&copying_in, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&copying_out, cudaStreamNonBlocking);
        for (int i = 0; i < SLOTS; i++) {
            cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming);
            cudaEventCreateWithFlags(&computed[i], cudaEventDisableTiming);
            cudaEventCreateWithFlags(&left[i], cudaEventDisableTiming);
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        xd[i] = base + k_floats(s) + i * most * (xi + yi);
        yd[i] = xd[i] + most * xi;
    }
    cudaMemcpyAsync(kd, k, 4 * k_floats(s), IN, copying_in);
    for (int b = 0, n = 0; b < s->B; b += most, n++) {
        const int slot = n % SLOTS;
        conv_shape part = *s;
        part.B = s->B - b < most ? s->B - b : most;
        if (n >= SLOTS)
            cudaStreamWaitEvent(copying_in, computed[slot], 0);
        cudaMemcpyAsync(xd[slot], x + b * xi, 4 * part.B * xi, IN, copying_in);
        cudaEventRecord(arrived[slot], copying_in);
        cudaStreamWaitEvent(computing, arrived[slot], 0);
        if (n >= SLOTS)
            cudaStreamWaitEvent(computing, left[slot], 0);
        plain<<<tiles(s, 16, part.B * s->M), dim3(16, 16), 0, computing>>>(part, xd[slot], kd,
                                                                           yd[slot]);
        cudaEventRecord(computed[slot], computing);
        cudaStreamWaitEvent(copying_out, computed[slot], 0);
        cudaMemcpyAsync(y + b * yi, yd[slot], 4 * part.B * yi, OUT, copying_out);
        cudaEventRecord(left[slot], copying_out);
    }
    cudaStreamSynchronize(copying_out);
    return failed();
}

/* ---- maps, not images: groups of maps of all images leave while others are computed ------------ */

__global__ void of_maps(conv_shape shape, const float *x, const float *k, float *y, int first,
                        int n)
{
    SIZES;
    const int b = blockIdx.z / n, m = first + blockIdx.z % n;
    const int h = blockIdx.y * 8 + threadIdx.y, w = blockIdx.x * 32 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* x arrives in two halves of the images; each group of maps of a half leaves by a pitched copy. */
/* expect: pass */
int right_groups_of_maps(ARGUMENTS)
{
    const device_tensors d = in_workspace(s);
    const int GROUPS = s->M < 4 ? 1 : 4, HALVES = s->B < 2 ? 1 : 2;
    static cudaStream_t stream[8];
    for (int i = 0; !stream[7] && i < 8; i++)
        cudaStreamCreate(&stream[i]);
    static cudaEvent_t here[2];
    for (int i = 0; !here[1] && i < 2; i++)
        cudaEventCreate(&here[i]);
    const size_t plane = d.y_image / s->M;
    cudaMemcpyAsync(d.k, k, 4 * k_floats(s), IN, stream[0]);
    for (int half = 0; half < HALVES; half++) {
        const int from = s->B * half / HALVES, to = s->B * (half + 1) / HALVES;
        conv_shape part = *s;
        part.B = to - from;
        cudaMemcpyAsync(d.x + from * d.x_image, x + from * d.x_image, 4 * part.B * d.x_image, IN,
                        stream[0]);
        cudaEventRecord(here[half], stream[0]);
        for (int g = 0; g < GROUPS; g++) {
            const int m = s->M * g / GROUPS, n = s->M * (g + 1) / GROUPS - m;
            cudaStream_t own = stream[1 + (half * GROUPS + g) % 7];
            cudaStreamWaitEvent(own, here[half], 0);
            of_maps<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, part.B * n), dim3(32, 8),
                      0, own>>>(part, d.x + from * d.x_image, d.k, d.y + from * d.y_image, m, n);
            const size_t at = from * d.y_image + m * plane;
            cudaMemcpy2DAsync(y + at, 4 * d.y_image, d.y + at, 4 * d.y_image, 4 * n * plane, part.B,
                              OUT, own);
        }
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

/* ---- memory of each part from the stream's pool, one stream per part --------------------------- */

/* expect: pass */
int right_pool_memory(ARGUMENTS)
{
    const size_t xi = x_floats(s) / s->B, yi = y_floats(s) / s->B;
    const int parts = s->B < 6 ? s->B : 6;
    cudaStream_t stream[6];
    cudaEvent_t has_k;
    float *kd, *xd[6], *yd[6];
    for (int i = 0; i < parts; i++)
        cudaStreamCreate(&stream[i]);
    cudaEventCreate(&has_k);
    cudaMallocAsync((void **)&kd, 4 * k_floats(s), stream[0]);
    cudaMemcpyAsync(kd, k, 4 * k_floats(s), IN, stream[0]);
    cudaEventRecord(has_k, stream[0]);
    for (int i = 0; i < parts; i++) {
        const int b = s->B * i / parts;
        conv_shape part = *s;
        part.B = s->B * (i + 1) / parts - b;
        cudaMallocAsync((void **)&xd[i], 4 * part.B * xi, stream[i]);
        cudaMallocAsync((void **)&yd[i], 4 * part.B * yi, stream[i]);
        cudaMemcpyAsync(xd[i], x + b * xi, 4 * part.B * xi, IN, stream[i]);
        cudaStreamWaitEvent(stream[i], has_k, 0);
        plain<<<tiles(s, 16, part.B * s->M), dim3(16, 16), 0, stream[i]>>>(part, xd[i], kd, yd[i]);
        cudaMemcpyAsync(y + b * yi, yd[i], 4 * part.B * yi, OUT, stream[i]);
        cudaFreeAsync(xd[i], stream[i]);
        cudaFreeAsync(yd[i], stream[i]);
    }
    for (int i = 0; i < parts; i++)
        cudaStreamSynchronize(stream[i]);
    cudaFreeAsync(kd, stream[0]);
    for (int i = 0; i < parts; i++)
        cudaStreamDestroy(stream[i]);
    cudaEventDestroy(has_k);
    return failed();
}

/* ---- weights in constant memory, a symbol for each call; the default stream of each thread ----- */

__constant__ float const_k[15000];

__global__ void with_constants(conv_shape shape, const float *x, float *y)
{
    FLAT_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += X(b, c, h + p, w + q) * const_k[((m * C + c) * K + p) * K + q];
    y[i] = sum;
}

/* Depth first: copy in, kernel, copy out of one part, then the next, in two streams. */
/* expect: pass */
int right_symbol_and_two_streams(ARGUMENTS)
{
    const device_tensors d = in_workspace(s);
    static cudaStream_t two[2];
    for (int i = 0; !two[1] && i < 2; i++)
        cudaStreamCreate(&two[i]);
    const bool fits = k_floats(s) <= 15000;
    if (fits)
        cudaMemcpyToSymbol(const_k, k, 4 * k_floats(s));
    else
        cudaMemcpy(d.k, k, 4 * k_floats(s), IN);
    const int step = s->B >= 16 ? 8 : 1;
    for (int b = 0; b < s->B; b += step) {
        cudaStream_t own = two[b / step % 2];
        conv_shape part = *s;
        part.B = s->B - b < step ? s->B - b : step;
        float *px = d.x + b * d.x_image, *py = d.y + b * d.y_image;
        cudaMemcpyAsync(px, x + b * d.x_image, 4 * part.B * d.x_image, IN, own);
        if (fits)
            with_constants<<<(y_floats(&part) + 255) / 256, 256, 0, own>>>(part, px, py);
        else
            plain<<<tiles(s, 16, part.B * s->M), dim3(16, 16), 0, own>>>(part, px, d.k, py);
        cudaMemcpyAsync(y + b * d.y_image, py, 4 * part.B * d.y_image, OUT, own);
    }
    for (int i = 0; i < 2; i++)
        cudaStreamSynchronize(two[i]);
    return failed();
}

/* ---- decoys ------------------------------------------------------------------------------------ */

/* One stream for the work; a second stream runs an empty kernel beside each copy. */
__global__ void spin(float *to, int n)
{
    float v = threadIdx.x;
    for (int i = 0; i < n; i++)
        v = v * 1.0001f + 1;
    to[threadIdx.x] = v;
}

/* expect: of their time, copies overlapped a kernel or a copy in the other direction */
int decoy_own_copies_beside(ARGUMENTS)
{
    const device_tensors d = in_workspace(s);
    static cudaStream_t other;
    static float *junk, *page;
    if (!other) {
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        cudaMalloc((void **)&junk, 1 << 20);
        cudaMallocHost((void **)&page, 1 << 20);
    }
    cudaMemcpy(d.k, k, 4 * k_floats(s), IN);
    cudaMemcpy(d.x, x, 4 * x_floats(s), IN);
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, d.x, d.k, d.y);
    for (int i = 0; i < 4; i++) /* copies of nothing run beside the kernel */
        cudaMemcpyAsync(junk, page, 1 << 18, IN, other);
    cudaMemcpy(y, d.y, 4 * y_floats(s), OUT);
    cudaStreamSynchronize(other);
    return failed();
}

/* y is copied back while x is copied to the device a second time. */
/* expect: of their time, copies overlapped a kernel or a copy in the other direction */
int decoy_x_again(ARGUMENTS)
{
    static cudaStream_t other;
    float *const d = floats(2 * x_floats(s) + k_floats(s) + y_floats(s)),
                 *const again = d + x_floats(s), *const dk = again + x_floats(s),
                 *const dy = dk + k_floats(s);
    if (!other)
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMemcpy(dk, k, 4 * k_floats(s), IN);
    cudaMemcpy(d, x, 4 * x_floats(s), IN);
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, d, dk, dy);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(again, x, 4 * x_floats(s), IN, other);
    cudaMemcpy(y, dy, 4 * y_floats(s), OUT);
    cudaStreamSynchronize(other);
    return failed();
}

/* x is copied to the device, and a kernel reads the other half of the images directly. */
/* expect: of the products summed into y take x from a copy in device memory */
int decoy_half_read_directly(ARGUMENTS)
{
    const device_tensors d = in_workspace(s);
    static cudaStream_t two[2];
    for (int i = 0; !two[1] && i < 2; i++)
        cudaStreamCreate(&two[i]);
    cudaMemcpy(d.k, k, 4 * k_floats(s), IN);
    for (int b = 0; b < s->B; b++) {
        cudaStream_t own = two[b % 2];
        conv_shape part = *s;
        part.B = 1;
        float *px = d.x + b * d.x_image, *py = d.y + b * d.y_image;
        cudaMemcpyAsync(px, x + b * d.x_image, 4 * d.x_image, IN, own);
        plain<<<tiles(s, 16, s->M), dim3(16, 16), 0, own>>>(part, b % 4 ? px : x + b * d.x_image,
                                                            d.k, py);
        cudaMemcpyAsync(y + b * d.y_image, py, 4 * d.y_image, OUT, own);
    }
    for (int i = 0; i < 2; i++)
        cudaStreamSynchronize(two[i]);
    return failed();
}
