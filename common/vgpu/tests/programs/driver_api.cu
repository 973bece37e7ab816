// The driver API: contexts, modules from PTX text, all forms of a launch, linking, fills and
// copies, attributes of pointers and functions; then with the runtime. Functions are looked up
// by name, as most programs do.
// nvcc: -Wno-deprecated-declarations
#include "vgpu/tests/driver.cuh"

// y[i] = factor * x[i] + y[i]
static const char axpy[] = R"(
.version 8.0
.target sm_75
.address_size 64
.global .align 4 .f32 factor = 0f40000000;
.visible .entry axpy(.param .u64 y, .param .u64 x, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [y];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 ret;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [factor];
    fma.rn.f32 %f4, %f3, %f1, %f2;
    st.global.f32 [%rd4], %f4;
    ret;
}
)";

static const char caller[] = R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 to) twice(.param .b32 of);
.visible .entry all_twice(.param .u64 y)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r1, [%rd3];
    {
        .param .b32 of;
        .param .b32 to;
        st.param.b32 [of], %r1;
        call.uni (to), twice, (of);
        ld.param.b32 %r2, [to];
    }
    st.global.u32 [%rd3], %r2;
    ret;
}
)";

static const char called[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 to) twice(.param .b32 of)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [of];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [to], %r2;
    ret;
}
)";

enum { N = 1000, THREADS = 128 };

// All three forms of launches in one stream: the first adds 2 x to y; then the variable is 3, and
// each launch adds 3 x.
static std::vector<float> run_axpy(CUmodule module)
{
    CUfunction f;
    CUdeviceptr x, y, factor;
    CUstream stream;
    CUevent from, to;
    size_t bytes = 0;
    float host_x[N], host_y[N], factor_value = 3, ms = -1;
    Random random(1);
    for (int i = 0; i < N; i++) {
        host_x[i] = random.exact();
        host_y[i] = random.exact();
    }
    DO(cuModuleGetFunction, &f, module, "axpy");
    DO(cuModuleGetGlobal, &factor, &bytes, module, "factor");
    EXPECT(bytes == sizeof factor_value);
    DO(cuMemAlloc, &x, sizeof host_x);
    DO(cuMemAlloc, &y, sizeof host_y);
    DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    DO(cuEventCreate, &from, CU_EVENT_DEFAULT);
    DO(cuEventCreate, &to, CU_EVENT_DEFAULT);
    DO(cuMemcpyHtoDAsync, x, host_x, sizeof host_x, stream);
    DO(cuMemcpyHtoDAsync, y, host_y, sizeof host_y, stream);
    unsigned n = N;
    void *parameters[] = {&y, &x, &n};
    DO(cuEventRecord, from, stream);
    DO(cuLaunchKernel, f, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, stream, parameters,
       NULL);
    DO(cuEventRecord, to, stream);
    DO(cuStreamSynchronize, stream);
    DO(cuMemcpyHtoD, factor, &factor_value, sizeof factor_value);
    struct {
        CUdeviceptr y, x;
        unsigned n;
    } buffer = {y, x, N};
    bytes = 20;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    DO(cuLaunchKernel, f, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, stream, NULL, extra);
    DO(cuFuncSetBlockShape, f, THREADS, 1, 1);
    DO(cuParamSetSize, f, 20);
    DO(cuParamSetv, f, 0, &buffer, 16);
    DO(cuParamSeti, f, 16, N);
    DO(cuLaunchGridAsync, f, (N + THREADS - 1) / THREADS, 1, stream);
    DO(cuStreamSynchronize, stream);
    DO(cuEventElapsedTime, &ms, from, to);
    EXPECT(ms > 0 && ms < 1000);
    std::vector<float> got(N);
    DO(cuMemcpyDtoH, got.data(), y, N * sizeof(float));
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == host_y[i] + 8 * host_x[i]);
    DO(cuMemFree, x);
    DO(cuMemFree, y);
    DO(cuEventDestroy, from);
    DO(cuEventDestroy, to);
    DO(cuStreamDestroy, stream);
    return got;
}

