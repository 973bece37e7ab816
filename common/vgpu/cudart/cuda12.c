/* Functions of libcudart.so.12 whose parameters, results or structures differ from CUDA 13's.
 * symbols.tsv has the function for each name of both versions. */
#include "vgpu/cudart/shim.h"

#include <string.h>

#define V12             __attribute__((visibility("hidden")))
#define RUNTIME_VERSION 12090
/* cudaDeviceProp of CUDA 11, which cudaGetDeviceProperties of CUDA 12 still fills, has this
 * size. */
#define PROPERTIES_11_BYTES 728

V12 cudaError_t v12_cudaRuntimeGetVersion(int *version);
V12 cudaError_t v12_cudaGetDeviceProperties(void *to, int device);
V12 cudaError_t v12_cudaGetDeviceProperties_v2(void *to, int device);
V12 cudaError_t v12_cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                                  int device);
V12 cudaError_t v12_cudaMemPrefetchAsync(const void *p, size_t bytes, int device,
                                         cudaStream_t stream);
V12 cudaError_t v12_cudaMemPrefetchAsync_ptsz(const void *p, size_t bytes, int device,
                                              cudaStream_t stream);
V12 cudaError_t v12_cudaStreamGetCaptureInfo(cudaStream_t stream,
                                             enum cudaStreamCaptureStatus *status,
                                             unsigned long long *id);
V12 cudaError_t v12_cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                                  enum cudaStreamCaptureStatus *status,
                                                  unsigned long long *id);
V12 cudaError_t v12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                enum cudaStreamCaptureStatus *status,
                                                unsigned long long *id, cudaGraph_t *graph,
                                                const cudaGraphNode_t **dependencies, size_t *n);
V12 cudaError_t v12_cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
                                                     enum cudaStreamCaptureStatus *status,
                                                     unsigned long long *id, cudaGraph_t *graph,
                                                     const cudaGraphNode_t **dependencies,
                                                     size_t *n);
V12 cudaError_t v12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                             const cudaGraphNode_t *to, size_t n);
V12 cudaError_t v12_cudaGraphAddNode(cudaGraphNode_t *to, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies, size_t n,
                                     struct cudaGraphNodeParams *p);
V12 cudaError_t v12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                        size_t n, unsigned flags);
V12 cudaError_t v12_cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                             cudaGraphNode_t *nodes, size_t n,
                                                             unsigned flags);
V12 cudaError_t v12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, size_t n);
V12 cudaError_t v12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                      size_t *n);
V12 cudaError_t v12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list,
                                                 size_t *n);
V12 cudaError_t v12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list,
                                                   size_t *n);
V12 cudaError_t v12_cudaSetDoubleForDevice(double *value);
V12 cudaError_t v12_cudaSetDoubleForHost(double *value);

cudaError_t v12_cudaRuntimeGetVersion(int *version)
{
    return rt_return(PUT(version, RUNTIME_VERSION, cudaSuccess));
}

cudaError_t v12_cudaGetDeviceProperties_v2(void *to, int device)
{
    return rt_return(rt_properties(to, device, 12));
}

cudaError_t v12_cudaGetDeviceProperties(void *to, int device)
{
    unsigned char all[RT_PROPERTIES_BYTES];
    cudaError_t error = rt_properties(to ? all : NULL, device, 12);
    if (!error)
        memcpy(to, all, PROPERTIES_11_BYTES);
    return rt_return(error);
}

static struct cudaMemLocation on(int device)
{
    return (struct cudaMemLocation){.type = device < 0 ? cudaMemLocationTypeHost
                                                       : cudaMemLocationTypeDevice,
                                    .id = device < 0 ? 0 : device};
}

cudaError_t v12_cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(p, bytes, advice, on(device));
}

cudaError_t v12_cudaMemPrefetchAsync(const void *p, size_t bytes, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(p, bytes, on(device), 0, stream);
}

cudaError_t v12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **dependencies, size_t *n)
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, n);
}

cudaError_t v12_cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                         unsigned long long *id)
{
    return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

cudaError_t v12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                         const cudaGraphNode_t *to, size_t n)
{
    return cudaGraphAddDependencies(graph, from, to, NULL, n);
}

cudaError_t v12_cudaGraphAddNode(cudaGraphNode_t *to, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies, size_t n,
                                 struct cudaGraphNodeParams *p)
{
    return cudaGraphAddNode(to, graph, dependencies, NULL, n, p);
}

cudaError_t v12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, size_t n)
{
    return cudaGraphRemoveDependencies(graph, from, to, NULL, n);
}

cudaError_t v12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                  size_t *n)
{
    return cudaGraphGetEdges(graph, from, to, NULL, n);
}

cudaError_t v12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *n)
{
    return cudaGraphNodeGetDependencies(node, list, NULL, n);
}

cudaError_t v12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list,
                                               size_t *n)
{
    return cudaGraphNodeGetDependentNodes(node, list, NULL, n);
}

cudaError_t v12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                    size_t n, unsigned flags)
{
    return cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, n, flags);
}

/* No conversion, because the GPUs support float64. */
cudaError_t v12_cudaSetDoubleForDevice(double *value)
{
    return rt_return(value ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t v12_cudaSetDoubleForHost(double *value)
{
    return rt_return(value ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- nvcc --default-stream per-thread (per_thread.c) ----------------------------------------- */

#define S(stream) ((stream) ? (stream) : cudaStreamPerThread)

cudaError_t v12_cudaMemPrefetchAsync_ptsz(const void *p, size_t bytes, int device,
                                          cudaStream_t stream)
{
    return v12_cudaMemPrefetchAsync(p, bytes, device, S(stream));
}

cudaError_t v12_cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                              enum cudaStreamCaptureStatus *status,
                                              unsigned long long *id)
{
    return v12_cudaStreamGetCaptureInfo(S(stream), status, id);
}

cudaError_t v12_cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
                                                 enum cudaStreamCaptureStatus *status,
                                                 unsigned long long *id, cudaGraph_t *graph,
                                                 const cudaGraphNode_t **dependencies, size_t *n)
{
    return v12_cudaStreamGetCaptureInfo_v2(S(stream), status, id, graph, dependencies, n);
}

cudaError_t v12_cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                         cudaGraphNode_t *nodes, size_t n,
                                                         unsigned flags)
{
    return v12_cudaStreamUpdateCaptureDependencies(S(stream), nodes, n, flags);
}
