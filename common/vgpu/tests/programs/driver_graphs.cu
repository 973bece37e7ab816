// Graphs of the driver API: built node by node, captured from a stream, changed, and copied; and
// values that streams write and wait for.
#include "vgpu/tests/driver.cuh"

const int N = 64;
static CUfunction scale, offset;
static const char *const text = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 p, .param .u32 by)
{
    .reg .b64 %a<4>;
    .reg .b32 %r<6>;
    ld.param.u64 %a1, [p];
    ld.param.u32 %r1, [by];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %a2, %r2, 4;
    add.s64 %a1, %a1, %a2;
    ld.global.u32 %r3, [%a1];
    mul.lo.s32 %r3, %r3, %r1;
    st.global.u32 [%a1], %r3;
    ret;
}
.visible .entry offset(.param .u64 p, .param .u32 by)
{
    .reg .b64 %a<4>;
    .reg .b32 %r<6>;
    ld.param.u64 %a1, [p];
    ld.param.u32 %r1, [by];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %a2, %r2, 4;
    add.s64 %a1, %a1, %a2;
    ld.global.u32 %r3, [%a1];
    add.s32 %r3, %r3, %r1;
    st.global.u32 [%a1], %r3;
    ret;
}
)";

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, void **parameters)
{
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = f;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
    p.blockDimX = N;
    p.kernelParams = parameters;
    return p;
}

static CUDA_MEMCPY3D copy_to(int *host, CUdeviceptr from)
{
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = from;
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = host;
    c.WidthInBytes = N * sizeof(int);
    c.Height = c.Depth = 1;
    return c;
}

static void CUDA_CB count(void *p)
{
    ++*(int *)p;
}

static bool all(const int *a, int value)
{
    for (int i = 0; i < N; i++)
        if (a[i] != value)
            return false;
    return true;
}

// memory = 5, times 3, plus 4; then copied to the host, and counted
static void built(CUcontext context, CUdeviceptr p, CUstream stream)
{
    CUgraph graph, clone;
    CUgraphNode fill, times, plus, copy, host, found, nodes[8];
    CUgraphExec exec;
    int by = 3, add = 4, got[N], calls = 0;
    void *of_times[] = {&p, &by}, *of_plus[] = {&p, &add};
    CUDA_MEMSET_NODE_PARAMS five = {};
    five.dst = p, five.value = 5, five.elementSize = 4, five.width = N, five.height = 1;
    const CUDA_KERNEL_NODE_PARAMS first = kernel(scale, of_times), second = kernel(offset, of_plus);
    const CUDA_MEMCPY3D back = copy_to(got, p);
    const CUDA_HOST_NODE_PARAMS counts = {count, &calls};
    DO(cuGraphCreate, &graph, 0);
    DO(cuGraphAddMemsetNode, &fill, graph, NULL, 0, &five, context);
    DO(cuGraphAddKernelNode, &times, graph, &fill, 1, &first);
    DO(cuGraphAddKernelNode, &plus, graph, &times, 1, &second);
    DO(cuGraphAddMemcpyNode, &copy, graph, &plus, 1, &back, context);
    DO(cuGraphAddHostNode, &host, graph, NULL, 0, &counts);
    DO(cuGraphAddDependencies, graph, &copy, &host, NULL, 1);
    size_t n = 8, edges = 0;
    DO(cuGraphGetNodes, graph, nodes, &n);
    DO(cuGraphGetEdges, graph, NULL, NULL, NULL, &edges);
    EXPECT(n == 5 && edges == 4);
    CUgraphNodeType type;
    DO(cuGraphNodeGetType, times, &type);
    EXPECT(type == CU_GRAPH_NODE_TYPE_KERNEL);
    DO(cuGraphClone, &clone, graph);
    DO(cuGraphNodeFindInClone, &found, times, clone);
    DO(cuGraphInstantiate, &exec, graph, 0);
    DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
    EXPECT(all(got, 19) && calls == 1);

    by = 10; // the graph has a copy of the parameter
    DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
    EXPECT(all(got, 19));
    DO(cuGraphExecKernelNodeSetParams, exec, times, &first);
    DO(cuGraphNodeSetEnabled, exec, plus, 0);
    DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
    EXPECT(all(got, 50) && calls == 3);
    DO(cuGraphExecDestroy, exec);

    CUDA_KERNEL_NODE_PARAMS read;
    DO(cuGraphKernelNodeGetParams, found, &read);
    EXPECT(read.func == scale && read.blockDimX == N && *(int *)read.kernelParams[1] == 3);
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {};
    DO(cuGraphInstantiateWithParams, &exec, clone, &how);
    EXPECT(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
    EXPECT(all(got, 19));
    DO(cuGraphExecDestroy, exec);
    DO(cuGraphDestroy, clone);
    DO(cuGraphDestroy, graph);
}

static void captured(CUdeviceptr p, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    int by = 2, add = 1, got[N];
    void *of_times[] = {&p, &by}, *of_plus[] = {&p, &add};
    DO(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DO(cuLaunchKernel, scale, 1, 1, 1, N, 1, 1, 0, stream, of_times, NULL);
    DO(cuStreamIsCapturing, stream, &status);
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    size_t n = 0;
    cuuint64_t id = 0;
    DO(cuStreamGetCaptureInfo, stream, &status, &id, NULL, NULL, NULL, &n);
    EXPECT(n == 1);
    DO(cuLaunchKernel, offset, 1, 1, 1, N, 1, 1, 0, stream, of_plus, NULL);
    DO(cuStreamEndCapture, stream, &graph);
    DO(cuGraphInstantiate, &exec, graph, 0);
    DO(cuMemsetD32, p, 1, N);
    for (int i = 0; i < 3; i++)
        DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
    DO(cuMemcpyDtoH, got, p, sizeof got);
    EXPECT(all(got, 15));
    DO(cuGraphExecDestroy, exec);
    DO(cuGraphDestroy, graph);
}

static void values(CUdeviceptr p, CUstream stream, CUstream other)
{
    int got[4];
    DO(cuMemsetD32, p, 0, N);
    DO(cuStreamWriteValue32, stream, p, 7, 0);
    DO(cuStreamWriteValue64, stream, p + 8, 0x100000002, 0);
    DO(cuStreamWaitValue32, other, p, 6, CU_STREAM_WAIT_VALUE_GEQ);
    DO(cuStreamWaitValue64, other, p + 8, 0x100000000, CU_STREAM_WAIT_VALUE_AND);
    DO(cuStreamSynchronize, other);
    DO(cuMemcpyDtoH, got, p, sizeof got);
    EXPECT(got[0] == 7 && got[1] == 0 && got[2] == 2 && got[3] == 1);
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr p;
    CUstream stream, other;
    DO(cuInit, 0);
    DO(cuDeviceGet, &device, 0);
    DO(cuDevicePrimaryCtxRetain, &context, device);
    DO(cuCtxSetCurrent, context);
    DO(cuModuleLoadData, &module, text);
    DO(cuModuleGetFunction, &scale, module, "scale");
    DO(cuModuleGetFunction, &offset, module, "offset");
    DO(cuMemAlloc, &p, N * sizeof(int));
    DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    DO(cuStreamCreate, &other, CU_STREAM_NON_BLOCKING);
    built(context, p, stream);
    captured(p, stream);
    values(p, stream, other);
    DO(cuMemFree, p);
    printf("PASS driver_graphs\n");
    return 0;
}
