// expect: copy_htod=2 copy_dtoh=1 memset=1 kernel=2 cudaMemcpy3D=2 cudaMemset3D=1 status=0
// device: virtual
/* A copy or fill of a whole volume is one activity; a copy or fill of a part of it is one call. The
 * virtual GPU's own copies of a managed variable are not recorded as the program's. */
#include "sample.cuh"

__managed__ int done;

__global__ void finish(char *volume, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        volume[i] += 1;
    if (i == 0)
        done++;
}

int main()
{
    const cudaExtent all = make_cudaExtent(512, 8, 4);
    char *host = (char *)calloc(512, 8 * 4), got[512];
    cudaPitchedPtr device;
    CHECK(cudaMalloc3D(&device, all));
    CHECK(cudaMemset3D(device, 3, all));
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(host, 512, 512, 8);
    copy.dstPtr = device;
    copy.kind = cudaMemcpyHostToDevice;
    copy.extent = make_cudaExtent(512, 8, 2); /* the first two slices */
    CHECK(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(512, 4, 1); /* half of one slice */
    CHECK(cudaMemcpy3D(&copy));
    for (int i = 0; i < 2; i++)
        finish<<<64, 256>>>((char *)device.ptr, 512 * 8 * 4);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, (char *)device.ptr + 512 * 8 * 2, sizeof got, cudaMemcpyDeviceToHost));
    return done != 2 || got[511] != 5;
}
