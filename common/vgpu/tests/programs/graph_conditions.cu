// Graphs with conditions: if, else, while, switch, nested ones; set by a kernel, or by default.
#include "vgpu/tests/check.cuh"

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

// CUDA 12.4 has no name for it
const cudaGraphConditionalNodeType SWITCH = (cudaGraphConditionalNodeType)2;

__global__ void put(int *log, int value)
{
    log[1 + log[0]] = value;
    log[0]++;
}

// Counts down, and sets the condition while the count is not 0.
__global__ void count_down(int *left, cudaGraphConditionalHandle handle)
{
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0);
}

__global__ void choose(const int *which, cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, *which);
}

static cudaGraphNodeParams call(const void *kernel, void **arguments)
{
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = (void *)kernel;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = arguments;
    return p;
}

static cudaGraphNode_t add_put(cudaGraph_t graph, const cudaGraphNode_t *after, int *log, int value)
{
    void *arguments[] = {&log, &value};
    cudaGraphNodeParams p = call((void *)put, arguments);
    cudaGraphNode_t node;
    CHECK(add_node(&node, graph, after, after ? 1 : 0, &p));
    return node;
}

static cudaGraphNode_t add_setter(cudaGraph_t graph, const cudaGraphNode_t *after,
                                  const void *kernel, int *p, cudaGraphConditionalHandle handle)
{
    void *arguments[] = {&p, &handle};
    cudaGraphNodeParams k = call(kernel, arguments);
    cudaGraphNode_t node;
    CHECK(add_node(&node, graph, after, after ? 1 : 0, &k));
    return node;
}

static cudaGraphNode_t add_branch(cudaGraph_t graph, const cudaGraphNode_t *after,
                                  cudaGraphConditionalHandle handle,
                                  cudaGraphConditionalNodeType type, int size, cudaGraph_t *graphs)
{
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    cudaGraphNode_t node;
    CHECK(add_node(&node, graph, after, after ? 1 : 0, &p));
    for (int i = 0; i < size; i++)
        graphs[i] = p.conditional.phGraph_out[i];
    return node;
}

static std::vector<int> run(cudaGraphExec_t exec, Device<int> &log)
{
    log.zero();
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    std::vector<int> got = log.host();
    return std::vector<int>(got.begin() + 1, got.begin() + 1 + got[0]);
}

// switch (which) {0: put 10; 1: put 20; 2: while (left) {if-else by a default; put 30}}; put 99
static bool nested(std::vector<int> *all)
{
    Device<int> log(200), which(1), left(1);
    cudaGraph_t graph, cases[3], body[1], halves[2];
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle chosen, looped, always;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&chosen, graph));
    cudaGraphNode_t setter = add_setter(graph, NULL, (void *)choose, which, chosen);
    cudaGraphNode_t branch = add_branch(graph, &setter, chosen, SWITCH, 3, cases);
    add_put(graph, &branch, log, 99);
    add_put(cases[0], NULL, log, 10);
    add_put(cases[1], NULL, log, 20);
    CHECK(cudaGraphConditionalHandleCreate(&looped, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&always, graph, 0, cudaGraphCondAssignDefault));
    add_branch(cases[2], NULL, looped, cudaGraphCondTypeWhile, 1, body);
    cudaGraphNode_t inner = add_branch(body[0], NULL, always, cudaGraphCondTypeIf, 2, halves);
    add_put(halves[0], NULL, log, 40);
    add_put(halves[1], NULL, log, 50);
    cudaGraphNode_t third = add_put(body[0], &inner, log, 30);
    add_setter(body[0], &third, (void *)count_down, left, looped);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));

    const std::vector<int> want[] = {{10, 99}, {20, 99}, {50, 30, 50, 30, 50, 30, 99}, {99}};
    bool ok = true;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 4; i++) {
            int three = 3;
            CHECK(cudaMemcpy(which, &i, sizeof i, cudaMemcpyHostToDevice));
            CHECK(cudaMemcpy(left, &three, sizeof three, cudaMemcpyHostToDevice));
            std::vector<int> got = run(exec, log);
            ok &= got == want[i];
            all->insert(all->end(), got.begin(), got.end());
        }
    CHECK(cudaGraphExecDestroy(exec));
    return ok;
}

// A loop in a captured graph, with a captured body.
static bool captured(std::vector<int> *all)
{
    Device<int> log(200), left(1);
    const int four = 4;
    cudaStream_t stream, inner;
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&inner));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    put<<<1, 1, 0, stream>>>(log, 1);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *after;
    size_t n = 0;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, &after, NULL, &n));
#else
    CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, &after, &n));
#endif
    EXPECT(n == 1 && status == cudaStreamCaptureStatusActive);
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t branch = add_branch(graph, after, handle, cudaGraphCondTypeWhile, 1, &body);
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &branch, NULL, 1,
                                              cudaStreamSetCaptureDependencies));
#else
    CHECK(
        cudaStreamUpdateCaptureDependencies(stream, &branch, 1, cudaStreamSetCaptureDependencies));
#endif
    put<<<1, 1, 0, stream>>>(log, 3);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamBeginCaptureToGraph(inner, body, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    put<<<1, 1, 0, inner>>>(log, 2);
    count_down<<<1, 1, 0, inner>>>(left, handle);
    CHECK(cudaStreamEndCapture(inner, NULL));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaMemcpy(left, &four, sizeof four, cudaMemcpyHostToDevice));
    std::vector<int> got = run(exec, log);
    all->insert(all->end(), got.begin(), got.end());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(inner));
    return got == std::vector<int>({1, 2, 2, 2, 2, 3});
}

static bool errors()
{
    cudaGraph_t graph, other;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 2; // a loop has one body
    bool ok = add_node(&node, graph, NULL, 0, &p) != cudaSuccess;
    p.conditional.size = 1;
    ok &= add_node(&node, other, NULL, 0, &p) != cudaSuccess; // another graph's handle
    CHECK(add_node(&node, graph, NULL, 0, &p));
    ok &= add_node(&node, graph, NULL, 0, &p) != cudaSuccess; // already used
    ok &= cudaGraphClone(&other, graph) != cudaSuccess;
    cudaGetLastError();
    CHECK(cudaGraphDestroy(graph));
    return ok;
}

int main()
{
    std::vector<int> all;
    bool ok = nested(&all) && captured(&all) && errors();
    return verdict("graph_conditions", ok, all);
}
