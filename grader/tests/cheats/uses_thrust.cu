/* A right submission that includes headers of the toolkit which load a profiler's library if it
 * exists. */
#include "conv.h"

#include <cub/block/block_reduce.cuh>
#include <thrust/device_ptr.h>
#include <thrust/fill.h>
#include <thrust/execution_policy.h>

__global__ void conv_reduce(struct conv_shape s, const float *x, const float *k, float *y)
{
    typedef cub::BlockReduce<float, 64> Reduce;
    __shared__ typename Reduce::TempStorage scratch;
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, terms = s.C * s.K * s.K;
    const size_t n = (size_t)s.B * s.M * H_out * W_out;
    for (size_t i = blockIdx.x; i < n; i += gridDim.x) {
        const size_t w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M;
        const size_t b = i / W_out / H_out / s.M;
        float sum = 0;
        for (int t = threadIdx.x; t < terms; t += blockDim.x) {
            const int q = t % s.K, p = t / s.K % s.K, c = t / s.K / s.K;
            sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                   k[((m * s.C + c) * s.K + p) * s.K + q];
        }
        sum = Reduce(scratch).Sum(sum);
        if (threadIdx.x == 0)
            y[i] += sum;
        __syncthreads();
    }
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const size_t n =
        (size_t)shape->B * shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    thrust::fill(thrust::device, thrust::device_pointer_cast(y), thrust::device_pointer_cast(y) + n,
                 0.0f);
    conv_reduce<<<1024, 64>>>(*shape, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
