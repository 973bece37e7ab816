// Parameters of copy nodes, and of nodes of any kind, read and changed in a graph and in an instance.
#include "vgpu/tests/check.cuh"

__device__ int variable[4];

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value + threadIdx.x;
}

int main()
{
    enum { W = 4, H = 3, N = W * H };
    std::vector<int> rows(N), all;
    for (int i = 0; i < N; i++)
        rows[i] = 100 + i;
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &texel, W, H));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, rows.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    Device<int> line(N);
    line.zero();
    int first[4] = {}, second[4] = {}, value = 7;
    cudaGraph_t graph;
    cudaGraphNode_t kernel, out, symbol;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    int *to = line;
    void *arguments[] = {&to, &value};
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void *)fill;
    p.kernel.gridDim = 1;
    p.kernel.blockDim = 4;
    p.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &p));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, &kernel, 1, variable, to, 4, 4,
                                         cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms copy = {}, got;
    copy.srcPtr = make_cudaPitchedPtr(to, 16, 4, 1);
    copy.dstPtr = make_cudaPitchedPtr(first, 16, 4, 1);
    copy.extent = make_cudaExtent(16, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&out, graph, &kernel, 1, &copy));
    CHECK(cudaGraphMemcpyNodeGetParams(out, &got));
    EXPECT(got.dstPtr.ptr == first && got.extent.width == 16);
    CHECK(cudaGraphMemcpyNodeGetParams(symbol, &got));
    EXPECT(got.srcPtr.ptr == to && got.extent.width == 4 && got.extent.height == 1);

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    all.insert(all.end(), first, first + 4);
    // In the instance: another value, another destination, another element.
    value = 20;
    CHECK(cudaGraphExecNodeSetParams(exec, kernel, &p));
    copy.dstPtr.ptr = second;
    CHECK(cudaGraphExecMemcpyNodeSetParams(exec, out, &copy));
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, symbol, variable, to + 3, 4, 12,
                                                   cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    all.insert(all.end(), second, second + 4);
    CHECK(cudaGraphExecDestroy(exec));
    // In the graph: a part of an array, whose widths are in texels.
    copy = {};
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(1, 2, 0);
    copy.dstPtr = make_cudaPitchedPtr(second, 16, 4, 1);
    copy.extent = make_cudaExtent(3, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    p = {};
    p.type = cudaGraphNodeTypeMemcpy;
    p.memcpy.copyParams = copy;
    EXPECT(cudaGraphNodeSetParams(kernel, &p) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphNodeSetParams(out, &p));
    CHECK(cudaGraphMemcpyNodeGetParams(out, &got));
    EXPECT(got.srcArray == array && got.srcPos.x == 1);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    all.insert(all.end(), second, second + 4);
    int words[4];
    CHECK(cudaMemcpyFromSymbol(words, variable, sizeof words));
    all.insert(all.end(), words, words + 4);
    return verdict(
        "graph_node_params",
        all == std::vector<int>({7, 8, 9, 10, 20, 21, 22, 23, 109, 110, 111, 23, 0, 7, 0, 23}),
        all);
}
