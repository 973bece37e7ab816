/** @file
 * The CUDA runtime's headers, of CUDA 12.4 or newer. Functions whose parameters differ in CUDA 12
 * are declared here as in CUDA 13, whichever headers are installed.
 */
#pragma once

#define cudaGraphAddDependencies header_cudaGraphAddDependencies
#define cudaMemAdvise            header_cudaMemAdvise
#define cudaMemcpy3DBatchAsync   header_cudaMemcpy3DBatchAsync
#define cudaMemPrefetchAsync     header_cudaMemPrefetchAsync
#include <cuda_runtime_api.h>
#undef cudaGetDeviceProperties /* CUDA 12 has macros of these names */
#undef cudaGraphAddDependencies
#undef cudaMemAdvise
#undef cudaMemcpy3DBatchAsync
#undef cudaMemPrefetchAsync
#undef cudaStreamGetCaptureInfo

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *to, int device);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                     size_t n);
cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream);
struct cudaMemcpy3DBatchOp; /* since CUDA 12.8 */
cudaError_t cudaMemcpy3DBatchAsync(size_t n, struct cudaMemcpy3DBatchOp *list,
                                   unsigned long long flags, cudaStream_t stream);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device); /* since CUDA 12.8 */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *n);
