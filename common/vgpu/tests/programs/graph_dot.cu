// A graph as text for Graphviz; a capture that a forbidden call makes invalid.
#include "vgpu/tests/check.cuh"

__global__ void two_steps(int *x)
{
    *x += 1;
}

int main()
{
    Device<int> d(std::vector<int>{5});
    cudaStream_t stream;
    cudaGraph_t graph;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(d, 0, 4, stream));
    two_steps<<<1, 1, 0, stream>>>(d);
    CHECK(cudaStreamEndCapture(stream, &graph));
    char path[] = "/tmp/graph_dot_XXXXXX", text[4096] = "";
    int fd = mkstemp(path);
    EXPECT(fd >= 0);
    CHECK(cudaGraphDebugDotPrint(graph, path, 0));
    FILE *in = fdopen(fd, "r");
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    remove(path);
    EXPECT(n > 0 && strstr(text, "digraph") && strstr(text, "two_steps") && strstr(text, "->"));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT(cudaStreamQuery(stream) == cudaErrorStreamCaptureUnsupported);
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(graph == NULL);
    cudaGetLastError();
    two_steps<<<1, 1, 0, stream>>>(d);
    CHECK(cudaStreamSynchronize(stream));
    std::vector<int> out = d.host();
    return verdict("graph_dot", out[0] == 6, out);
}
