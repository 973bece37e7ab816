/* Submissions for m13: from host memory to host memory, with copies that overlap. */
#include "common.cuh"

/* Device memory for all of x, k and y, and the number of floats per image. */
struct tensors {
    float *x, *k, *y;
    size_t x_image, y_image, k_all;
};

static struct tensors on_device(const struct conv_shape *s)
{
    struct tensors t;
    t.x_image = (size_t)s->C * s->H * s->W;
    t.y_image = y_floats(s) / s->B;
    t.k_all = (size_t)s->M * s->C * s->K * s->K;
    t.x = floats(s->B * (t.x_image + t.y_image) + t.k_all);
    t.y = t.x + s->B * t.x_image;
    t.k = t.y + s->B * t.y_image;
    return t;
}

static void multiply(const struct conv_shape *s, const float *x, const float *k, float *y,
                     cudaStream_t stream)
{
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16), 0, stream>>>(*s, x, k, y);
}

static void copy_in(float *to, const float *from, size_t n, cudaStream_t stream)
{
    cudaMemcpyAsync(to, from, n * sizeof(float), cudaMemcpyHostToDevice, stream);
}

static void copy_out(float *to, const float *from, size_t n, cudaStream_t stream)
{
    cudaMemcpyAsync(to, from, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
}

enum { STREAMS = 3, IMAGES = 8 };

static cudaStream_t *streams(void)
{
    static cudaStream_t stream[STREAMS];
    for (int i = 0; !stream[STREAMS - 1] && i < STREAMS; i++)
        cudaStreamCreate(&stream[i]);
    return stream;
}

static int b_end(const struct conv_shape *s, int b)
{
    return b + IMAGES < s->B ? b + IMAGES : s->B;
}

/* Images from b on: copy in, kernel, copy out. */
static void one_part(const struct conv_shape *s, const struct tensors *t, const float *x, float *y,
                     int b, cudaStream_t stream)
{
    struct conv_shape part = *s;
    part.B = b_end(s, b) - b;
    copy_in(t->x + b * t->x_image, x + b * t->x_image, part.B * t->x_image, stream);
    multiply(&part, t->x + b * t->x_image, t->k, t->y + b * t->y_image, stream);
    copy_out(y + b * t->y_image, t->y + b * t->y_image, part.B * t->y_image, stream);
}

/* Leaves the streams to the harness, which waits for the device. */
/* expect: pass */
int right_leaves_streams(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES)
        one_part(s, &t, x, y, b, streams()[b / IMAGES % STREAMS]);
    return failed();
}

/* All copies in, all kernels, all copies out, a stream per part; the host reorders the weights in
 * memory of its own. */
