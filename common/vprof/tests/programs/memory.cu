// expect: copy_htod=2 copy_dtoh=2 copy_dtod=2 memset=2 kernel=1 status=0
/* Copies of each direction, pinned and pageable, two-dimensional and to a symbol; fills; and
 * managed memory. */
#include "sample.cuh"

__device__ float table[64];

int main()
{
    const size_t bytes = 1 << 16;
    float *pageable = (float *)calloc(1, bytes), *pinned, *a, *b, *both;
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMallocManaged(&both, bytes));
    CHECK(cudaMemcpy(a, pageable, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, pinned, sizeof table));
    CHECK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2D(b, 256, a, 512, 128, 32, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(a, 1, bytes));
    CHECK(cudaMemset2D(b, 256, 2, 64, 16));
    for (size_t i = 0; i < bytes / sizeof *both; i++)
        both[i] = 3;
    scale<<<64, 256>>>(both, bytes / sizeof *both, 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(pageable, a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pinned, b, bytes, cudaMemcpyDeviceToHost));
    return both[0] != 7;
}
