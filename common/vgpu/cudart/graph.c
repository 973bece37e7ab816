/* Graphs and their nodes. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <stdlib.h>
#include <string.h>

static void node_clear(struct CUgraphNode_st *node)
{
    switch (node->type) {
    case cudaGraphNodeTypeKernel:
        free(node->as.kernel.parameters);
        break;
    case cudaGraphNodeTypeMemcpy:
        free(node->as.copy.list);
        break;
    case cudaGraphNodeTypeGraph:
        graph_free(node->as.child);
        break;
    case cudaGraphNodeTypeMemAlloc:
        graph_block_drop(node->as.alloc);
        break;
    case cudaGraphNodeTypeConditional:
        for (unsigned i = 0; i < node->as.branch.count; i++)
            graph_free(node->as.branch.graphs[i]);
        free(node->as.branch.graphs);
        break;
    default:
        break;
    }
}

static void node_free(struct CUgraphNode_st *node)
{
    node_clear(node);
    free(node->dependencies);
    free(node->arguments);
    free(node);
}

struct CUgraph_st *graph_new(void)
{
    return calloc(1, sizeof(struct CUgraph_st));
}

void graph_free(struct CUgraph_st *graph)
{
    for (size_t i = 0; graph && i < graph->count; i++) {
        node_free(graph->nodes[i]);
    }
    if (graph) {
        free(graph->nodes);
        free(graph->conditions);
        graph_users_drop(graph);
    }
    free(graph);
}

static bool has_node(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; graph && i < graph->count; i++)
        if (graph->nodes[i] == node)
            return true;
    return false;
}

static bool depend(struct CUgraphNode_st *node, struct CUgraphNode_st *on)
{
    if (!ARRAY_ROOM(node->dependencies, node->dependency_count))
        return false;
    node->dependencies[node->dependency_count++] = on;
    return true;
}

struct CUgraphNode_st *graph_add(struct CUgraph_st *graph, const struct CUgraphNode_st *from,
                                 struct CUgraphNode_st *const *dependencies, size_t n)
{
    struct CUgraphNode_st *node = calloc(1, sizeof *node);
    bool fits = ARRAY_ROOM(graph->nodes, graph->count) && node;
    for (size_t i = 0; fits && i < n; i++)
        fits = has_node(graph, dependencies[i]) && depend(node, dependencies[i]);
    if (!fits) {
        struct CUgraphNode_st contents = *from;
        node_clear(&contents);
        if (node)
            free(node->dependencies);
        free(node);
        return NULL;
    }
    node->type = from->type;
    node->as = from->as;
    node->origin = from->origin;
    node->graph = graph;
    return graph->nodes[graph->count++] = node;
}

static void depend_no_longer(struct CUgraphNode_st *node, const struct CUgraphNode_st *on)
{
    size_t left = 0;
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] != on)
            node->dependencies[left++] = node->dependencies[i];
    node->dependency_count = left;
}

void graph_node_remove(struct CUgraphNode_st *node)
{
    struct CUgraph_st *graph = node->graph;
    size_t left = 0;
    for (size_t i = 0; i < graph->count; i++) {
        depend_no_longer(graph->nodes[i], node);
        if (graph->nodes[i] != node)
            graph->nodes[left++] = graph->nodes[i];
    }
    graph->count = left;
    node_free(node);
}

bool graph_copy_append(struct CUgraphNode_st *node, const struct graph_copy *copy)
{
    if (!ARRAY_ROOM(node->as.copy.list, node->as.copy.count))
        return false;
    node->as.copy.list[node->as.copy.count++] = *copy;
    return true;
}

static bool branch_copy(struct graph_branch *to)
{
    struct CUgraph_st **from = to->graphs;
    const unsigned count = to->count;
    to->graphs = calloc(count, sizeof(struct CUgraph_st *));
    for (to->count = 0; to->graphs && to->count < count; to->count++)
        if (!(to->graphs[to->count] = graph_copy(from[to->count])))
            return false;
    return to->graphs != NULL;
}

/* Copies the contents of a node. @return false: out of memory. */
static bool contents_copy(struct CUgraphNode_st *to)
{
    switch (to->type) {
    case cudaGraphNodeTypeKernel: {
        size_t bytes = to->as.kernel.function->parameter_bytes;
        const unsigned char *from = to->as.kernel.parameters;
        to->as.kernel.parameters = malloc(bytes + 1);
        if (to->as.kernel.parameters)
            memcpy(to->as.kernel.parameters, from, bytes);
        return to->as.kernel.parameters != NULL;
    }
    case cudaGraphNodeTypeMemcpy: {
        const struct graph_copy *from = to->as.copy.list;
        size_t bytes = to->as.copy.count * sizeof *from;
        to->as.copy.list = malloc(bytes + 1);
        if (to->as.copy.list && bytes)
            memcpy(to->as.copy.list, from, bytes);
        return to->as.copy.list != NULL;
    }
    case cudaGraphNodeTypeGraph:
        to->as.child = graph_copy(to->as.child);
        return to->as.child != NULL;
    case cudaGraphNodeTypeMemAlloc:
        to->as.alloc->nodes++;
        return true;
    case cudaGraphNodeTypeConditional:
        return branch_copy(&to->as.branch);
    default:
        return true;
    }
}

