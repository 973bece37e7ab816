// The rest of the driver's graphs: nodes of all kinds, read, changed and removed, before and after a graph is instantiated.
#include "vgpu/tests/driver.cuh"

const int N = 64;
static CUcontext context;
static CUfunction offset;
static CUstream stream;
static const char *const text = R"(
.version 7.0
.target sm_75
.address_size 64
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

static CUDA_KERNEL_NODE_PARAMS kernel(void **parameters)
{
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = offset;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
    p.blockDimX = N;
    p.kernelParams = parameters;
    return p;
}

static CUDA_MEMSET_NODE_PARAMS fill(CUdeviceptr p, unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS f = {};
    f.dst = p, f.value = value, f.elementSize = 4, f.width = N, f.height = 1;
    return f;
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

static void run(CUgraphExec exec)
{
    DO(cuGraphUpload, exec, stream);
    DO(cuGraphLaunch, exec, stream);
    DO(cuStreamSynchronize, stream);
}

static bool all(const int *a, int value)
{
    for (int i = 0; i < N; i++)
        if (a[i] != value)
            return false;
    return true;
}

// fill -> plus -> copy -> host
struct chain {
    CUgraph graph;
    CUgraphNode fill, plus, copy, host;
};

static struct chain chain_new(CUdeviceptr p, int *got, unsigned value, int add, int *calls)
{
    struct chain c;
    void *of_plus[] = {&p, &add};
    const CUDA_MEMSET_NODE_PARAMS f = fill(p, value);
    const CUDA_KERNEL_NODE_PARAMS k = kernel(of_plus);
    const CUDA_MEMCPY3D m = copy_to(got, p);
    const CUDA_HOST_NODE_PARAMS h = {count, calls};
    DO(cuGraphCreate, &c.graph, 0);
    DO(cuGraphAddMemsetNode, &c.fill, c.graph, NULL, 0, &f, context);
    DO(cuGraphAddKernelNode, &c.plus, c.graph, &c.fill, 1, &k);
    DO(cuGraphAddMemcpyNode, &c.copy, c.graph, &c.plus, 1, &m, context);
    DO(cuGraphAddHostNode, &c.host, c.graph, &c.copy, 1, &h);
    return c;
}

static void nodes_changed(CUdeviceptr p)
{
    int got[N], other[N], calls = 0, more = 0, add = 7;
    struct chain c = chain_new(p, got, 5, 1, &calls);
    size_t n = 1;
    CUgraphNode root, next;
    DO(cuGraphGetRootNodes, c.graph, &root, &n);
    EXPECT(n == 1 && root == c.fill);
    DO(cuGraphNodeGetDependencies, c.plus, &next, NULL, &n);
    EXPECT(n == 1 && next == c.fill);
    DO(cuGraphNodeGetDependentNodes, c.plus, &next, NULL, &n);
    EXPECT(n == 1 && next == c.copy);
    CUDA_HOST_NODE_PARAMS read;
    DO(cuGraphHostNodeGetParams, c.host, &read);
    EXPECT(read.fn == count && read.userData == &calls);

    CUgraphExec exec;
    cuuint64_t flags = 1;
    DO(cuGraphInstantiate, &exec, c.graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    DO(cuGraphExecGetFlags, exec, &flags);
    EXPECT(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    run(exec);
    EXPECT(all(got, 6) && calls == 1);

    // the instantiated graph alone
    const CUDA_MEMSET_NODE_PARAMS eight = fill(p, 8);
    const CUDA_MEMCPY3D to_other = copy_to(other, p);
    const CUDA_HOST_NODE_PARAMS counts_more = {count, &more};
    DO(cuGraphExecMemsetNodeSetParams, exec, c.fill, &eight, context);
    DO(cuGraphExecMemcpyNodeSetParams, exec, c.copy, &to_other, context);
    DO(cuGraphExecHostNodeSetParams, exec, c.host, &counts_more);
    run(exec);
    EXPECT(all(other, 9) && all(got, 6) && calls == 1 && more == 1);
    unsigned enabled = 0;
    DO(cuGraphNodeGetEnabled, exec, c.plus, &enabled);
    EXPECT(enabled == 1);

    // the graph, and then the instantiated graph from it
    void *of_plus[] = {&p, &add};
    const CUDA_KERNEL_NODE_PARAMS seven = kernel(of_plus);
    DO(cuGraphKernelNodeSetParams, c.plus, &seven);
    DO(cuGraphMemsetNodeSetParams, c.fill, &eight);
    DO(cuGraphMemcpyNodeSetParams, c.copy, &to_other);
    DO(cuGraphHostNodeSetParams, c.host, &counts_more);
    CUgraphExecUpdateResultInfo info;
    DO(cuGraphExecUpdate, exec, c.graph, &info);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    run(exec);
    EXPECT(all(other, 15) && more == 2);
    DO(cuGraphExecDestroy, exec);

    // without the host's node, and without the order of the copy after the kernel, but after the fill
    DO(cuGraphDestroyNode, c.host);
    DO(cuGraphRemoveDependencies, c.graph, &c.plus, &c.copy, NULL, 1);
    DO(cuGraphAddDependencies, c.graph, &c.copy, &c.plus, NULL, 1);
    DO(cuGraphAddDependencies, c.graph, &c.fill, &c.copy, NULL, 1);
    DO(cuGraphInstantiate, &exec, c.graph, 0);
    run(exec);
    EXPECT(all(other, 8) && more == 2);
    DO(cuGraphExecDestroy, exec);
    DO(cuGraphDestroy, c.graph);
}

static void children(CUdeviceptr p)
{
    int got[N], calls = 0;
    struct chain small = chain_new(p, got, 2, 1, &calls), large = chain_new(p, got, 2, 5, &calls);
    CUgraph graph, inside;
    CUgraphNode begin, child, end, node;
    CUgraphExec exec;
    CUevent event;
    size_t n = 0;
    DO(cuEventCreate, &event, 0);
    DO(cuGraphCreate, &graph, 0);
    DO(cuGraphAddEmptyNode, &begin, graph, NULL, 0);
    DO(cuGraphAddChildGraphNode, &child, graph, &begin, 1, small.graph);
    DO(cuGraphChildGraphNodeGetGraph, child, &inside);
    DO(cuGraphGetNodes, inside, NULL, &n);
    EXPECT(n == 4);
    DO(cuGraphAddEventRecordNode, &end, graph, &child, 1, event);
    DO(cuGraphAddEventWaitNode, &node, graph, &end, 1, event);
    DO(cuGraphInstantiate, &exec, graph, 0);
    run(exec);
    EXPECT(all(got, 3) && calls == 1);
    DO(cuEventSynchronize, event);
    DO(cuGraphExecChildGraphNodeSetParams, exec, child, large.graph);
    run(exec);
    EXPECT(all(got, 7) && calls == 2);
    DO(cuGraphExecDestroy, exec);
    DO(cuGraphDestroy, graph);
    DO(cuGraphDestroy, small.graph);
    DO(cuGraphDestroy, large.graph);
    DO(cuEventDestroy, event);
}

// Memory of a graph's own, and nodes that are added by their general form.
static void memory(void)
{
    int got[N], add = 3;
    CUgraph graph;
    CUgraphNode take, plus, copy, give, set;
    CUgraphExec exec;
    CUDA_MEM_ALLOC_NODE_PARAMS a = {};
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytesize = N * sizeof(int);
    DO(cuGraphCreate, &graph, 0);
    DO(cuGraphAddMemAllocNode, &take, graph, NULL, 0, &a);
    CUgraphNodeParams f = {};
    f.type = CU_GRAPH_NODE_TYPE_MEMSET;
    f.memset.dst = a.dptr, f.memset.value = 4, f.memset.elementSize = 4;
    f.memset.width = N, f.memset.height = 1, f.memset.ctx = context;
    DO(cuGraphAddNode, &set, graph, &take, NULL, 1, &f);
    void *of_plus[] = {&a.dptr, &add};
    const CUDA_KERNEL_NODE_PARAMS k = kernel(of_plus);
    DO(cuGraphAddKernelNode, &plus, graph, &set, 1, &k);
    const CUDA_MEMCPY3D m = copy_to(got, a.dptr);
    DO(cuGraphAddMemcpyNode, &copy, graph, &plus, 1, &m, context);
    DO(cuGraphAddMemFreeNode, &give, graph, &copy, 1, a.dptr);
    DO(cuGraphInstantiate, &exec, graph, 0);
    run(exec);
    EXPECT(all(got, 7));
    f.memset.value = 6;
    DO(cuGraphExecNodeSetParams, exec, set, &f);
    run(exec);
    EXPECT(all(got, 9));
    DO(cuGraphExecDestroy, exec);
    DO(cuGraphDestroy, graph);
}

int main()
{
    CUdevice device;
    CUmodule module;
    CUdeviceptr p;
    DO(cuInit, 0);
    DO(cuDeviceGet, &device, 0);
    DO(cuDevicePrimaryCtxRetain, &context, device);
    DO(cuCtxSetCurrent, context);
    DO(cuModuleLoadData, &module, text);
    DO(cuModuleGetFunction, &offset, module, "offset");
    DO(cuMemAlloc, &p, N * sizeof(int));
    DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    nodes_changed(p);
    children(p);
    memory();
    DO(cuMemFree, p);
    printf("PASS driver_graph_nodes\n");
    return 0;
}
