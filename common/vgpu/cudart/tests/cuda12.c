/* Calls the functions of libcudart.so.12 that differ from CUDA 13's, as a program built with CUDA
 * 12 does: by versioned names, with CUDA 12's structures. It can be built with any toolkit. If
 * anything fails, prints it and exits with 1. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FROM_12(name) __asm__(".symver " #name ", " #name "@libcudart.so.12")
FROM_12(cudaRuntimeGetVersion);
FROM_12(cudaGetDeviceProperties);
FROM_12(cudaGetDeviceProperties_v2);
FROM_12(cudaMallocManaged);
FROM_12(cudaMemAdvise);
FROM_12(cudaMemPrefetchAsync);
FROM_12(cudaMemPrefetchAsync_v2);
FROM_12(cudaPointerGetAttributes);
FROM_12(cudaStreamCreate);
FROM_12(cudaStreamBeginCapture);
FROM_12(cudaStreamGetCaptureInfo);
FROM_12(cudaStreamGetCaptureInfo_v2);
FROM_12(cudaStreamEndCapture);
FROM_12(cudaGraphCreate);
FROM_12(cudaGraphAddEmptyNode);
FROM_12(cudaGraphAddDependencies);
FROM_12(cudaGraphInstantiate);
FROM_12(cudaGraphLaunch);
FROM_12(cudaThreadSynchronize);
FROM_12(cudaGetLastError);
FROM_12(cudaMemcpyBatchAsync);

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties(void *to, int device);
int cudaGetDeviceProperties_v2(void *to, int device);
int cudaMallocManaged(void **to, size_t bytes, unsigned flags);
int cudaMemAdvise(const void *p, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void *p, size_t bytes, int device, void *stream);
int cudaMemPrefetchAsync_v2(const void *p, size_t bytes, uint64_t location, unsigned flags,
                            void *stream);
int cudaPointerGetAttributes(void *to, const void *p);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id);
int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                                void ***dependencies, size_t *n);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphAddEmptyNode(void **node, void *graph, void **dependencies, size_t n);
int cudaGraphAddDependencies(void *graph, void **from, void **to, size_t n);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *exec, void *stream);
int cudaThreadSynchronize(void);
int cudaGetLastError(void);
int cudaMemcpyBatchAsync(void);

static int failed;

static void claim(int right, const char *what)
{
    if (!right)
        printf("FAILED: %s\n", what);
    failed |= !right;
}

static int int_at(const unsigned char *p, int at)
{
    int value;
    memcpy(&value, p + at, sizeof value);
    return value;
}

static int is_untouched(const unsigned char *p, int from, int to)
{
    for (int i = from; i < to; i++)
        if (p[i] != 0xA5)
            return 0;
    return 1;
}

/* Offsets from driver_types.h of CUDA 12.4, repeated here. */
static void properties(void)
{
    unsigned char p[1100];
    memset(p, 0xA5, sizeof p);
    claim(cudaGetDeviceProperties_v2(p, 0) == 0, "cudaGetDeviceProperties_v2");
    claim(strstr((char *)p, "(virtual)") != NULL, "the device's name");
    claim(int_at(p, 308) == 32, "warpSize");
    claim(int_at(p, 348) > 1000000, "clockRate, which CUDA 13 does not have");
    claim(int_at(p, 388) == 132, "multiProcessorCount");
    claim(int_at(p, 624) == 2048, "maxThreadsPerMultiProcessor");
    claim(int_at(p, 712) == 32, "maxBlocksPerMultiProcessor");
    claim(is_untouched(p, 1032, sizeof p), "nothing is written after the structure");
    memset(p, 0xA5, sizeof p);
    claim(cudaGetDeviceProperties(p, 0) == 0 && int_at(p, 388) == 132,
          "cudaGetDeviceProperties, of CUDA 11");
    claim(is_untouched(p, 728, sizeof p), "nothing is written behind CUDA 11's structure");
    claim(cudaGetDeviceProperties_v2(p, 3) == 101, "device 3 does not exist");
}

static void memory(void)
{
    void *p = NULL;
    unsigned char attributes[88];
    claim(cudaMallocManaged(&p, 4096, 1) == 0, "cudaMallocManaged");
    claim(cudaMemAdvise(p, 4096, 1, 0) == 0, "cudaMemAdvise with the number of a device");
    claim(cudaMemPrefetchAsync(p, 4096, 0, NULL) == 0,
          "cudaMemPrefetchAsync with the number of a device");
    claim(cudaMemPrefetchAsync(p, 4096, -1, NULL) == 0, "cudaMemPrefetchAsync to the host");
    claim(cudaMemPrefetchAsync_v2(p, 4096, 1, 0, NULL) == 0, "cudaMemPrefetchAsync_v2");
    claim(cudaMemAdvise(&p, 8, 1, 0) == 1, "memory that is not managed is refused");
    memset(attributes, 0xA5, sizeof attributes);
    claim(cudaPointerGetAttributes(attributes, p) == 0 && int_at(attributes, 0) == 3,
          "managed memory is known");
    claim(is_untouched(attributes, 24, sizeof attributes),
          "nothing is written behind cudaPointerAttributes");
}

static void graphs(void)
{
    void *stream = NULL, *graph = NULL, *captured = NULL, *nodes[2], **dependencies, *exec = NULL;
    int status = 0;
    unsigned long long id = 0, again = 0;
    size_t n = 99;
    claim(cudaStreamCreate(&stream) == 0 && cudaStreamBeginCapture(stream, 0) == 0,
          "a capture begins");
    claim(cudaStreamGetCaptureInfo(stream, &status, &id) == 0 && status == 1 && id != 0,
          "cudaStreamGetCaptureInfo");
    claim(cudaStreamGetCaptureInfo_v2(stream, &status, &again, &captured, &dependencies, &n) == 0 &&
              again == id && captured && n == 0,
          "cudaStreamGetCaptureInfo_v2");
    claim(cudaStreamEndCapture(stream, &graph) == 0 && graph == captured, "the capture ends");
    claim(cudaGraphCreate(&graph, 0) == 0 &&
              cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0) == 0 &&
              cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0) == 0,
          "a graph of two nodes");
    claim(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1) == 0,
          "cudaGraphAddDependencies without data");
    claim(cudaGraphInstantiate(&exec, graph, 0) == 0 && cudaGraphLaunch(exec, stream) == 0,
          "it runs");
}

int main(void)
{
    int version = 0;
    claim(cudaRuntimeGetVersion(&version) == 0 && version >= 12040 && version < 13000,
          "the runtime's version is of CUDA 12");
    properties();
    memory();
    graphs();
    claim(cudaThreadSynchronize() == 0, "cudaThreadSynchronize, which CUDA 13 does not have");
    cudaGetLastError();
    claim(cudaMemcpyBatchAsync() == 801 && cudaGetLastError() == 801,
          "a stub says that it is not supported");
    return failed;
}
