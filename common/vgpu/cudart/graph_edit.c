/* Reads the parameters and edges of nodes, and changes them in a graph or in an instance. */
#include "vgpu/cudart/array.h"
#include "vgpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

static bool is_a(const struct CUgraphNode_st *node, enum cudaGraphNodeType type)
{
    return node && node->type == type;
}

/* ---- kernels, fills, host functions, child graphs, events -------------------------------------- */

API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    if (!is_a(node, cudaGraphNodeTypeKernel) || !p)
        return rt_return(cudaErrorInvalidValue);
    const struct graph_kernel *k = &node->as.kernel;
    free(node->arguments);
    node->arguments = calloc(k->function->parameters + 1, sizeof *node->arguments);
    if (!node->arguments)
        return rt_return(cudaErrorMemoryAllocation);
    for (uint32_t i = 0; i < k->function->parameters; i++)
        node->arguments[i] = k->parameters + k->function->table[2 * i];
    *p = (struct cudaKernelNodeParams){.func = POINTER(k->function->host),
                                       .gridDim = k->grid,
                                       .blockDim = k->block,
                                       .sharedMemBytes = (unsigned)k->shared_bytes,
                                       .kernelParams = node->arguments};
    return cudaSuccess;
}

/* Attributes of a launch that change nothing here, such as its priority, are not kept. */
static cudaError_t attribute_set(struct CUgraphNode_st *node, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value)
{
    if (!is_a(node, cudaGraphNodeTypeKernel) || !value)
        return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeCooperative)
        node->as.kernel.cooperative = value->cooperative != 0;
    if (id == cudaLaunchAttributeClusterDimension)
        node->as.kernel.cluster =
            (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    return cudaSuccess;
}

static cudaError_t attribute_get(const struct CUgraphNode_st *node, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *value)
{
    if (!is_a(node, cudaGraphNodeTypeKernel) || !value)
        return cudaErrorInvalidValue;
    const struct graph_kernel *k = &node->as.kernel;
    memset(value, 0, sizeof *value);
    if (id == cudaLaunchAttributeCooperative)
        value->cooperative = k->cooperative;
    if (id == cudaLaunchAttributeClusterDimension) {
        value->clusterDim.x = k->cluster.x;
        value->clusterDim.y = k->cluster.y;
        value->clusterDim.z = k->cluster.z;
    }
    return cudaSuccess;
}

static cudaError_t attributes_copy(struct CUgraphNode_st *to, const struct CUgraphNode_st *from)
{
    if (!is_a(to, cudaGraphNodeTypeKernel) || !is_a(from, cudaGraphNodeTypeKernel))
        return cudaErrorInvalidValue;
    to->as.kernel.cooperative = from->as.kernel.cooperative;
    to->as.kernel.cluster = from->as.kernel.cluster;
    return cudaSuccess;
}

RT(cudaGraphKernelNodeSetAttribute,
   (cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value),
   attribute_set(node, id, value))
RT(cudaGraphKernelNodeGetAttribute,
   (cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value),
   attribute_get(node, id, value))
RT(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from),
   attributes_copy(to, from))

static cudaError_t fill_set(struct CUgraphNode_st *node, const struct cudaMemsetParams *p)
{
    if (!is_a(node, cudaGraphNodeTypeMemset) || !graph_is_fill(p))
        return cudaErrorInvalidValue;
    node->as.fill = *p;
    return cudaSuccess;
}

static cudaError_t host_set(struct CUgraphNode_st *node, const struct cudaHostNodeParams *p)
{
    if (!is_a(node, cudaGraphNodeTypeHost) || !p || !p->fn)
        return cudaErrorInvalidValue;
    node->as.host.function = p->fn;
    node->as.host.with_status = NULL;
    node->as.host.data = p->userData;
    return cudaSuccess;
}

static cudaError_t event_set(struct CUgraphNode_st *node, enum cudaGraphNodeType type,
                             cudaEvent_t event)
{
    if (!is_a(node, type) || !event)
        return cudaErrorInvalidValue;
    node->as.event = event;
    return cudaSuccess;
}

/* Replaces a child graph in an instance by a graph of equal structure. */
static cudaError_t child_set(struct CUgraphNode_st *node, const struct CUgraph_st *child)
{
    if (!is_a(node, cudaGraphNodeTypeGraph) || !child || child->count != node->as.child->count)
        return cudaErrorInvalidValue;
    struct CUgraph_st *copy = graph_copy(child);
    if (!copy || !graph_sort(copy)) {
        graph_free(copy);
        return cudaErrorInvalidValue;
    }
    graph_free(node->as.child);
    node->as.child = copy;
    return cudaSuccess;
}

RT(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *p),
   is_a(node, cudaGraphNodeTypeMemset) ? PUT(p, node->as.fill, cudaSuccess) : cudaErrorInvalidValue)
