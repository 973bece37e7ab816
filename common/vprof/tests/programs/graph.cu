// expect: kernel=20 memset=10 cudaGraphLaunch=10 status=0
/* A fill and two kernels, captured once from a stream and launched ten times as a graph. */
#include "sample.cuh"

int main()
{
    const int n = 1 << 12;
    float *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    scale<<<n / 256, 256, 0, stream>>>(x, n, 2);
    scale<<<n / 256, 256, 0, stream>>>(x, n, 3);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    float first;
    CHECK(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
    return first != 4;
}