struct CUgraph_st *graph_copy(const struct CUgraph_st *from)
{
    struct CUgraph_st *to = graph_new();
    for (size_t i = 0; to && i < from->count; i++) {
        struct CUgraphNode_st node = *from->nodes[i];
        node.origin = from->nodes[i];
        if (!contents_copy(&node) || !graph_add(to, &node, NULL, 0)) {
            graph_free(to);
            return NULL;
        }
    }
    for (size_t i = 0; to && i < from->count; i++)
        for (size_t k = 0; k < from->nodes[i]->dependency_count; k++)
            for (size_t j = 0; j < from->count; j++)
                if (from->nodes[j] == from->nodes[i]->dependencies[k] &&
                    !depend(to->nodes[i], to->nodes[j])) {
                    graph_free(to);
                    return NULL;
                }
    const size_t conditions = from->condition_count * sizeof *from->conditions;
    if (to && conditions && (to->conditions = malloc(conditions))) {
        memcpy(to->conditions, from->conditions, conditions);
        to->condition_count = from->condition_count;
    }
    if (to && !graph_users_copy(to, from)) {
        graph_free(to);
        return NULL;
    }
    return to;
}

bool graph_has(const struct CUgraph_st *graph, enum cudaGraphNodeType type)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->type == type ||
            (node->type == cudaGraphNodeTypeGraph && graph_has(node->as.child, type)))
            return true;
        for (unsigned k = 0;
             node->type == cudaGraphNodeTypeConditional && k < node->as.branch.count; k++)
            if (graph_has(node->as.branch.graphs[k], type))
                return true;
    }
    return false;
}

/* @return whether a graph cannot be copied, because it allocates memory or has conditions. */
static bool is_unique(const struct CUgraph_st *graph)
{
    return graph_has(graph, cudaGraphNodeTypeMemAlloc) ||
           graph_has(graph, cudaGraphNodeTypeMemFree) ||
           graph_has(graph, cudaGraphNodeTypeConditional);
}

/* ---- creating graphs ------------------------------------------------------------------------- */

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    if (!graph || flags)
        return rt_return(cudaErrorInvalidValue);
    *graph = graph_new();
    return rt_return(*graph ? cudaSuccess : cudaErrorMemoryAllocation);
}

API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    graph_free(graph);
    return rt_return(graph ? cudaSuccess : cudaErrorInvalidValue);
}

API cudaError_t cudaGraphClone(cudaGraph_t *to, cudaGraph_t from)
{
    if (!to || !from)
        return rt_return(cudaErrorInvalidValue);
    if (is_unique(from))
        return rt_return(cudaErrorNotSupported);
    *to = graph_copy(from);
    return rt_return(*to ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t graph_node_add(cudaGraphNode_t *to, cudaGraph_t graph,
                           const struct CUgraphNode_st *node, const cudaGraphNode_t *dependencies,
                           size_t n)
{
    if (!to || !graph || (n && !dependencies))
        return rt_return(cudaErrorInvalidValue);
    struct CUgraphNode_st *added = graph_add(graph, node, dependencies, n);
    if (added)
        *to = added;
    return rt_return(added ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t graph_kernel_pack(struct graph_kernel *to,
                                     const struct cudaKernelNodeParams *from)
{
    if (!from || from->extra)
        return from ? cudaErrorNotSupported : cudaErrorInvalidValue;
    *to = (struct graph_kernel){
        .grid = from->gridDim, .block = from->blockDim, .shared_bytes = from->sharedMemBytes};
    cudaError_t error = rt_function(from->func, &to->function);
    if (error)
        return error;
    const struct function *f = to->function;
    if (f->parameters && !from->kernelParams)
        return cudaErrorInvalidValue;
    to->parameters = calloc(1, (size_t)f->parameter_bytes + 1);
    if (!to->parameters)
        return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < f->parameters; i++)
        memcpy(to->parameters + f->table[2 * i], from->kernelParams[i], f->table[2 * i + 1]);
    return cudaSuccess;
}

cudaError_t graph_kernel_set(struct CUgraphNode_st *node, const struct cudaKernelNodeParams *p)
{
    struct graph_kernel kernel;
    if (!node || node->type != cudaGraphNodeTypeKernel)
        return cudaErrorInvalidValue;
    cudaError_t error = graph_kernel_pack(&kernel, p);
    if (error)
        return error;
    kernel.cluster = node->as.kernel.cluster; /* attributes remain */
    kernel.cooperative = node->as.kernel.cooperative;
    free(node->as.kernel.parameters);
    node->as.kernel = kernel;
    return cudaSuccess;
}

RT(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const struct cudaKernelNodeParams *p),
   graph_kernel_set(node, p))

/* The common parameters of functions that add a node. */
#define ADDED    cudaGraphNode_t *to, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t n
#define ADD(...) graph_node_add(to, graph, &(struct CUgraphNode_st){__VA_ARGS__}, dependencies, n)

API cudaError_t cudaGraphAddKernelNode(ADDED, const struct cudaKernelNodeParams *p)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeKernel};
    cudaError_t error = graph_kernel_pack(&node.as.kernel, p);
    return error ? rt_return(error) : graph_node_add(to, graph, &node, dependencies, n);
}

