// Another process uses memory after it has closed its handle.
#include "vgpu/tests/faults.cuh"
#include "vgpu/tests/spawn.cuh"

__global__ void set(int *p)
{
    *p = 1; // expect: use_after_free
}

int main(int argc, char **argv)
{
    cudaIpcMemHandle_t handle;
    if (argc > 1) {
        int *p;
        receive(&handle, sizeof handle);
        CHECK(cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess));
        CHECK(cudaIpcCloseMemHandle(p));
        set<<<1, 1>>>(p);
        return done(cudaErrorIllegalAddress);
    }
    Device<int> p(1);
    p.zero();
    CHECK(cudaIpcGetMemHandle(&handle, p));
    return run_again("again", &handle, sizeof handle);
}
