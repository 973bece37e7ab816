/* Graphs. Graphs, nodes and instances are those of the runtime; only the parameters of nodes have
 * other types. */
#include "vgpu/driver/driver.h"

/* ---- graphs and instances ------------------------------------------------------------------- */

/* The types that both interfaces define differ only in their names. */
#define AS(type, p) ((type)(void *)(p))

DRIVER(cuGraphCreate, (CUgraph * to, unsigned flags), cudaGraphCreate(to, flags))
DRIVER(cuGraphClone, (CUgraph * to, CUgraph from), cudaGraphClone(to, from))
DRIVER(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
DRIVER(cuGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned flags),
       cudaGraphDebugDotPrint(graph, path, flags))
DRIVER(cuGraphInstantiate, (CUgraphExec * to, CUgraph graph, unsigned long long flags),
       cudaGraphInstantiateWithFlags(to, graph, flags))

static cudaError_t instantiate(CUgraphExec *to, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    cudaError_t error =
        p ? cudaGraphInstantiateWithFlags(to, graph, p->flags) : cudaErrorInvalidValue;
    if (p) {
        p->result_out = error ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
        p->hErrNode_out = NULL;
    }
    return error;
}
DRIVER(cuGraphInstantiateWithParams,
       (CUgraphExec * to, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
       instantiate(to, graph, p))
DRIVER(cuGraphExecGetFlags, (CUgraphExec graph, cuuint64_t *flags),
       cudaGraphExecGetFlags(graph, AS(unsigned long long *, flags)))
DRIVER(cuGraphExecUpdate, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
       cudaGraphExecUpdate(exec, graph, AS(cudaGraphExecUpdateResultInfo *, info)))
DRIVER(cuGraphUpload, (CUgraphExec graph, CUstream stream), cudaGraphUpload(graph, stream))
DRIVER(cuGraphLaunch, (CUgraphExec graph, CUstream stream), cudaGraphLaunch(graph, stream))
DRIVER(cuGraphExecDestroy, (CUgraphExec graph), cudaGraphExecDestroy(graph))

/* ---- edges ---------------------------------------------------------------------------------- */

DRIVER(cuGraphGetNodes, (CUgraph graph, CUgraphNode *to, size_t *n),
       cudaGraphGetNodes(graph, to, n))
DRIVER(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *to, size_t *n),
       cudaGraphGetRootNodes(graph, to, n))
DRIVER(cuGraphGetEdges,
       (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *n),
       cudaGraphGetEdges(graph, from, to, AS(cudaGraphEdgeData *, data), n))
DRIVER(cuGraphNodeGetDependencies,
       (CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data, size_t *n),
       cudaGraphNodeGetDependencies(node, to, AS(cudaGraphEdgeData *, data), n))
DRIVER(cuGraphNodeGetDependentNodes,
       (CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data, size_t *n),
       cudaGraphNodeGetDependentNodes(node, to, AS(cudaGraphEdgeData *, data), n))
DRIVER(cuGraphAddDependencies,
       (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
        size_t n),
       cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)(const void *)data, n))
DRIVER(cuGraphRemoveDependencies,
       (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
        size_t n),
       cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData *)(const void *)data,
                                   n))
DRIVER(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *to),
       cudaGraphNodeGetType(node, AS(enum cudaGraphNodeType *, to)))
DRIVER(cuGraphNodeFindInClone, (CUgraphNode * to, CUgraphNode origin, CUgraph clone),
       cudaGraphNodeFindInClone(to, origin, clone))
DRIVER(cuGraphDestroyNode, (CUgraphNode node), cudaGraphDestroyNode(node))
DRIVER(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned enabled),
       cudaGraphNodeSetEnabled(exec, node, enabled))
DRIVER(cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *enabled),
       cudaGraphNodeGetEnabled(exec, node, enabled))

/* ---- nodes ---------------------------------------------------------------------------------- */

#define ADDED CUgraphNode *to, CUgraph graph, const CUgraphNode *dependencies, size_t n
#define ADD   to, graph, dependencies, n

enum kernel_use { KERNEL_ADD, KERNEL_SET, KERNEL_SET_IN_INSTANCE };