static cudaError_t add_copy(cudaGraphNode_t *to, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, size_t n,
                            const struct graph_copy *copy)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemcpy};
    if (!graph_copy_append(&node, copy))
        return rt_return(cudaErrorMemoryAllocation);
    return graph_node_add(to, graph, &node, dependencies, n);
}

API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *dependencies, size_t n, void *to,
                                         const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct graph_copy copy = {to, from, bytes, bytes, bytes, 1, kind};
    return add_copy(node, graph, dependencies, n, &copy);
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t n,
                                               const void *symbol, const void *from, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (error)
        return rt_return(error);
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, n, POINTER(v->address + offset),
                                    from, bytes, kind);
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies, size_t n,
                                                 void *to, const void *symbol, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (error)
        return rt_return(error);
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, n, to, POINTER(v->address + offset),
                                    bytes, kind);
}

bool graph_is_fill(const struct cudaMemsetParams *p)
{
    return p && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4);
}

RT(cudaGraphAddMemsetNode, (ADDED, const struct cudaMemsetParams *p),
   graph_is_fill(p) ? ADD(.type = cudaGraphNodeTypeMemset, .as.fill = *p) : cudaErrorInvalidValue)
RT(cudaGraphAddHostNode, (ADDED, const struct cudaHostNodeParams *p),
   p && p->fn
       ? ADD(.type = cudaGraphNodeTypeHost, .as.host = {.function = p->fn, .data = p->userData})
       : cudaErrorInvalidValue)
RT(cudaGraphAddEmptyNode, (ADDED), ADD(.type = cudaGraphNodeTypeEmpty))
RT(cudaGraphAddEventRecordNode, (ADDED, cudaEvent_t event),
   ADD(.type = cudaGraphNodeTypeEventRecord, .as.event = event))
RT(cudaGraphAddEventWaitNode, (ADDED, cudaEvent_t event),
   ADD(.type = cudaGraphNodeTypeWaitEvent, .as.event = event))

API cudaError_t cudaGraphAddChildGraphNode(ADDED, cudaGraph_t child)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeGraph};
    if (child && is_unique(child))
        return rt_return(cudaErrorNotSupported);
    if (!child || child == graph || !(node.as.child = graph_copy(child)))
        return rt_return(cudaErrorInvalidValue);
    return graph_node_add(to, graph, &node, dependencies, n);
}

API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                         const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!has_node(graph, from[i]) || !has_node(graph, to[i]) || !depend(to[i], from[i]))
            return rt_return(cudaErrorInvalidValue);
    return rt_return(graph ? cudaSuccess : cudaErrorInvalidValue);
}

API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!has_node(graph, from[i]) || !has_node(graph, to[i]))
            return rt_return(cudaErrorInvalidValue);
        depend_no_longer(to[i], from[i]);
    }
    return rt_return(graph ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- queries --------------------------------------------------------------------------------- */

static cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n, bool roots)
{
    if (!graph || !n)
        return rt_return(cudaErrorInvalidValue);
    size_t room = nodes ? *n : 0, found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (roots && graph->nodes[i]->dependency_count)
            continue;
        if (found < room)
            nodes[found] = graph->nodes[i];
        found++;
    }
    *n = nodes && found > room ? room : found;
    return cudaSuccess;
}

API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    return list_nodes(graph, nodes, n, false);
}

API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    return list_nodes(graph, nodes, n, true);
}

API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return rt_return(cudaErrorInvalidValue);
    *type = node->type;
    return cudaSuccess;
}
