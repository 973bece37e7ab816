/* Right results without the reduction of m7. */
#include "common.cuh"
#define SUM(c0, c1)                                                                                \
    float sum = 0;                                                                                 \
    for (int c = c0; c < (c1); c++)                                                                \
    sum += channel_at(shape, x, k, b, m, c, h, w)
#define FLAT_GO(name, ...) (name<<<(y_floats(s) + 255) / 256, 256>>>(__VA_ARGS__), failed())
#define GO(name, parts)                                                                            \
    (cudaMemsetAsync(y, 0, y_floats(s) * 4),                                                       \
     name<<<dim3((y_floats(s) + 255) / 256, parts), 256>>>(*s, x, k, y), failed())
/* each of two threads computes the whole sum and adds half of it */
__global__ void halves(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, C);
    atomicAdd(&y[i], 0.5f * sum);
}
/* expect: one thread added 100% of the products of an output */
SUBMISSION(half_by_each, GO(halves, 2))
/* one thread computes all but a few taps */
template <int PARTS>
__global__ void but_few(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    float sum = 0;
    const int all = C * K * K, few = (all + PARTS - 1) / PARTS;
    for (int t = blockIdx.y ? 0 : few; t < (blockIdx.y ? few : all); t++)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    atomicAdd(&y[i], sum);
}
/* expect: one thread added 100% of the products of an output */
SUBMISSION(all_but_one, GO(but_few<1 << 20>, 2))
/* expect: one thread added 9 */
SUBMISSION(all_but_a_sixteenth, GO(but_few<16>, 2))
/* atomic exchange */
__global__ void exchanged(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, C);
    atomicExch(&y[i], sum);
}
/* expect: 0% of the products summed into y were added by an atomic operation */
SUBMISSION(by_exchange, GO(exchanged, 1))
/* stored, and zeros added */
__global__ void stored(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, C);
    y[i] = sum;
    atomicAdd(&y[i], 0.0f);
    atomicAdd(&y[i], sum * 0.0f);
}
/* expect: 0% of the products summed into y were added by an atomic operation */
SUBMISSION(zeros_added, GO(stored, 1))
/* subtracts what another thread added */
__global__ void taken_away(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, C);
    y[i] = sum;
}
__global__ void add_part(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, 1);
    atomicAdd(&y[i], blockIdx.y ? -sum : sum);
}
/* expect: of the products summed into y were added by an atomic operation */
int added_and_taken(ARGUMENTS)
{
    taken_away<<<dim3((y_floats(s) + 255) / 256), 256>>>(*s, x, k, y);
    add_part<<<dim3((y_floats(s) + 255) / 256, 2), 256>>>(*s, x, k, y);
    return failed();
}
/* atomic additions in shared memory, y is stored */
__global__ void in_shared(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float part[64];
    const size_t i = (size_t)blockIdx.x * 64 + threadIdx.x;
    const size_t n = (size_t)B * M * H_out * W_out;
    if (threadIdx.y == 0)
        part[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        UNFLAT;
        float sum = 0;
        for (int c = threadIdx.y; c < C; c += 4)
            for (int t = 0; t < K * K; t++)
                sum += X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
        atomicAdd(&part[threadIdx.x], sum);
    }
    __syncthreads();
    if (i < n && threadIdx.y == 0)
        y[i] = part[threadIdx.x];
}
/* expect: 0% of the products summed into y were added by an atomic operation */
SUBMISSION_LAUNCH(only_in_shared, in_shared<<<(y_floats(s) + 63) / 64, dim3(64, 4)>>>(*s, x, k, y))
/* only some outputs */
__global__ void some(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    if (i % 3 == 0) {
        SUM(blockIdx.y * ((C + 1) / 2), min(C, (int)(blockIdx.y + 1) * ((C + 1) / 2)));
        atomicAdd(&y[i], sum);
    } else if (blockIdx.y == 0) {
        SUM(0, C);
        y[i] = sum;
    }
}
/* expect: of the products summed into y were added by an atomic operation */
SUBMISSION(third_of_outputs, GO(some, 2))
__global__ void whole(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    SUM(0, C);
    atomicAdd(&y[i], sum);
}
/* expect: 1.0 threads added products to each output by atomic operations */
SUBMISSION(whole_sum_at_once, GO(whole, 1))
/* several threads share each sum only if there are few images */
__global__ void in_parts(struct conv_shape shape, const float *x, const float *k, float *y, int per)
{
    FLAT_PLACE;
    float sum = 0;
    for (int c = blockIdx.y * per; c < min(C, (int)(blockIdx.y + 1) * per); c++)
        sum += channel_at(shape, x, k, b, m, c, h, w);
    atomicAdd(&y[i], sum);
}
/* expect: timed: but not in the timed runs */
int one_part_when_many(ARGUMENTS)
{
    const int n = s->B > 24 ? 1 : 4;
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    in_parts<<<dim3((y_floats(s) + 127) / 128, n), 128>>>(*s, x, k, y, (s->C + n - 1) / n);
    return failed();
}
/* one thread computes both halves of a sum, and another one adds the second half */
__device__ static float part_of(struct conv_shape shape, const float *x, const float *k, size_t i,
                                int from, int to)
{
    SIZES;
    float sum = 0;
    if (i >= (size_t)B * M * H_out * W_out)
        return 0;
    UNFLAT;
    for (int c = from; c < to; c++)
        sum += channel_at(shape, x, k, b, m, c, h, w);
    return sum;
}
__global__ void halves_by_shuffle(struct conv_shape shape, const float *x, const float *k, float *y,
                                  size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    const float first = part_of(shape, x, k, i, 0, shape.C / 2),
                second = part_of(shape, x, k, i, shape.C / 2, shape.C);
    const float of_neighbour = __shfl_xor_sync(0xffffffff, second, 1);
    if (i < n)
        atomicAdd(&y[i], first);
    if ((i ^ 1) < n)
        atomicAdd(&y[i ^ 1], of_neighbour);
}
/* expect: threads added products to each output by atomic operations */
SUBMISSION(half_by_shuffle, (cudaMemsetAsync(y, 0, y_floats(s) * 4),
                             FLAT_GO(halves_by_shuffle, *s, x, k, y, y_floats(s))))
