// nvcc: -std=c++17 -arch=compute_90
// Data that graphs keep until they are destroyed, attributes of kernel nodes, and the attributes of a
// pointer to a managed variable.
#include "vgpu/tests/check.cuh"

#include <unistd.h>

__managed__ int managed = 3;

__global__ void ranks(int *out)
{
    unsigned rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    out[blockIdx.x] = 10 * size + rank;
}

static void CUDART_CB count(void *p)
{
    ++*(int *)p;
}

int main()
{
    int destroyed = 0, other = 0;
    cudaUserObject_t object, second;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, plain;
    Device<int> d_out(4);
    int *out = d_out;
    void *arguments[] = {&out};
    cudaKernelNodeParams p = {};
    p.func = (void *)ranks;
    p.gridDim = dim3(4);
    p.blockDim = dim3(1);
    p.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
    CHECK(cudaGraphAddKernelNode(&plain, graph, &node, 1, &p));

    cudaLaunchAttributeValue value = {}, got;
    value.clusterDim.x = 2, value.clusterDim.y = value.clusterDim.z = 1;
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    CHECK(cudaGraphKernelNodeCopyAttributes(plain, node));
    CHECK(cudaGraphKernelNodeSetParams(plain, &p));
    CHECK(cudaGraphKernelNodeGetAttribute(plain, cudaLaunchAttributeClusterDimension, &got));
    EXPECT(got.clusterDim.x == 2);

    CHECK(cudaUserObjectCreate(&object, &destroyed, count, 2, cudaUserObjectNoDestructorSync));
    CHECK(cudaUserObjectCreate(&second, &other, count, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK(cudaGraphRetainUserObject(graph, second, 1, 0));
    CHECK(cudaUserObjectRelease(object, 1));
    CHECK(cudaGraphReleaseUserObject(graph, second, 1));
    EXPECT(other == 0);
    CHECK(cudaUserObjectRelease(second, 1));
    CHECK(cudaDeviceSynchronize());
    EXPECT(other == 1);
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(destroyed == 0);
    CHECK(cudaGraphExecDestroy(exec));
    for (int i = 0; i < 1000 && !destroyed; i++) // on a GPU, another thread calls count()
        usleep(1000);
    EXPECT(destroyed == 1);
    const std::vector<int> r = d_out.host();
    EXPECT(r[0] == 20 && r[1] == 21 && r[2] == 20 && r[3] == 21);

    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, &managed));
    EXPECT(a.type == cudaMemoryTypeManaged && a.devicePointer == &managed);
    return verdict("graph_users", true, r);
}
