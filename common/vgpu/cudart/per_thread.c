/* The variants called by code compiled with nvcc --default-stream per-thread: in these functions,
 * stream 0 is the thread's own stream. All threads share that stream's clock. */
#include "vgpu/cudart/shim.h"

#define S(stream) ((stream) ? (stream) : cudaStreamPerThread)
#define PTSZ(name, parameters, arguments)                                                          \
    API cudaError_t name##_ptsz parameters;                                                        \
    API cudaError_t name##_ptsz parameters                                                         \
    {                                                                                              \
        return name arguments;                                                                     \
    }
#define PTDS(name, parameters, arguments)                                                          \
    API cudaError_t name##_ptds parameters;                                                        \
    API cudaError_t name##_ptds parameters                                                         \
    {                                                                                              \
        return name arguments;                                                                     \
    }

typedef enum cudaMemcpyKind kind;

PTDS(cudaMemcpy, (void *to, const void *from, size_t n, kind k), (to, from, n, k))
PTDS(cudaMemcpy2D, (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, kind k),
     (to, tp, from, fp, w, h, k))
PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p))
PTDS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p))
PTDS(cudaMemcpyToSymbol, (const void *to, const void *from, size_t n, size_t at, kind k),
     (to, from, n, at, k))
PTDS(cudaMemcpyFromSymbol, (void *to, const void *from, size_t n, size_t at, kind k),
     (to, from, n, at, k))
PTDS(cudaMemcpy2DToArray,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, size_t w, size_t h, kind k),
     (to, x, y, from, fp, w, h, k))
PTDS(cudaMemcpy2DFromArray,
     (void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, size_t w, size_t h, kind k),
     (to, tp, from, x, y, w, h, k))
PTDS(cudaMemcpy2DArrayToArray,
     (cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t fx, size_t fy, size_t w,
      size_t h, kind k),
     (to, x, y, from, fx, fy, w, h, k))
PTDS(cudaMemset, (void *to, int v, size_t n), (to, v, n))
PTDS(cudaMemset2D, (void *to, size_t pitch, int v, size_t w, size_t h), (to, pitch, v, w, h))
PTDS(cudaMemset3D, (struct cudaPitchedPtr to, int v, struct cudaExtent e), (to, v, e))

PTSZ(cudaMemcpyAsync, (void *to, const void *from, size_t n, kind k, cudaStream_t s),
     (to, from, n, k, S(s)))
PTSZ(cudaMemcpyBatchAsync,
     (void *const *to, const void *const *from, const size_t *n, size_t count,
      struct cudaMemcpyAttributes *a, size_t *at, size_t an, cudaStream_t s),
     (to, from, n, count, a, at, an, S(s)))
PTSZ(cudaMemcpy2DAsync,
     (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, kind k, cudaStream_t s),
     (to, tp, from, fp, w, h, k, S(s)))
PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), (p, S(s)))
PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t s), (p, S(s)))
PTSZ(cudaMemcpy2DToArrayAsync,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, size_t w, size_t h, kind k,
      cudaStream_t s),
     (to, x, y, from, fp, w, h, k, S(s)))
PTSZ(cudaMemcpy2DFromArrayAsync,
     (void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, size_t w, size_t h, kind k,
      cudaStream_t s),
     (to, tp, from, x, y, w, h, k, S(s)))
PTSZ(cudaMemcpyToSymbolAsync,
     (const void *to, const void *from, size_t n, size_t at, kind k, cudaStream_t s),
     (to, from, n, at, k, S(s)))
PTSZ(cudaMemcpyFromSymbolAsync,
     (void *to, const void *from, size_t n, size_t at, kind k, cudaStream_t s),
     (to, from, n, at, k, S(s)))
PTSZ(cudaMemsetAsync, (void *to, int v, size_t n, cudaStream_t s), (to, v, n, S(s)))
PTSZ(cudaMemset2DAsync, (void *to, size_t pitch, int v, size_t w, size_t h, cudaStream_t s),
     (to, pitch, v, w, h, S(s)))
PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr to, int v, struct cudaExtent e, cudaStream_t s),
     (to, v, e, S(s)))
PTSZ(cudaMemPrefetchAsync,
     (const void *p, size_t n, struct cudaMemLocation l, unsigned f, cudaStream_t s),
     (p, n, l, f, S(s)))
PTSZ(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned f), (S(s), p, n, f))
PTSZ(cudaMallocAsync, (void **to, size_t n, cudaStream_t s), (to, n, S(s)))
PTSZ(cudaMallocFromPoolAsync, (void **to, size_t n, cudaMemPool_t p, cudaStream_t s),
     (to, n, p, S(s)))
PTSZ(cudaFreeAsync, (void *p, cudaStream_t s), (p, S(s)))

PTSZ(cudaLaunchKernel,
     (const void *f, dim3 grid, dim3 block, void **a, size_t shared, cudaStream_t s),
     (f, grid, block, a, shared, S(s)))
PTSZ(cudaLaunchCooperativeKernel,
     (const void *f, dim3 grid, dim3 block, void **a, size_t shared, cudaStream_t s),
     (f, grid, block, a, shared, S(s)))
PTSZ(cudaLaunchKernelExC, (const cudaLaunchConfig_t *c, const void *f, void **a), (c, f, a))
PTSZ(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *data), (S(s), f, data))
PTSZ(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags),
     (S(s), f, data, flags))

PTSZ(cudaStreamSynchronize, (cudaStream_t s), (S(s)))
PTSZ(cudaStreamQuery, (cudaStream_t s), (S(s)))
PTSZ(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (S(s), e, flags))
PTSZ(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), (S(s), flags))
PTSZ(cudaStreamGetPriority, (cudaStream_t s, int *priority), (S(s), priority))
PTSZ(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), (S(s), id))
PTSZ(cudaStreamGetDevice, (cudaStream_t s, int *device), (S(s), device))
PTSZ(cudaStreamSetAttribute,
     (cudaStream_t s, enum cudaLaunchAttributeID id, const cudaLaunchAttributeValue *v),
     (S(s), id, v))
PTSZ(cudaStreamGetAttribute,
     (cudaStream_t s, enum cudaLaunchAttributeID id, cudaLaunchAttributeValue *v), (S(s), id, v))
PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (S(to), S(from)))
PTSZ(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), (S(s), status))
PTSZ(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, S(s)))
PTSZ(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags), (e, S(s), flags))
PTSZ(cudaGraphLaunch, (cudaGraphExec_t g, cudaStream_t s), (g, S(s)))
PTSZ(cudaGraphUpload, (cudaGraphExec_t g, cudaStream_t s), (g, S(s)))
PTSZ(cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode m), (S(s), m))
PTSZ(cudaStreamBeginCaptureToGraph,
     (cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
      size_t n, enum cudaStreamCaptureMode m),
     (S(s), g, after, edges, n, m))
PTSZ(cudaStreamUpdateCaptureDependencies,
     (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n, unsigned f),
     (S(s), nodes, edges, n, f))
PTSZ(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *g), (S(s), g))