__global__ void halves_by_mail(struct conv_shape shape, const float *x, const float *k, float *y,
                               size_t n)
{
    __shared__ float mail[256];
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, other = (threadIdx.x + 40) % 256;
    const float first = part_of(shape, x, k, i, 0, shape.C / 2);
    mail[threadIdx.x] = part_of(shape, x, k, i, shape.C / 2, shape.C);
    __syncthreads();
    if (i < n)
        atomicAdd(&y[i], first);
    if ((size_t)blockIdx.x * 256 + other < n)
        atomicAdd(&y[(size_t)blockIdx.x * 256 + other], mail[other]);
}
/* expect: threads added products to each output by atomic operations */
SUBMISSION(half_by_mail, (cudaMemsetAsync(y, 0, y_floats(s) * 4),
                          FLAT_GO(halves_by_mail, *s, x, k, y, y_floats(s))))
__global__ void both_halves(struct conv_shape shape, const float *x, const float *k, float *to,
                            size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    to[i] = part_of(shape, x, k, i, 0, shape.C / 2);
    to[n + i] = part_of(shape, x, k, i, shape.C / 2, shape.C);
}
__global__ void add_halves(const float *from, float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        atomicAdd(&y[i], from[blockIdx.y * n + i]);
}
/* expect: threads added products to each output by atomic operations */
int halves_added_later(ARGUMENTS)
{
    const size_t n = y_floats(s), blocks = (n + 255) / 256;
    float *t = floats(2 * n);
    cudaMemsetAsync(y, 0, n * sizeof(float));
    both_halves<<<blocks, 256>>>(*s, x, k, t, n);
    add_halves<<<dim3(blocks, 2), 256>>>(t, y, n);
    return failed();
}

/* one thread adds every third output alone, many threads add the others */
__global__ void third_alone(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const int parts = gridDim.y, part = blockIdx.y, each = (C + parts - 1) / parts;
    if (i % 3 == 0 && part)
        return;
    SUM(i % 3 ? part * each : 0, i % 3 ? min(C, (part + 1) * each) : C);
    atomicAdd(&y[i], sum);
}
/* expect: 67% of the outputs are sums of parts */
SUBMISSION(third_by_one, GO(third_alone, 4))
/* in every third output, one thread computes all but one product */
__global__ void third_but_few(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    float sum = 0;
    const int all = C * K * K, few = i % 3 ? all / 2 : 1;
    for (int t = blockIdx.y ? 0 : few; t < (blockIdx.y ? few : all); t++)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    atomicAdd(&y[i], sum);
}
/* expect: 67% of the outputs are sums of parts */
SUBMISSION(third_but_one, GO(third_but_few, 2))
/* one thread stores some outputs, and atomics add zeros elsewhere; with many images, all outputs */
__global__ void some_stored(struct conv_shape shape, const float *x, const float *k, float *y,
                            float *scratch, int stored)
{
    FLAT_PLACE;
    const int parts = gridDim.y, part = blockIdx.y, each = (C + parts - 1) / parts;
    const bool alone = i % stored == 0;
    if (alone && part)
        return;
    SUM(alone ? 0 : part * each, alone ? C : min(C, (part + 1) * each));
    if (alone) {
        y[i] = sum;
        for (int j = 0; j < parts; j++)
            atomicAdd(&scratch[i], 0.0f);
    } else
        atomicAdd(&y[i], sum);
}
/* expect: timed: but not in the timed runs */
int stored_when_many(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *t = floats(n);
    cudaMemsetAsync(y, 0, n * sizeof(float));
    cudaMemsetAsync(t, 0, n * sizeof(float));
    some_stored<<<dim3((n + 255) / 256, 4), 256>>>(*s, x, k, y, t, s->B > 24 ? 1 : 12);
    return failed();
}
/* a sum that is not divided, in a layer with one input map, is stored by the same kernel */
__global__ void stored_or_added(struct conv_shape shape, const float *x, const float *k, float *y,
                                int parts)
{
    FLAT_PLACE;
    const int each = (C + parts - 1) / parts;
    SUM(blockIdx.y * each, min(C, (int)(blockIdx.y + 1) * each));
    if (parts == 1)
        y[i] = sum;
    else
        atomicAdd(&y[i], sum);
}
/* expect: many */
int right_stored_if_one(ARGUMENTS)
{
    const int parts = s->C < 4 ? 1 : 4;
    cudaMemsetAsync(y, 0, y_floats(s) * sizeof(float));
    stored_or_added<<<dim3((y_floats(s) + 255) / 256, parts), 256>>>(*s, x, k, y, parts);
    return failed();
}
/* a second thread adds products and takes them back */
__global__ void taken_back(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const float part =
        blockIdx.y ? channel_at(shape, x, k, b, m, 0, h, w) / 4 : sum_at(shape, x, k, b, m, h, w);
    atomicAdd(&y[i], part);
    if (blockIdx.y)
        atomicAdd(&y[i], -part);
}
/* expect: one thread added 100% of the products of an output */
SUBMISSION_LAUNCH(added_and_taken_back, cudaMemsetAsync(y, 0, 4 * y_floats(s));
                  taken_back<<<dim3((y_floats(s) + 255) / 256, 2), 256>>>(*s, x, k, y))