RT(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *p),
   fill_set(node, p))
RT(cudaGraphExecMemsetNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *p),
   fill_set(graph_exec_node(exec, node), p))
RT(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *p),
   is_a(node, cudaGraphNodeTypeHost)
       ? PUT(p,
             ((struct cudaHostNodeParams){.fn = node->as.host.function,
                                          .userData = node->as.host.data}),
             cudaSuccess)
       : cudaErrorInvalidValue)
RT(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *p),
   host_set(node, p))
RT(cudaGraphExecHostNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *p),
   host_set(graph_exec_node(exec, node), p))
RT(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *to),
   is_a(node, cudaGraphNodeTypeGraph) ? PUT(to, node->as.child, cudaSuccess)
                                      : cudaErrorInvalidValue)
RT(cudaGraphExecChildGraphNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
   child_set(graph_exec_node(exec, node), child))
#define EVENT_NODE(NAME, TYPE)                                                                     \
    RT(cudaGraph##NAME##GetEvent, (cudaGraphNode_t node, cudaEvent_t * to),                        \
       is_a(node, TYPE) ? PUT(to, node->as.event, cudaSuccess) : cudaErrorInvalidValue)            \
    RT(cudaGraph##NAME##SetEvent, (cudaGraphNode_t node, cudaEvent_t event),                       \
       event_set(node, TYPE, event))                                                               \
    RT(cudaGraphExec##NAME##SetEvent,                                                              \
       (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),                            \
       event_set(graph_exec_node(exec, node), TYPE, event))
EVENT_NODE(EventRecordNode, cudaGraphNodeTypeEventRecord)
EVENT_NODE(EventWaitNode, cudaGraphNodeTypeWaitEvent)

/* ---- copies ------------------------------------------------------------------------------------ */

static cudaError_t copy_set(struct CUgraphNode_st *node, const struct cudaMemcpy3DParms *p)
{
    struct copy_3d c;
    struct CUgraphNode_st copies = {.as.copy.given = p ? *p : (struct cudaMemcpy3DParms){0}};
    cudaError_t error =
        is_a(node, cudaGraphNodeTypeMemcpy) ? rt_copy_3d_of(&c, p) : cudaErrorInvalidValue;
    if (error)
        return error;
    for (size_t z = 0; z < c.extent.depth; z++) {
        const struct graph_copy slice = {c.to.at + z * c.to.slice,
                                         c.from.at + z * c.from.slice,
                                         c.to.pitch,
                                         c.from.pitch,
                                         c.extent.width,
                                         c.extent.height,
                                         p->kind};
        if (!graph_copy_append(&copies, &slice)) {
            free(copies.as.copy.list);
            return cudaErrorMemoryAllocation;
        }
    }
    free(node->as.copy.list);
    node->as.copy = copies.as.copy;
    return cudaSuccess;
}

API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *to, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t n,
                                       const struct cudaMemcpy3DParms *p)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemcpy};
    cudaError_t error = copy_set(&node, p);
    return error ? rt_return(error) : graph_node_add(to, graph, &node, dependencies, n);
}

/* Makes a node one copy of contiguous memory. */
static cudaError_t line_set(struct CUgraphNode_st *node, void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind)
{
    if (!is_a(node, cudaGraphNodeTypeMemcpy) || node->as.copy.count != 1)
        return cudaErrorInvalidValue;
    node->as.copy.list[0] = (struct graph_copy){to, from, bytes, bytes, bytes, 1, kind};
    node->as.copy.given.extent.width = 0;
    return cudaSuccess;
}

static cudaError_t to_symbol_set(struct CUgraphNode_st *node, const void *symbol, const void *from,
                                 size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    return error ? error : line_set(node, POINTER(v->address + offset), from, bytes, kind);
}

static cudaError_t from_symbol_set(struct CUgraphNode_st *node, void *to, const void *symbol,
                                   size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    return error ? error : line_set(node, to, POINTER(v->address + offset), bytes, kind);
}

/* Nodes that the program did not create with these parameters have one copy of rows. */
static cudaError_t copy_get(const struct CUgraphNode_st *node, struct cudaMemcpy3DParms *p)
{
    if (!is_a(node, cudaGraphNodeTypeMemcpy) || !p || !node->as.copy.count)
        return cudaErrorInvalidValue;
    const struct graph_copy *c = node->as.copy.list;
    *p = node->as.copy.given.extent.width
             ? node->as.copy.given
             : (struct cudaMemcpy3DParms){
                   .srcPtr = {(void *)(uintptr_t)c->from, c->from_pitch, c->width, c->height},
                   .dstPtr = {c->to, c->to_pitch, c->width, c->height},
                   .extent = {c->width, c->height, 1},
                   .kind = c->kind};
    return cudaSuccess;
}

RT(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, struct cudaMemcpy3DParms *p),
   copy_get(node, p))
