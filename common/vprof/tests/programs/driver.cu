// nvcc: -lcuda
// device: gpu
// expect: kernel=3 copy_htod=1 copy_dtoh=1 cuLaunchKernel=3 cuMemAlloc=1 cuModuleLoadData=1
// status=0
/* The driver's API alone: a kernel in PTX, loaded by hand. */
#include <cstdio>
#include <cuda.h>

static const char *ptx = ".version 7.0\n.target sm_75\n.address_size 64\n"
                         ".visible .entry twice(.param .u64 p) {\n"
                         ".reg .u64 %a<3>;\n.reg .u32 %t<3>;\n"
                         "ld.param.u64 %a0, [p];\ncvta.to.global.u64 %a0, %a0;\n"
                         "mov.u32 %t0, %tid.x;\nmul.wide.u32 %a1, %t0, 4;\nadd.u64 %a0, %a0, %a1;\n"
                         "ld.global.u32 %t1, [%a0];\nadd.u32 %t1, %t1, %t1;\n"
                         "st.global.u32 [%a0], %t1;\nret;\n}\n";

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s: error %d\n", #call, (int)result_);                                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr x;
    unsigned host[64];
    for (unsigned i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "twice"));
    CHECK(cuMemAlloc(&x, sizeof host));
    CHECK(cuMemcpyHtoD(x, host, sizeof host));
    void *arguments[] = {&x};
    for (int i = 0; i < 3; i++)
        CHECK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, 0, arguments, NULL));
    CHECK(cuMemcpyDtoH(host, x, sizeof host));
    for (unsigned i = 0; i < 64; i++)
        if (host[i] != 8 * i)
            return 1;
    CHECK(cuMemFree(x));
    return 0;
}
