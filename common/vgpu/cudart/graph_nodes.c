/* Nodes of any kind; nodes that allocate and free memory; nodes with a condition.
 *
 * Memory: a node gets its address when it is created; the memory exists from the node's run until a
 * node, or the program, frees it. The node's copies in instances share the address, which is
 * released with the last copy. Conditions are in the device, because kernels set them; a launch
 * reads them to choose the graphs of a node. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <stdlib.h>

/* ---- memory ------------------------------------------------------------------------------------ */

#define ADDED cudaGraphNode_t *to, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t n

API cudaError_t cudaGraphAddMemAllocNode(ADDED, struct cudaMemAllocNodeParams *p)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemAlloc};
    if (!p || !graph || p->poolProps.allocType != cudaMemAllocationTypePinned ||
        p->poolProps.location.type != cudaMemLocationTypeDevice || p->poolProps.location.id != 0)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = graph_block_new(&node.as.alloc, p->bytesize, __func__);
    if (error)
        return rt_return(error);
    void *const address = node.as.alloc->address;
    error = graph_node_add(to, graph, &node, dependencies, n);
    if (!error)
        p->dptr = address;
    return error;
}

static bool is_freed_there(const struct CUgraph_st *graph, const void *p)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == cudaGraphNodeTypeMemFree && graph->nodes[i]->as.freed == p)
            return true;
    return false;
}

API cudaError_t cudaGraphAddMemFreeNode(ADDED, void *p)
{
    struct call c = rt_call(VP_GRAPH_MEMORY, __func__, 0, VP_GRAPH_STATE, HANDLE(p));
    if (!graph || is_freed_there(graph, p))
        return rt_return(cudaErrorInvalidValue);
    cudaError_t error = rt_exchange(&c);
    if (!error && !c.reply.r[0])
        error = cudaErrorInvalidValue; /* no graph allocated this memory */
    const struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemFree, .as.freed = p};
    return error ? rt_return(error) : graph_node_add(to, graph, &node, dependencies, n);
}

API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                               struct cudaMemAllocNodeParams *p)
{
    if (!node || !p || node->type != cudaGraphNodeTypeMemAlloc)
        return rt_return(cudaErrorInvalidValue);
    *p = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice}},
        .bytesize = node->as.alloc->bytes,
        .dptr = node->as.alloc->address};
    return cudaSuccess;
}

RT(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *to),
   node && node->type == cudaGraphNodeTypeMemFree ? PUT((void **)to, node->as.freed, cudaSuccess)
                                                  : cudaErrorInvalidValue)
RT(cudaDeviceGraphMemTrim, (int device),
   device ? cudaErrorInvalidDevice : rt_request(VP_GRAPH_MEMORY, __func__, 0, VP_GRAPH_TRIM))

API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType which,
                                               void *value)
{
    struct call c = rt_call(VP_GRAPH_MEMORY, __func__, 0, VP_GRAPH_COUNTS);
    if (device || !value || (unsigned)which > cudaGraphMemAttrReservedMemHigh)
        return rt_return(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *(uint64_t *)value = c.reply.r[which];
    return rt_return(error);
}

/* The high-water marks can only be set to 0, which restarts them. */
RT(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType which, void *value),
   device                         ? cudaErrorInvalidDevice
   : !value || *(uint64_t *)value ? cudaErrorInvalidValue
                                  : rt_request(VP_GRAPH_MEMORY, __func__, 0, VP_GRAPH_RESET, which))

/* ---- conditions -------------------------------------------------------------------------------- */

API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                 cudaGraph_t graph, unsigned first, unsigned flags)
{
    struct call c = rt_call(VP_CONDITION, __func__, 0, 0, 1, first);
    if (!handle || !graph || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return rt_return(cudaErrorInvalidValue);
    if (!ARRAY_ROOM(graph->conditions, graph->condition_count))
        return rt_return(cudaErrorMemoryAllocation);
    cudaError_t error = rt_exchange(&c);
    if (error)
        return rt_return(error);
    graph->conditions[graph->condition_count++] = (struct graph_condition){
        .handle = c.reply.r[0], .first = first, .is_set = flags == cudaGraphCondAssignDefault};
    *handle = c.reply.r[0];
    return cudaSuccess;
}

/* @return the condition with a handle in a graph or its enclosing graphs. */
static struct graph_condition *condition_of(struct CUgraph_st *graph,
                                            cudaGraphConditionalHandle handle)
{
    for (; graph; graph = graph->around)
        for (size_t i = 0; i < graph->condition_count; i++)
            if (graph->conditions[i].handle == handle)
                return &graph->conditions[i];
    return NULL;
}

static cudaError_t add_branch(ADDED, struct cudaConditionalNodeParams *p)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeConditional,
                                  .as.branch = {.handle = p->handle, .type = p->type}};
    struct graph_branch *b = &node.as.branch;
    struct graph_condition *condition = condition_of(graph, p->handle);
    const unsigned most = p->type == cudaGraphCondTypeIf      ? 2
                          : p->type == cudaGraphCondTypeWhile ? 1
                                                              : 1024;
    if (!condition || condition->is_used || (unsigned)p->type > cudaGraphCondTypeSwitch ||
        !p->size || p->size > most)
        return rt_return(cudaErrorInvalidValue);
    b->graphs = calloc(p->size, sizeof *b->graphs);
    for (; b->graphs && b->count < p->size && (b->graphs[b->count] = graph_new()); b->count++)
        b->graphs[b->count]->around = graph;
    cudaError_t error = graph_node_add(to, graph, &node, dependencies, n);
    if (error)
        return error;
    condition->is_used = true;
    p->phGraph_out = b->graphs;
    return cudaSuccess;
}

