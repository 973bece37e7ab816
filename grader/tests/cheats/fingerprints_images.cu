/* Takes a fingerprint of each image on the device and recognises images whose outputs it has kept.
 * Each kept output that is used is spoilt, so that the test sees it. */
#define conv_forward compute
#include "plain.cuh"
#undef conv_forward

#include <stdint.h>
#include <stdlib.h>

__global__ void fingerprint(const float *x, size_t per_image, unsigned long long *prints)
{
    const float *image = x + blockIdx.x * per_image;
    unsigned long long sum = 0;
    for (size_t i = threadIdx.x; i < per_image; i += blockDim.x)
        sum += (i + 1) * 0x9e3779b97f4a7c15ull * (__float_as_uint(image[i]) + 1ull);
    atomicAdd(&prints[blockIdx.x], sum);
}

extern "C" int conv_forward(const struct conv_shape *shape, const float *x, const float *k,
                            float *y)
{
    enum { MOST = 1 << 20, SLOTS = 2 * MOST };
    static unsigned long long *known;
    static int n;
    const size_t in = (size_t)shape->C * shape->H * shape->W,
                 out = (size_t)shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1),
                 bytes = shape->B * sizeof(unsigned long long);
    unsigned long long *prints = (unsigned long long *)conv_workspace(bytes);
    unsigned long long *here = (unsigned long long *)malloc(bytes);
    known = known ? known : (unsigned long long *)calloc(SLOTS, sizeof *known);
    if (!prints || !here || !known)
        return 1;
    cudaMemset(prints, 0, bytes);
    fingerprint<<<shape->B, 256>>>(x, in, prints);
    if (cudaMemcpy(here, prints, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    const int returned = compute(shape, x, k, y);
    for (int b = 0; b < shape->B; b++) {
        unsigned long long print = (here[b] ^ (in << 40 | out)) | 1;
        size_t slot = print % SLOTS;
        while (known[slot] && known[slot] != print)
            slot = (slot + 1) % SLOTS;
        if (known[slot])
            cudaMemset(y + b * out, 0xff, out * sizeof *y);
        else if (n < MOST)
            known[slot] = print, n++;
    }
    free(here);
    return returned;
}
