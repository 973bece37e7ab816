/** @file
 * m5 with NVIDIA's matrix multiply: an unroll kernel, then cublasSgemmStridedBatched() for several
 * images at a time. docs/variants.md compares this variant with m5. On the virtual GPU, its result
 * is right, but its time is not that of cuBLAS.
 */
#include "conv.h"

#include <cublas_v2.h>

#define BLK         256
#define SCRATCH_MAX ((size_t)1 << 30) /* bytes of unrolled input that exist at one time */

/** u[b][r][pixel] = x at row r = (c, p, q) of the window of that pixel, for n elements of u. */
__global__ void unroll_images(struct conv_shape s, const float *x, float *u, size_t n)
{
    const size_t W_out = s.W - s.K + 1, pixels = (s.H - s.K + 1) * W_out, K = s.K;
    const size_t i = blockIdx.x * (size_t)BLK + threadIdx.x, rows = s.C * K * K;
    if (i >= n)
        return;
    const size_t pixel = i % pixels, r = i / pixels % rows, b = i / pixels / rows;
    const size_t c = r / (K * K), p = r / K % K, q = r % K;
    u[i] = x[((b * s.C + c) * s.H + pixel / W_out + p) * s.W + pixel % W_out + q];
}

/** Creates the handle on the first call, which is not timed. @return NULL on failure */
static cublasHandle_t the_handle(void)
{
    static cublasHandle_t handle;
    return handle || cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS ? handle : NULL;
}

extern "C" int cublas(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t pixels = (size_t)(s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t rows = (size_t)s->C * s->K * s->K, image = rows * pixels;
    size_t images = SCRATCH_MAX / (image * sizeof(float));
    images = images < 1 ? 1 : images < (size_t)s->B ? images : (size_t)s->B;
    float *u = (float *)conv_workspace(images * image * sizeof *u);
    const float one = 1, zero = 0;
    if (!u || !the_handle())
        return 1;
    for (size_t b = 0; b < (size_t)s->B; b += images) {
        const size_t now = images < s->B - b ? images : s->B - b, n = now * image;
        unroll_images<<<(unsigned)((n + BLK - 1) / BLK), BLK>>>(*s, x + b * s->C * s->H * s->W, u,
                                                                n);
        /* Column-major, as in cuBLAS: y[b] (pixels x M) = u[b] (pixels x rows) * k (rows x M). */
        if (cublasSgemmStridedBatched(
                the_handle(), CUBLAS_OP_N, CUBLAS_OP_N, (int)pixels, s->M, (int)rows, &one, u,
                (int)pixels, (long long)image, k, (int)rows, 0, &zero, y + b * s->M * pixels,
                (int)pixels, (long long)(s->M * pixels), (int)now) != CUBLAS_STATUS_SUCCESS)
            return 1;
    }
    return cudaGetLastError() != cudaSuccess;
}