/* Adds a node, or sets the parameters of *to. */
static cudaError_t kernel_node(enum kernel_use use, CUgraphExec exec, ADDED,
                               const CUDA_KERNEL_NODE_PARAMS *p)
{
    void *room[DRIVER_PARAMETERS];
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaKernelNodeParams plain = {.func = p->func ? (void *)p->func : (void *)p->kern,
                                         .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                         .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                         .sharedMemBytes = p->sharedMemBytes,
                                         .kernelParams = p->kernelParams};
    cudaError_t error =
        driver_parameters((CUfunction)plain.func, p->extra, &plain.kernelParams, room);
    if (error)
        return error;
    return use == KERNEL_ADD   ? cudaGraphAddKernelNode(ADD, &plain)
           : use == KERNEL_SET ? cudaGraphKernelNodeSetParams(*to, &plain)
                               : cudaGraphExecKernelNodeSetParams(exec, *to, &plain);
}

static cudaError_t kernel_get(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams k;
    cudaError_t error = p ? cudaGraphKernelNodeGetParams(node, &k) : cudaErrorInvalidValue;
    if (!error)
        *p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)k.func,
                                       .gridDimX = k.gridDim.x,
                                       .gridDimY = k.gridDim.y,
                                       .gridDimZ = k.gridDim.z,
                                       .blockDimX = k.blockDim.x,
                                       .blockDimY = k.blockDim.y,
                                       .blockDimZ = k.blockDim.z,
                                       .sharedMemBytes = k.sharedMemBytes,
                                       .kernelParams = k.kernelParams};
    return error;
}

DRIVER(cuGraphAddKernelNode, (ADDED, const CUDA_KERNEL_NODE_PARAMS *p),
       kernel_node(KERNEL_ADD, NULL, ADD, p))
DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p),
       kernel_get(node, p))
DRIVER(cuGraphKernelNodeSetParams, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p),
       kernel_node(KERNEL_SET, NULL, &node, NULL, NULL, 0, p))
DRIVER(cuGraphExecKernelNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p),
       kernel_node(KERNEL_SET_IN_INSTANCE, exec, &node, NULL, NULL, 0, p))

DRIVER(cuGraphKernelNodeSetAttribute,
       (CUgraphNode node, CUlaunchAttributeID id, const CUlaunchAttributeValue *value),
       cudaGraphKernelNodeSetAttribute(node, (cudaLaunchAttributeID)id,
                                       (const cudaLaunchAttributeValue *)(const void *)value))
DRIVER(cuGraphKernelNodeGetAttribute,
       (CUgraphNode node, CUlaunchAttributeID id, CUlaunchAttributeValue *value),
       cudaGraphKernelNodeGetAttribute(node, (cudaLaunchAttributeID)id,
                                       AS(cudaLaunchAttributeValue *, value)))
DRIVER(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from),
       cudaGraphKernelNodeCopyAttributes(to, from))

static cudaError_t copy_add(ADDED, const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = driver_copy_of(p, &copy);
    return error ? error : cudaGraphAddMemcpyNode(ADD, &copy);
}
DRIVER(cuGraphAddMemcpyNode, (ADDED, const CUDA_MEMCPY3D *p, CUcontext context), copy_add(ADD, p))

static cudaError_t copy_set(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = driver_copy_of(p, &copy);
    return error  ? error
           : exec ? cudaGraphExecMemcpyNodeSetParams(exec, node, &copy)
                  : cudaGraphMemcpyNodeSetParams(node, &copy);
}

static struct cudaMemsetParams fill_of(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (struct cudaMemsetParams){.dst = POINTER(p->dst),
                                     .pitch = p->pitch,
                                     .value = p->value,
                                     .elementSize = p->elementSize,
                                     .width = p->width,
                                     .height = p->height};
}
DRIVER(cuGraphAddMemsetNode, (ADDED, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
       p ? cudaGraphAddMemsetNode(ADD, (struct cudaMemsetParams[]){fill_of(p)})
         : cudaErrorInvalidValue)
DRIVER(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p),
       p ? cudaGraphMemsetNodeSetParams(node, (struct cudaMemsetParams[]){fill_of(p)})
         : cudaErrorInvalidValue)
DRIVER(cuGraphExecMemsetNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
       p ? cudaGraphExecMemsetNodeSetParams(exec, node, (struct cudaMemsetParams[]){fill_of(p)})
         : cudaErrorInvalidValue)

DRIVER(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *p),
       copy_set(NULL, node, p))
DRIVER(cuGraphExecMemcpyNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext context),
       copy_set(exec, node, p))
DRIVER(cuGraphHostNodeGetParams, (CUgraphNode node, CUDA_HOST_NODE_PARAMS *p),
       cudaGraphHostNodeGetParams(node, AS(struct cudaHostNodeParams *, p)))
DRIVER(cuGraphExecHostNodeSetParams,
       (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p),
       cudaGraphExecHostNodeSetParams(exec, node,
                                      (const struct cudaHostNodeParams *)(const void *)p))
