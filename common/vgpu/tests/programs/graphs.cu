// CUDA graphs: captured from two streams, created node by node, changed, launched several times.
#include "vgpu/tests/check.cuh"

__global__ void scale(float *p, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

__global__ void add(float *p, const float *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += q[i];
}

static void CUDART_CB count(void *p)
{
    ++*(int *)p;
}

int main()
{
    const int n = 500, blocks = 4;
    std::vector<float> in(n), out(n), exact;
    for (int i = 0; i < n; i++)
        in[i] = (float)(i % 32);
    Device<float> a(n), b(n);
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    // out = in + b, with b = 3 in from a second stream; nothing runs during the capture.
    int calls = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(a, in.data(), n * sizeof(float), cudaMemcpyHostToDevice, s));
    CHECK(cudaMemsetAsync(b, 0, n * sizeof(float), s));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    add<<<blocks, 128, 0, t>>>(b, a, n);
    scale<<<blocks, 128, 0, t>>>(b, n, 3);
    CHECK(cudaEventRecord(join, t));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(t, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamWaitEvent(s, join, 0));
    add<<<blocks, 128, 0, s>>>(a, b, n);
    CHECK(cudaMemcpyAsync(out.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, count, &calls));
    CHECK(cudaStreamEndCapture(s, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 7 && calls == 0 && out[1] == 0);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    bool ok = true;
    for (int round = 1; round <= 3; round++) {
        in[7] = (float)round; // read when the graph runs
        CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            ok &= out[i] == 4 * in[i];
        ok &= calls == round;
    }
    exact = out;
    CHECK(cudaGraphExecDestroy(exec));

    // The graph created by hand, with edges out of order; then with another factor.
    cudaGraphNode_t copy, fill, twice, back, host;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, out.data(), a, n * sizeof(float),
                                   cudaMemcpyDeviceToHost));
    float factor = 2;
    int size = n;
    float *pa = a;
    void *arguments[] = {&pa, &size, &factor};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)scale;
    kernel.gridDim = dim3(blocks);
    kernel.blockDim = dim3(128);
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&twice, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, a, in.data(), n * sizeof(float),
                                   cudaMemcpyHostToDevice));
    cudaMemsetParams ones = {};
    ones.dst = a;
    ones.value = 0x3f800000; // 1.0f
    ones.elementSize = 4;
    ones.width = 10;
    ones.height = 1;
    ones.pitch = 40;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, &copy, 1, &ones));
    cudaHostNodeParams call = {};
    call.fn = count;
    call.userData = &calls;
    CHECK(cudaGraphAddHostNode(&host, graph, &back, 1, &call));
    const cudaGraphNode_t from[] = {fill, twice}, to[] = {twice, back};
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
#else
    CHECK(cudaGraphAddDependencies(graph, from, to, 2));
#endif
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 2; round++) {
        CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            ok &= out[i] == factor * (i < 10 ? 1 : in[i]);
        factor = 5;
        CHECK(cudaGraphExecKernelNodeSetParams(exec, twice, &kernel));
    }
    ok &= calls == 5;
    exact.insert(exact.end(), out.begin(), out.end());

    // Two streams that do not wait for each other: two nodes without dependencies.
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    CHECK(cudaMemsetAsync(a, 0, n * sizeof(float), s));
    CHECK(cudaMemcpyAsync(b, in.data(), n * sizeof(float), cudaMemcpyHostToDevice, t));
    CHECK(cudaEventRecord(join, t));
#if CUDART_VERSION >= 13000 // the dependencies that the runtime returns, passed to it again
    unsigned long long id;
    cudaGraph_t captured;
    const cudaGraphNode_t *after;
    const cudaGraphEdgeData *edges;
    size_t dependencies = 0;
    CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &captured, &after, &edges, &dependencies));
    EXPECT(dependencies == 1);
    CHECK(cudaStreamUpdateCaptureDependencies(s, (cudaGraphNode_t *)after, edges, dependencies,
                                              cudaStreamSetCaptureDependencies));
#endif
    scale<<<blocks, 128, 0, s>>>(a, n, 2);
    CHECK(cudaStreamWaitEvent(s, join, 0));
    add<<<blocks, 128, 0, s>>>(a, b, n);
    CHECK(cudaStreamEndCapture(s, &graph));
    size_t roots = 0;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(roots == 2);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 2; round++) {
        CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaMemcpyAsync(out.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost, s));
        CHECK(cudaStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            ok &= out[i] == in[i];
    }
    CHECK(cudaGraphExecDestroy(exec));
    return verdict("graphs", ok, exact);
}
