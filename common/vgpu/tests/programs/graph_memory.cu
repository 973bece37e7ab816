// Memory that a graph allocates and frees: by nodes, by capture, freed outside the graph, freed by
// the next launch; operations that such graphs do not allow; the memory used by graphs.
#include "vgpu/tests/check.cuh"

__global__ void add(int *to, const int *from, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] + value;
}

// CUDA 12 declares these functions without edge data.
static cudaError_t add_node(cudaGraphNode_t *to, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t n, cudaGraphNodeParams *p)
{
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(to, graph, after, NULL, n, p);
#else
    return cudaGraphAddNode(to, graph, after, n, p);
#endif
}

const int N = 1000;

static cudaMemAllocNodeParams allocation(size_t bytes)
{
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = bytes;
    return p;
}

static uint64_t used(cudaGraphMemAttributeType which)
{
    uint64_t bytes = ~0ull;
    CHECK(cudaDeviceGetGraphMemAttribute(0, which, &bytes));
    return bytes;
}

static cudaGraphNodeParams kernel_node(void **arguments)
{
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = (void *)add;
    p.kernel.gridDim = dim3(8);
    p.kernel.blockDim = dim3(128);
    p.kernel.kernelParams = arguments;
    return p;
}

// from -> two temporary arrays -> out, each step a node of cudaGraphAddNode().
static bool by_nodes(std::vector<int> *all)
{
    std::vector<int> numbers(N), got(N);
    for (int i = 0; i < N; i++)
        numbers[i] = i * i;
    Device<int> from(numbers), out(N);
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t alloc[2], work[3], freed[2];
    int *p[2], n = N, one = 1, ten = 10, hundred = 100, *source = from, *target = out;
    for (int i = 0; i < 2; i++) {
        cudaMemAllocNodeParams a = allocation(N * sizeof(int));
        CHECK(cudaGraphAddMemAllocNode(&alloc[i], graph, i ? &alloc[0] : NULL, i, &a));
        p[i] = (int *)a.dptr;
    }
    EXPECT(p[0] && p[1] && p[0] != p[1] && used(cudaGraphMemAttrUsedMemCurrent) == 0);
    void *first[] = {&p[0], &source, &n, &one}, *second[] = {&p[1], &p[0], &n, &ten},
         *third[] = {&target, &p[1], &n, &hundred};
    void **arguments[] = {first, second, third};
    for (int i = 0; i < 3; i++) {
        cudaGraphNodeParams k = kernel_node(arguments[i]);
        CHECK(add_node(&work[i], graph, i ? &work[i - 1] : &alloc[1], 1, &k));
    }
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphAddMemFreeNode(&freed[i], graph, &work[i + 1], 1, p[i]));
    cudaGraphNode_t refused;
    EXPECT(cudaGraphAddMemFreeNode(&refused, graph, &work[2], 1, p[0]) ==
           cudaErrorInvalidValue); // twice
    EXPECT(cudaGraphAddMemFreeNode(&refused, graph, &work[2], 1, out.p) == cudaErrorInvalidValue);
    cudaGetLastError();
    cudaMemAllocNodeParams read = {};
    void *freed_pointer = NULL;
    CHECK(cudaGraphMemAllocNodeGetParams(alloc[1], &read));
    CHECK(cudaGraphMemFreeNodeGetParams(freed[0], &freed_pointer));
    EXPECT(read.dptr == p[1] && read.bytesize == N * sizeof(int) && freed_pointer == p[0]);

    // Only one instance at a time; clones and child graphs are not allowed.
    cudaGraphExec_t exec, other;
    cudaGraph_t clone, parent;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(cudaGraphInstantiate(&other, graph, 0) == cudaErrorNotSupported);
    EXPECT(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
    CHECK(cudaGraphCreate(&parent, 0));
    EXPECT(cudaGraphAddChildGraphNode(&refused, parent, NULL, 0, graph) == cudaErrorNotSupported);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    bool ok = true;
    for (int round = 0; round < 3; round++) {
        out.zero();
        CHECK(cudaGraphLaunch(exec, 0));
        CHECK(cudaDeviceSynchronize());
        got = out.host();
        for (int i = 0; i < N; i++)
            ok &= got[i] == i * i + 111;
    }
    // a GPU counts the memory as used until it is trimmed
    ok &= used(cudaGraphMemAttrUsedMemCurrent) == used(cudaGraphMemAttrReservedMemCurrent) &&
          used(cudaGraphMemAttrUsedMemHigh) >= 2 * N * sizeof(int) &&
          used(cudaGraphMemAttrReservedMemCurrent) >= used(cudaGraphMemAttrUsedMemHigh);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaDeviceGraphMemTrim(0));
    ok &=
        used(cudaGraphMemAttrUsedMemCurrent) == 0 && used(cudaGraphMemAttrReservedMemCurrent) == 0;
    uint64_t zero = 0;
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    ok &= used(cudaGraphMemAttrUsedMemHigh) == 0;
    all->insert(all->end(), got.begin(), got.end());
    return ok;
}

