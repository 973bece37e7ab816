// Queries and changes of graphs: parameters of nodes in a graph and in its instance, edges, nodes
// that are disabled, removed or found in a clone.
#include "vgpu/tests/check.cuh"

__global__ void add(int *p, int value)
{
    *p += value;
}

__global__ void multiply(int *p, int value)
{
    *p *= value;
}

#if CUDART_VERSION >= 13000
#define EDGES(graph, from, to, n)   cudaGraphGetEdges(graph, from, to, NULL, n)
#define BEFORE(node, list, n)       cudaGraphNodeGetDependencies(node, list, NULL, n)
#define BEHIND(node, list, n)       cudaGraphNodeGetDependentNodes(node, list, NULL, n)
#define CUT(graph, from, to, n)     cudaGraphRemoveDependencies(graph, from, to, NULL, n)
#define CONNECT(graph, from, to, n) cudaGraphAddDependencies(graph, from, to, NULL, n)
#else
#define EDGES   cudaGraphGetEdges
#define BEFORE  cudaGraphNodeGetDependencies
#define BEHIND  cudaGraphNodeGetDependentNodes
#define CUT     cudaGraphRemoveDependencies
#define CONNECT cudaGraphAddDependencies
#endif

static void CUDART_CB increase(void *p)
{
    ++*(int *)p;
}

struct Calls {
    cudaKernelNodeParams p = {};
    int *at, value;
    void *arguments[2] = {&at, &value};
    Calls(void (*kernel)(int *, int), int *at_, int value_) : at(at_), value(value_)
    {
        p.func = (void *)kernel;
        p.gridDim = p.blockDim = dim3(1);
        p.kernelParams = arguments;
    }
};

static int run(cudaGraphExec_t exec, Device<int> &p)
{
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    return p.host()[0];
}

int main()
{
    Device<int> p(1);
    int counted = 0, counted_too = 0;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, sum, product, host, nodes[8], others[8];
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = p;
    zero.elementSize = zero.height = 1;
    zero.width = sizeof(int);
    CHECK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero));
    Calls five(add, p, 5), three(multiply, p, 3), seven(add, p, 7);
    CHECK(cudaGraphAddKernelNode(&sum, graph, &fill, 1, &five.p));
    CHECK(cudaGraphAddKernelNode(&product, graph, &sum, 1, &three.p));
    cudaHostNodeParams called = {increase, &counted};
    CHECK(cudaGraphAddHostNode(&host, graph, &sum, 1, &called));

    // Reads the parameters and edges.
    cudaKernelNodeParams kernel;
    cudaMemsetParams set;
    cudaHostNodeParams function;
    CHECK(cudaGraphKernelNodeGetParams(product, &kernel));
    CHECK(cudaGraphMemsetNodeGetParams(fill, &set));
    CHECK(cudaGraphHostNodeGetParams(host, &function));
    bool ok = kernel.func == (void *)multiply && *(int *)kernel.kernelParams[1] == 3 &&
              *(int **)kernel.kernelParams[0] == p.p && kernel.gridDim.x == 1;
    ok &= set.dst == p.p && set.width == sizeof(int) && function.userData == &counted;
    ok &= cudaGraphKernelNodeGetParams(fill, &kernel) == cudaErrorInvalidValue;
    cudaGetLastError();
    size_t n = 0;
    CHECK(EDGES(graph, NULL, NULL, &n));
    ok &= n == 3;
    n = 8;
    CHECK(EDGES(graph, nodes, others, &n));
    ok &= n == 3 && nodes[0] == fill && others[0] == sum;
    n = 8;
    CHECK(BEHIND(sum, nodes, &n));
    ok &= n == 2;
    n = 8;
    CHECK(BEFORE(product, nodes, &n));
    ok &= n == 1 && nodes[0] == sum;

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::vector<int> all = {run(exec, p)};
    // Changes the instance, but not the graph.
    CHECK(cudaGraphExecKernelNodeSetParams(exec, sum, &seven.p));
    all.push_back(run(exec, p));
    zero.value = 1;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, fill, &zero));
    called.userData = &counted_too;
    CHECK(cudaGraphExecHostNodeSetParams(exec, host, &called));
    all.push_back(run(exec, p));
    unsigned enabled = 9;
    CHECK(cudaGraphNodeGetEnabled(exec, product, &enabled));
    ok &= enabled == 1;
    CHECK(cudaGraphNodeSetEnabled(exec, product, 0));
    all.push_back(run(exec, p));
    CHECK(cudaGraphNodeSetEnabled(exec, product, 1));
    all.push_back(run(exec, p));
    CHECK(cudaGraphExecDestroy(exec));

    // Changes the graph: the sum follows the product, without the host function.
    CHECK(CUT(graph, &sum, &product, 1));
    CHECK(CUT(graph, &fill, &sum, 1));
    CHECK(CONNECT(graph, &fill, &product, 1));
    CHECK(CONNECT(graph, &product, &sum, 1));
    CHECK(cudaGraphDestroyNode(host));
    zero.value = 0;
    CHECK(cudaGraphMemsetNodeSetParams(fill, &zero));
    CHECK(cudaGraphKernelNodeSetParams(sum, &seven.p));
    n = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &n));
    ok &= n == 3;
    cudaGraphNode_t found;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&found, product, clone));
    ok &= found != product;
    CHECK(cudaGraphDestroyNode(found));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    all.push_back(run(exec, p));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphDestroy(graph));
    const int many = 0x01010101;
    ok &= all == std::vector<int>({15, 21, (many + 7) * 3, many + 7, (many + 7) * 3, 7});
    ok &= counted == 2 && counted_too == 3;
    return verdict("graph_edit", ok, all);
}
