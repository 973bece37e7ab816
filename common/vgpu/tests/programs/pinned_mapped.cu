// Page-locked host memory that kernels read and write in place.
#include "vgpu/tests/check.cuh"

__global__ void work(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 3 + 1;
}

int main()
{
    const int n = 500;
    int *in, *out, *din, *dout;
    CHECK(cudaHostAlloc(&in, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&out, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&din, in, 0));
    CHECK(cudaHostGetDevicePointer(&dout, out, 0));
    for (int i = 0; i < n; i++)
        in[i] = i * i, out[i] = -1;
    work<<<4, 128>>>(din, dout, n);
    LAUNCHED();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= out[i] == i * i * 3 + 1;
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, in));
    ok &= attributes.type == cudaMemoryTypeHost && attributes.devicePointer == din;
    std::vector<int> plain(n), got(out, out + n);
    CHECK(cudaHostRegister(plain.data(), n * sizeof(int), cudaHostRegisterDefault));
    CHECK(cudaMemcpy(din, plain.data(), n * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaHostUnregister(plain.data()));
    ok &= in[7] == 0;
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return verdict("pinned_mapped", ok, got);
}