// A graph that allocates without freeing: the program frees the memory, or the next launch does.
static bool freed_outside(unsigned flags)
{
    std::vector<int> zeros(N, 0);
    Device<int> from(zeros);
    cudaGraph_t graph;
    cudaGraphNode_t node, work;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams a = allocation(N * sizeof(int));
    CHECK(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &a));
    int *p = (int *)a.dptr, *source = from, n = N, seven = 7;
    void *arguments[] = {&p, &source, &n, &seven};
    cudaGraphNodeParams k = kernel_node(arguments);
    EXPECT(add_node(NULL, graph, &node, 1, &k) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(add_node(&work, graph, &node, 1, &k));
    CHECK(cudaGraphInstantiate(&exec, graph, flags));
    CHECK(cudaGraphLaunch(exec, 0));
    Device<int> out(N);
    add<<<8, 128>>>(out, p, N, 1);
    LAUNCHED();
    bool ok = out.host()[N - 1] == 8 && used(cudaGraphMemAttrUsedMemCurrent) > 0;
    const bool frees = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    ok &= (cudaGraphLaunch(exec, 0) == cudaSuccess) == frees;
    cudaGetLastError();
    if (!frees) {
        CHECK(cudaFreeAsync(p, 0));
        CHECK(cudaGraphLaunch(exec, 0));
    }
    CHECK(cudaDeviceSynchronize());
    // ... and another graph's node.
    cudaGraph_t last;
    cudaGraphExec_t last_exec;
    CHECK(cudaGraphCreate(&last, 0));
    CHECK(cudaGraphAddMemFreeNode(&node, last, NULL, 0, p));
    CHECK(cudaGraphInstantiate(&last_exec, last, 0));
    CHECK(cudaGraphLaunch(last_exec, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(last_exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(last));
    CHECK(cudaDeviceGraphMemTrim(0));
    ok &= used(cudaGraphMemAttrUsedMemCurrent) == 0;
    return ok;
}

// cudaMallocAsync() and cudaFreeAsync() in a captured stream.
static bool by_capture(std::vector<int> *all)
{
    std::vector<int> numbers(N, 5), got(N);
    Device<int> from(numbers), out(N);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, N * sizeof(int), stream));
    add<<<8, 128, 0, stream>>>(p, from, N, 20);
    add<<<8, 128, 0, stream>>>(out, p, N, 300);
    CHECK(cudaFreeAsync(p, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    bool ok = p && nodes == 4;
    for (int round = 0; round < 2; round++) {
        out.zero();
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        got = out.host();
        for (int i = 0; i < N; i++)
            ok &= got[i] == 325;
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    all->insert(all->end(), got.begin(), got.end());
    return ok;
}

int main()
{
    std::vector<int> all;
    bool ok = by_nodes(&all);
    ok &= freed_outside(0) && freed_outside(cudaGraphInstantiateFlagAutoFreeOnLaunch);
    ok &= by_capture(&all);
    return verdict("graph_memory", ok, all);
}