DRIVER(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child),
       cudaGraphExecChildGraphNodeSetParams(exec, node, child))
DRIVER(cuGraphAddHostNode, (ADDED, const CUDA_HOST_NODE_PARAMS *p),
       cudaGraphAddHostNode(ADD, (const struct cudaHostNodeParams *)(const void *)p))
DRIVER(cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p),
       cudaGraphHostNodeSetParams(node, (const struct cudaHostNodeParams *)(const void *)p))
DRIVER(cuGraphAddChildGraphNode, (ADDED, CUgraph child), cudaGraphAddChildGraphNode(ADD, child))
DRIVER(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *to),
       cudaGraphChildGraphNodeGetGraph(node, to))
DRIVER(cuGraphAddEmptyNode, (ADDED), cudaGraphAddEmptyNode(ADD))
DRIVER(cuGraphAddEventRecordNode, (ADDED, CUevent event), cudaGraphAddEventRecordNode(ADD, event))
DRIVER(cuGraphAddEventWaitNode, (ADDED, CUevent event), cudaGraphAddEventWaitNode(ADD, event))
DRIVER(cuGraphAddMemFreeNode, (ADDED, CUdeviceptr p), cudaGraphAddMemFreeNode(ADD, POINTER(p)))

static cudaError_t alloc_add(ADDED, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaMemAllocNodeParams plain = {
        .poolProps = *AS(const struct cudaMemPoolProps *, &p->poolProps), .bytesize = p->bytesize};
    cudaError_t error = cudaGraphAddMemAllocNode(ADD, &plain);
    p->dptr = (CUdeviceptr)(uintptr_t)plain.dptr;
    return error;
}
DRIVER(cuGraphAddMemAllocNode, (ADDED, CUDA_MEM_ALLOC_NODE_PARAMS *p), alloc_add(ADD, p))

DRIVER(cuGraphConditionalHandleCreate,
       (CUgraphConditionalHandle * to, CUgraph graph, CUcontext context, unsigned first,
        unsigned flags),
       cudaGraphConditionalHandleCreate(AS(cudaGraphConditionalHandle *, to), graph, first, flags))

/* The parameters of all kinds but copies begin with those of the runtime. */
static cudaError_t node_add(ADDED, const CUgraphEdgeData *data, CUgraphNodeParams *p)
{
    if (p && p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        return copy_add(ADD, &p->memcpy.copyParams);
    return cudaGraphAddNode(to, graph, dependencies, (const cudaGraphEdgeData *)(const void *)data,
                            n, AS(struct cudaGraphNodeParams *, p));
}

static cudaError_t node_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
    if (p && p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        return copy_set(exec, node, &p->memcpy.copyParams);
    return exec ? cudaGraphExecNodeSetParams(exec, node, AS(struct cudaGraphNodeParams *, p))
                : cudaGraphNodeSetParams(node, AS(struct cudaGraphNodeParams *, p));
}

DRIVER(cuGraphAddNode,
       (CUgraphNode * to, CUgraph graph, const CUgraphNode *dependencies,
        const CUgraphEdgeData *data, size_t n, CUgraphNodeParams *p),
       node_add(ADD, data, p))
DRIVER(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *p), node_set(NULL, node, p))
DRIVER(cuGraphExecNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p),
       exec ? node_set(exec, node, p) : cudaErrorInvalidValue)

/* ---- capture -------------------------------------------------------------------------------- */

DRIVER(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode),
       cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode))
DRIVER(cuStreamBeginCaptureToGraph,
       (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
        const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode),
       cudaStreamBeginCaptureToGraph(stream, graph, dependencies,
                                     (const cudaGraphEdgeData *)(const void *)data, n,
                                     (enum cudaStreamCaptureMode)mode))
DRIVER(cuStreamEndCapture, (CUstream stream, CUgraph *to), cudaStreamEndCapture(stream, to))
DRIVER(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *to),
       cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)to))
DRIVER(cuStreamGetCaptureInfo,
       (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
        const CUgraphNode **dependencies, const CUgraphEdgeData **data, size_t *n),
       cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)status,
                                AS(unsigned long long *, id), graph, dependencies,
                                AS(const cudaGraphEdgeData **, data), n))
DRIVER(cuStreamUpdateCaptureDependencies,
       (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n, unsigned flags),
       cudaStreamUpdateCaptureDependencies(stream, nodes,
                                           (const cudaGraphEdgeData *)(const void *)data, n, flags))
DRIVER(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode),
       cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode))