RT(cudaGraphMemcpyNodeSetParams, (cudaGraphNode_t node, const struct cudaMemcpy3DParms *p),
   copy_set(node, p))
RT(cudaGraphExecMemcpyNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *p),
   copy_set(graph_exec_node(exec, node), p))
#define COPY_NODE(SUFFIX, SET, TO, FROM, MORE, ...)                                                \
    RT(cudaGraphMemcpyNodeSetParams##SUFFIX,                                                       \
       (cudaGraphNode_t node, TO to, FROM from, size_t bytes MORE, enum cudaMemcpyKind kind),      \
       SET(node, to, from, __VA_ARGS__, kind))                                                     \
    RT(cudaGraphExecMemcpyNodeSetParams##SUFFIX,                                                   \
       (cudaGraphExec_t exec, cudaGraphNode_t node, TO to, FROM from, size_t bytes MORE,           \
        enum cudaMemcpyKind kind),                                                                 \
       SET(graph_exec_node(exec, node), to, from, __VA_ARGS__, kind))
#define OFFSET , size_t offset
COPY_NODE(1D, line_set, void *, const void *, , bytes)
COPY_NODE(ToSymbol, to_symbol_set, const void *, const void *, OFFSET, bytes, offset)
COPY_NODE(FromSymbol, from_symbol_set, void *, const void *, OFFSET, bytes, offset)

/* @return whether CUDA allows a node to be disabled. */
static bool can_be_disabled(const struct CUgraphNode_st *node)
{
    return is_a(node, cudaGraphNodeTypeKernel) || is_a(node, cudaGraphNodeTypeMemcpy) ||
           is_a(node, cudaGraphNodeTypeMemset);
}

API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t origin,
                                        unsigned enabled)
{
    struct CUgraphNode_st *node = graph_exec_node(exec, origin);
    if (!can_be_disabled(node))
        return rt_return(cudaErrorInvalidValue);
    node->is_disabled = !enabled;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t origin,
                                        unsigned *enabled)
{
    const struct CUgraphNode_st *node = graph_exec_node(exec, origin);
    return rt_return(can_be_disabled(node) ? PUT(enabled, !node->is_disabled, cudaSuccess)
                                           : cudaErrorInvalidValue);
}

/* ---- edges ------------------------------------------------------------------------------------- */

/* A list that counts all its items and stores as many as fit. */
struct listing {
    cudaGraphNode_t *from, *to;
    cudaGraphEdgeData *data;
    size_t room, found;
};

static void list_edge(struct listing *l, cudaGraphNode_t from, cudaGraphNode_t to)
{
    const size_t i = l->found++;
    if (i >= l->room)
        return;
    if (l->from)
        l->from[i] = from;
    if (l->to)
        l->to[i] = to;
    if (l->data)
        memset(&l->data[i], 0, sizeof l->data[i]);
}

static cudaError_t listed(const struct listing *l, size_t *n)
{
    *n = l->room && l->found > l->room ? l->room : l->found;
    return cudaSuccess;
}

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                  cudaGraphEdgeData *data, size_t *n)
{
    if (!graph || !n || !from != !to)
        return rt_return(cudaErrorInvalidValue);
    struct listing l = {from, to, data, from ? *n : 0, 0};
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            list_edge(&l, graph->nodes[i]->dependencies[k], graph->nodes[i]);
    return listed(&l, n);
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list,
                                             cudaGraphEdgeData *data, size_t *n)
{
    if (!node || !n)
        return rt_return(cudaErrorInvalidValue);
    struct listing l = {list, NULL, data, list ? *n : 0, 0};
    for (size_t k = 0; k < node->dependency_count; k++)
        list_edge(&l, node->dependencies[k], node);
    return listed(&l, n);
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list,
                                               cudaGraphEdgeData *data, size_t *n)
{
    if (!node || !n)
        return rt_return(cudaErrorInvalidValue);
    struct listing l = {NULL, list, data, list ? *n : 0, 0};
    const struct CUgraph_st *graph = node->graph;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            if (graph->nodes[i]->dependencies[k] == node)
                list_edge(&l, node, graph->nodes[i]);
    return listed(&l, n);
}

API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    if (!node)
        return rt_return(cudaErrorInvalidValue);
    if (is_a(node, cudaGraphNodeTypeMemAlloc) || is_a(node, cudaGraphNodeTypeMemFree))
        return rt_return(cudaErrorNotSupported);
    graph_node_remove(node);
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *to, cudaGraphNode_t origin,
                                         cudaGraph_t clone)
{
    for (size_t i = 0; to && origin && clone && i < clone->count; i++)
        if (clone->nodes[i]->origin == origin) {
            *to = clone->nodes[i];
            return cudaSuccess;
        }
    return rt_return(cudaErrorInvalidValue);
}
