// A kernel reads memory that a graph allocated, after the graph has freed it.
#include "vgpu/tests/faults.cuh"

__global__ void fill(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}

__global__ void read(const int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // expect: use_after_free
}

int main()
{
    Device<int> out(32);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 32 * sizeof *p, stream));
    fill<<<1, 32, 0, stream>>>(p);
    CHECK(cudaFreeAsync(p, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    read<<<1, 32>>>(p, out);
    return done(cudaErrorIllegalAddress);
}