/* expect: pass */
int right_breadth_first(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    int first[STREAMS + 1];
    float *own;
    if (cudaMallocHost((void **)&own, t.k_all * sizeof(float)))
        return 1;
    for (size_t i = 0; i < t.k_all; i++)
        own[i] = k[i];
    cudaMemcpy(t.k, own, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int i = 0; i <= STREAMS; i++)
        first[i] = s->B * i / STREAMS;
    for (int i = 0; i < STREAMS; i++)
        copy_in(t.x + first[i] * t.x_image, x + first[i] * t.x_image,
                (first[i + 1] - first[i]) * t.x_image, streams()[i]);
    for (int i = 0; i < STREAMS; i++) {
        struct conv_shape part = *s;
        part.B = first[i + 1] - first[i];
        if (part.B)
            multiply(&part, t.x + first[i] * t.x_image, t.k, t.y + first[i] * t.y_image,
                     streams()[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        copy_out(y + first[i] * t.y_image, t.y + first[i] * t.y_image,
                 (first[i + 1] - first[i]) * t.y_image, streams()[i]);
    cudaDeviceSynchronize();
    cudaFreeHost(own);
    return failed();
}

/* Rows of x with a pitch on the device, by two-dimensional copies; memory from the stream's pool. */
__global__ void pitched(struct conv_shape shape, const float *x, size_t pitch, const float *k,
                        float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += x[((size_t)(b * C + c) * H + h + p) * pitch + w + q] * KK(m, c, p, q);
    Y(b, m, h, w) = sum;
}

/* expect: pass */
int right_pitched(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    const size_t pitch = (s->W + 31) / 32 * 32, rows = (size_t)s->C * s->H;
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES) {
        const cudaStream_t stream = streams()[b / IMAGES % STREAMS];
        struct conv_shape part = *s;
        float *padded;
        part.B = b_end(s, b) - b;
        if (cudaMallocAsync((void **)&padded, part.B * rows * pitch * sizeof(float), stream))
            return 1;
        cudaMemcpy2DAsync(padded, pitch * sizeof(float), x + b * t.x_image, s->W * sizeof(float),
                          s->W * sizeof(float), part.B * rows, cudaMemcpyHostToDevice, stream);
        pitched<<<tiles(s, 16, part.B * s->M), dim3(16, 16), 0, stream>>>(part, padded, pitch, t.k,
                                                                          t.y + b * t.y_image);
        copy_out(y + b * t.y_image, t.y + b * t.y_image, part.B * t.y_image, stream);
        cudaFreeAsync(padded, stream);
    }
    cudaDeviceSynchronize();
    return failed();
}

/* A graph captured from all streams in each call. */
/* expect: pass */
int right_graph(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    cudaStream_t *const stream = streams();
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal);
    copy_in(t.k, k, t.k_all, stream[0]);
    cudaEventRecord(event, stream[0]);
    for (int i = 1; i < STREAMS; i++)
        cudaStreamWaitEvent(stream[i], event, 0);
    for (int b = 0; b < s->B; b += IMAGES)
        one_part(s, &t, x, y, b, stream[b / IMAGES % STREAMS]);
    for (int i = 1; i < STREAMS; i++) {
        cudaEventRecord(event, stream[i]);
        cudaStreamWaitEvent(stream[0], event, 0);
    }
    cudaStreamEndCapture(stream[0], &graph);
    if (cudaGraphInstantiate(&ready, graph, 0))
        return 1;
    cudaGraphLaunch(ready, stream[0]);
    cudaStreamSynchronize(stream[0]);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaEventDestroy(event);
    return failed();
}

/* ---- without overlap ---- */

/* expect: 0% of their time, copies overlapped */
int one_stream(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    copy_in(t.k, k, t.k_all, streams()[0]);
    for (int b = 0; b < s->B; b += IMAGES)
        one_part(s, &t, x, y, b, streams()[0]);
    cudaStreamSynchronize(streams()[0]);
    return failed();
}

/* Several streams, each of which waits for the previous one. */
/* expect (long): 0% of their time, copies overlapped */
int streams_in_turn(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES) {
        one_part(s, &t, x, y, b, streams()[b / IMAGES % STREAMS]);
        cudaStreamSynchronize(streams()[b / IMAGES % STREAMS]);
    }
    return failed();
}

/* The kernel overlaps a second copy of x, which is not used. */
/* expect: 0% of their time, copies overlapped */
int copies_for_nothing(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    float *other;
    if (cudaMalloc((void **)&other, s->B * t.x_image * sizeof(float)))
        return 1;
    copy_in(t.k, k, t.k_all, streams()[0]);
    copy_in(t.x, x, s->B * t.x_image, streams()[0]);
    cudaDeviceSynchronize();
    multiply(s, t.x, t.k, t.y, streams()[0]);
    copy_in(other, x, s->B * t.x_image, streams()[1]);
    cudaDeviceSynchronize();
    copy_out(y, t.y, s->B * t.y_image, streams()[0]);
    cudaDeviceSynchronize();
    cudaFree(other);
    return failed();
}

/* Overlap only with as many images as the grader watches. */
/* expect (long): timed: for 0% of their time, copies overlapped */
int overlap_at_100(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES)
        one_part(s, &t, x, y, b, streams()[s->B <= 100 ? b / IMAGES % STREAMS : 0]);
    cudaDeviceSynchronize();
    return failed();
}