static void facts(CUmodule module)
{
    CUfunction f, none;
    int value = 0, grid = 0, block = 0;
    DO(cuModuleGetFunction, &f, module, "axpy");
    DO(cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    EXPECT(value == 1024);
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor, &value, f, THREADS, 0);
    EXPECT(value >= 8);
    DO(cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 0, 0);
    EXPECT(grid > 0 && block % 32 == 0);
    EXPECT(RESULT(cuModuleGetFunction, &none, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    EXPECT(RESULT(cuLaunchKernel, f, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL) ==
           CUDA_ERROR_INVALID_VALUE);

    CUdeviceptr p, base;
    size_t bytes;
    unsigned type = 0;
    DO(cuMemAlloc, &p, 4096);
    DO(cuMemGetAddressRange, &base, &bytes, p + 100);
    EXPECT(base == p && bytes == 4096);
    DO(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    DO(cuMemFree, p);
}

static void link_two(void)
{
    CUlinkState state;
    CUmodule module;
    CUfunction f;
    CUdeviceptr y;
    void *cubin;
    size_t bytes;
    int values[32];
    DO(cuLinkCreate, 0, NULL, NULL, &state);
    DO(cuLinkAddData, state, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL,
       NULL);
    DO(cuLinkAddData, state, CU_JIT_INPUT_PTX, (void *)called, sizeof called, "called", 0, NULL,
       NULL);
    DO(cuLinkComplete, state, &cubin, &bytes);
    DO(cuModuleLoadData, &module, cubin);
    DO(cuLinkDestroy, state);
    DO(cuModuleGetFunction, &f, module, "all_twice");
    DO(cuMemAlloc, &y, sizeof values);
    DO(cuMemsetD32, y, 0x01020304, 32);
    void *parameters[] = {&y};
    DO(cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
    DO(cuMemcpyDtoH, values, y, sizeof values);
    for (int i = 0; i < 32; i++)
        EXPECT(values[i] == 0x02040608);
    DO(cuMemFree, y);
    DO(cuModuleUnload, module);
}

static void fills_and_rows(void)
{
    CUdeviceptr p;
    size_t pitch;
    unsigned short host[4][8] = {{0}};
    DO(cuMemAllocPitch, &p, &pitch, sizeof host[0], 4, 4);
    DO(cuMemsetD2D8, p, pitch, 0x11, sizeof host[0], 4);
    DO(cuMemsetD2D16, p + 4, pitch, 0x1234, 3, 2);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = p;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = sizeof host[0];
    copy.WidthInBytes = sizeof host[0];
    copy.Height = 4;
    DO(cuMemcpy2D, &copy);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            EXPECT(host[y][x] == (y < 2 && x >= 2 && x < 5 ? 0x1234 : 0x1111));
    DO(cuMemFree, p);
}

// A driver call that fails does not change the runtime's last error.
static void refused(void)
{
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    char log[1024] = "";
    void *values[] = {log, (void *)sizeof log};
    EXPECT(RESULT(cuModuleLoadDataEx, &module,
                  ".version 8.0\n.target sm_75\n.address_size 64\nnonsense;\n", 2, options,
                  values) == CUDA_ERROR_INVALID_PTX);
    EXPECT(log[0] != '\0');
    EXPECT(RESULT(cuMemAlloc, NULL, 16) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(RESULT(cuModuleLoad, &module, "/nonexistent.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
}

// The runtime works in the device's primary context.
static void with_runtime(void)
{
    CUcontext before = NULL, primary = NULL, now = NULL;
    int *p, value = 42, got = 0;
    DO(cuCtxGetCurrent, &before);
    EXPECT(before == NULL);
    CHECK(cudaMalloc(&p, sizeof *p));
    DO(cuCtxGetCurrent, &now);
    DO(cuDevicePrimaryCtxRetain, &primary, 0);
    EXPECT(now == primary && now != NULL);
    DO(cuMemcpyHtoD, (CUdeviceptr)p, &value, sizeof value);
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 42);
    CHECK(cudaFree(p));
    DO(cuDevicePrimaryCtxRelease, 0);
}

int main()
{
    CUdevice device;
    CUcontext context, now;
    CUmodule module;
    char name[64];
    int n = 0, major = 0;
    EXPECT(RESULT(cuDeviceGetCount, &n) == CUDA_ERROR_NOT_INITIALIZED);
    DO(cuInit, 0);
    DO(cuDeviceGetCount, &n);
    EXPECT(n >= 1);
    DO(cuDeviceGet, &device, 0);
    DO(cuDeviceGetName, name, sizeof name, device);
    DO(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    EXPECT(name[0] && major >= 7);
    void *found = NULL; // the names of versions are not known
    EXPECT(RESULT(cuGetProcAddress, "cuMemFree_v2", &found, CUDA_VERSION, 0, NULL) ||
           found == NULL);
    EXPECT(RESULT(cuModuleLoadData, &module, axpy) == CUDA_ERROR_INVALID_CONTEXT);
#if CUDA_VERSION >= 13000
    CUctxCreateParams nothing = {};
    DO(cuCtxCreate, &context, &nothing, 0, device); // as NVIDIA's samples do
    DO(cuCtxDestroy, context);
    DO(cuCtxCreate, &context, NULL, 0, device);
#else // the headers declare version 2, but look-up by name finds version 3
    EXPECT(((decltype(&cuCtxCreate_v3))driver_function("cuCtxCreate"))(&context, NULL, 0, 0,
                                                                       device) == CUDA_SUCCESS);
#endif
    DO(cuCtxGetCurrent, &now);
    EXPECT(now == context);
    DO(cuModuleLoadData, &module, axpy);
    const std::vector<float> y = run_axpy(module);
    facts(module);
    link_two();
    fills_and_rows();
    refused();
    DO(cuModuleUnload, module);
    DO(cuCtxDestroy, context);
    with_runtime();
    return verdict("driver_api", true, y);
}