/* ---- any kind ---------------------------------------------------------------------------------- */

static struct cudaKernelNodeParams plain_kernel(const struct cudaKernelNodeParamsV2 *p)
{
    return (struct cudaKernelNodeParams){.func = p->func,
                                         .gridDim = p->gridDim,
                                         .blockDim = p->blockDim,
                                         .sharedMemBytes = p->sharedMemBytes,
                                         .kernelParams = p->kernelParams,
                                         .extra = p->extra};
}

static struct cudaMemsetParams plain_fill(const struct cudaMemsetParamsV2 *p)
{
    return (struct cudaMemsetParams){.dst = p->dst,
                                     .pitch = p->pitch,
                                     .value = p->value,
                                     .elementSize = p->elementSize,
                                     .width = p->width,
                                     .height = p->height};
}

static struct cudaHostNodeParams plain_host(const struct cudaHostNodeParamsV2 *p)
{
    return (struct cudaHostNodeParams){.fn = p->fn, .userData = p->userData};
}

static cudaError_t add_allocation(ADDED, struct cudaMemAllocNodeParamsV2 *p)
{
    struct cudaMemAllocNodeParams plain = {.poolProps = p->poolProps,
                                           .accessDescs = p->accessDescs,
                                           .accessDescCount = p->accessDescCount,
                                           .bytesize = p->bytesize};
    cudaError_t error = cudaGraphAddMemAllocNode(to, graph, dependencies, n, &plain);
    p->dptr = plain.dptr;
    return error;
}

API cudaError_t cudaGraphAddNode(cudaGraphNode_t *to, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies,
                                 const cudaGraphEdgeData *edges, size_t n,
                                 struct cudaGraphNodeParams *p)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;
    if (!p || !graph)
        return rt_return(cudaErrorInvalidValue);
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        kernel = plain_kernel(&p->kernel);
        return cudaGraphAddKernelNode(to, graph, dependencies, n, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(to, graph, dependencies, n, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        fill = plain_fill(&p->memset);
        return cudaGraphAddMemsetNode(to, graph, dependencies, n, &fill);
    case cudaGraphNodeTypeHost:
        host = plain_host(&p->host);
        return cudaGraphAddHostNode(to, graph, dependencies, n, &host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(to, graph, dependencies, n, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(to, graph, dependencies, n);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(to, graph, dependencies, n, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(to, graph, dependencies, n, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return add_allocation(to, graph, dependencies, n, &p->alloc);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(to, graph, dependencies, n, p->free.dptr);
    case cudaGraphNodeTypeConditional:
        return add_branch(to, graph, dependencies, n, &p->conditional);
    default:
        return rt_return(cudaErrorNotSupported);
    }
}

/* The functions for one kind of nodes reject a node of another kind. */
static cudaError_t node_set(struct CUgraphNode_st *node, const struct cudaGraphNodeParams *p)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;
    if (!p)
        return cudaErrorInvalidValue;
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        kernel = plain_kernel(&p->kernel);
        return cudaGraphKernelNodeSetParams(node, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        fill = plain_fill(&p->memset);
        return cudaGraphMemsetNodeSetParams(node, &fill);
    case cudaGraphNodeTypeHost:
        host = plain_host(&p->host);
        return cudaGraphHostNodeSetParams(node, &host);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default:
        return cudaErrorInvalidValue;
    }
}

RT(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *p), node_set(node, p))
RT(cudaGraphExecNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p),
   p && p->type == cudaGraphNodeTypeGraph
       ? cudaGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph)
       : node_set(graph_exec_node(exec, node), p))