/* All copies overlap a kernel that does nothing. */
__global__ void spin(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

/* It loads a third as many numbers as are copied. */
__global__ void spin_and_load(long long cycles, const float *from, size_t n, float *to)
{
    const long long begin = clock64();
    float sum = 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        sum += from[i];
    while (clock64() - begin < cycles) {
    }
    if (sum == 1.0f)
        *to = sum;
}

/* expect (long): 0% of their time, copies overlapped */
int loading_kernel(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    const size_t n = s->B * t.x_image, third = n / 3 < s->B * t.y_image ? n / 3 : s->B * t.y_image;
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemsetAsync(t.y, 0, s->B * t.y_image * sizeof(float), streams()[0]);
    cudaDeviceSynchronize();
    spin_and_load<<<1, 256, 0, streams()[1]>>>(3000LL * s->B, t.y, third, t.y);
    copy_in(t.x, x, n, streams()[0]);
    cudaDeviceSynchronize();
    multiply(s, t.x, t.k, t.y, streams()[0]);
    copy_out(y, t.y, s->B * t.y_image, streams()[0]);
    cudaDeviceSynchronize();
    return failed();
}

/* expect (long): 0% of their time, copies overlapped */
int idle_kernel(ARGUMENTS)
{
    spin<<<1, 1, 0, streams()[1]>>>(3000LL * s->B);
    return one_stream(s, x, k, y);
}

/* The kernel reads x and k and writes y in host memory, over the bus. */
/* expect: 0% of x, k and y were copied */
int in_place(ARGUMENTS)
{
    multiply(s, x, k, y, 0);
    cudaDeviceSynchronize();
    return failed();
}

/* All copies are made and overlap, but the kernels read x and k in host memory. */
/* expect: 0% of the products summed into y take x from a copy in device memory */
int copies_beside_it(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES) {
        const cudaStream_t stream = streams()[b / IMAGES % STREAMS];
        struct conv_shape part = *s;
        part.B = b_end(s, b) - b;
        copy_in(t.x + b * t.x_image, x + b * t.x_image, part.B * t.x_image, stream);
        multiply(&part, x + b * t.x_image, k, t.y + b * t.y_image, stream);
        copy_out(y + b * t.y_image, t.y + b * t.y_image, part.B * t.y_image, stream);
    }
    cudaDeviceSynchronize();
    return failed();
}

/* ---- work of the host ---- */

/* expect: kernels did not compute */
int on_host(ARGUMENTS)
{
    const struct conv_shape shape = *s;
    const struct tensors t = on_device(s);
    SIZES;
    float *sums;
    if (cudaMallocHost((void **)&sums, y_floats(s) * sizeof(float)))
        return 1;
    float *at = sums;
    for (int b = 0; b < B; b++)
        for (int m = 0; m < M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out; w++, at++) {
                    *at = 0;
                    for (int c = 0; c < C; c++)
                        for (int p = 0; p < K; p++)
                            for (int q = 0; q < K; q++)
                                *at += X(b, c, h + p, w + q) * KK(m, c, p, q);
                }
    cudaMemcpy(t.x, x, B * t.x_image * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    multiply(s, t.x, t.k, t.y, 0);
    cudaMemcpy(t.y, sums, y_floats(s) * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, t.y, y_floats(s) * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFreeHost(sums);
    return failed();
}

/* Through page-locked memory of its own. The assignment forbids it, because y does not come
 * directly from the device. */
/* expect (long): were not copied directly from and to the harness */
int through_own_memory(ARGUMENTS)
{
    const struct tensors t = on_device(s);
    float *own;
    if (cudaMallocHost((void **)&own, (s->B * t.x_image + y_floats(s)) * sizeof(float)))
        return 1;
    memcpy(own, x, s->B * t.x_image * sizeof(float));
    cudaMemcpy(t.k, k, t.k_all * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0; b < s->B; b += IMAGES)
        one_part(s, &t, own, own + s->B * t.x_image, b, streams()[b / IMAGES % STREAMS]);
    cudaDeviceSynchronize();
    memcpy(y, own + s->B * t.x_image, y_floats(s) * sizeof(float));
    cudaFreeHost(own);
    return failed();
}
