/* Instances of graphs, and their launches. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

/* Target of a cudaGraphExec_t. */
struct CUgraphExec_st {
    struct CUgraph_st *graph; /* a copy: the program may change or destroy the original */
    unsigned long long flags;
    struct graph_lanes *lanes; /* NULL before the first launch */
};

static bool is_ready(const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        if (!node->dependencies[i]->done)
            return false;
    return !node->done;
}

/* Sorts nodes after their dependencies, otherwise in order of creation. @return false for a
 * cycle. */
static bool sort(struct CUgraph_st *graph)
{
    struct CUgraphNode_st **sorted = calloc(graph->count + 1, sizeof(struct CUgraphNode_st *));
    size_t n = 0;
    if (!sorted)
        return false;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->done = false;
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < graph->count; i++)
            if (is_ready(graph->nodes[i])) {
                graph->nodes[i]->done = found = true;
                graph->nodes[i]->place = n;
                sorted[n++] = graph->nodes[i];
            }
    }
    bool complete = n == graph->count;
    if (complete && n)
        memcpy(graph->nodes, sorted, n * sizeof(struct CUgraphNode_st *));
    free(sorted);
    return complete;
}

bool graph_sort(struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->type == cudaGraphNodeTypeGraph && !graph_sort(node->as.child))
            return false;
        for (unsigned k = 0;
             node->type == cudaGraphNodeTypeConditional && k < node->as.branch.count; k++)
            if (!graph_sort(node->as.branch.graphs[k]))
                return false;
    }
    return sort(graph);
}

/* Checks that memory allocated by a graph belongs to only one instance. */
static bool blocks_take(struct CUgraph_st *graph, bool take)
{
    for (size_t i = 0; take && i < graph->count; i++)
        if (graph->nodes[i]->type == cudaGraphNodeTypeMemAlloc &&
            graph->nodes[i]->as.alloc->is_instantiated)
            return false;
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == cudaGraphNodeTypeMemAlloc)
            graph->nodes[i]->as.alloc->is_instantiated = take;
    return true;
}

/* @return whether CUDA allows all nodes of a graph in a branch of a condition. */
static bool branch_can_run(const struct CUgraph_st *graph)
{
    static const enum cudaGraphNodeType others[] = {
        cudaGraphNodeTypeHost, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord,
        cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (graph_has(graph, others[i]))
            return false;
    return true;
}

static bool can_be_instantiated(const struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        for (unsigned k = 0;
             node->type == cudaGraphNodeTypeConditional && k < node->as.branch.count; k++)
            if (!branch_can_run(node->as.branch.graphs[k]))
                return false;
    }
    for (size_t i = 0; i < graph->condition_count; i++)
        if (!graph->conditions[i].is_used)
            return false;
    return true;
}

static cudaError_t check_flags(unsigned long long flags)
{
    const unsigned long long known =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    if (flags & ~known)
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        static bool said;
        rt_say_once(&said, "graphs that kernels launch are not supported by the virtual GPU");
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

static cudaError_t instantiate(cudaGraphExec_t *to, cudaGraph_t graph, unsigned long long flags,
                               const char *api)
{
    if (!to || !graph)
        return cudaErrorInvalidValue;
    cudaError_t error = check_flags(flags);
    if (error)
        return error;
    if (!can_be_instantiated(graph))
        return cudaErrorInvalidValue;
    struct CUgraphExec_st *e = calloc(1, sizeof *e);
    if (!e || !(e->graph = graph_copy(graph)) || !graph_sort(e->graph))
        error = cudaErrorInvalidValue;
    else if (!blocks_take(e->graph, true))
        error = cudaErrorNotSupported;
    if (error) {
        if (e)
            graph_free(e->graph);
        free(e);
        return error;
    }
    e->flags = flags;
    *to = e;
    return rt_request(VP_CALL, api, 0);
}

RT(cudaGraphInstantiate, (cudaGraphExec_t * to, cudaGraph_t graph, unsigned long long flags),
   instantiate(to, graph, flags, __func__))
RT(cudaGraphInstantiateWithFlags,
   (cudaGraphExec_t * to, cudaGraph_t graph, unsigned long long flags),
   instantiate(to, graph, flags, __func__))

API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *to, cudaGraph_t graph,
                                               cudaGraphInstantiateParams *p)
{
    cudaError_t error = p ? instantiate(to, graph, p->flags, __func__) : cudaErrorInvalidValue;
    if (p) {
        p->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
        p->errNode_out = NULL;
    }
    return rt_return(error);
}

RT(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags),
   exec ? PUT(flags, exec->flags, cudaSuccess) : cudaErrorInvalidValue)

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    if (!exec)
        return rt_return(cudaErrorInvalidValue);
    blocks_take(exec->graph, false);
    graph_lanes_free(exec->lanes);
    graph_free(exec->graph);
    free(exec);
    return cudaSuccess;
}

RT(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
   exec ? rt_request(VP_CALL, __func__, stream) : cudaErrorInvalidValue)

static bool frees(const struct CUgraph_st *graph, const void *address)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == cudaGraphNodeTypeMemFree &&
            graph->nodes[i]->as.freed == address)
            return true;
    return false;
}

/* Handles memory that the previous launch allocated and nobody freed: an error, unless the instance
 * frees it at launch. */
static cudaError_t free_before(const struct CUgraphExec_st *exec, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < exec->graph->count && !error; i++) {
        const struct CUgraphNode_st *node = exec->graph->nodes[i];
        if (node->type != cudaGraphNodeTypeMemAlloc || frees(exec->graph, node->as.alloc->address))
            continue;
        struct call c =
            rt_call(VP_GRAPH_MEMORY, "", stream, VP_GRAPH_STATE, HANDLE(node->as.alloc->address));
        error = rt_exchange(&c);
        if (error || !c.reply.r[1])
            continue;
        error = exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch
                    ? rt_request(VP_FREE, "", stream, HANDLE(node->as.alloc->address),
                                 VP_MEMORY_DEVICE, 1)
                    : cudaErrorInvalidValue;
    }
    return error;
}

static cudaError_t conditions_set(const struct CUgraph_st *graph, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graph->condition_count && !error; i++)
        if (graph->conditions[i].is_set)
            error = rt_request(VP_CONDITION, "", stream, graph->conditions[i].handle, 1,
                               graph->conditions[i].first);
    return error;
}

API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec)
        return rt_return(cudaErrorInvalidValue);
    if (capture_is_active(stream)) {
        static bool said;
        rt_say_once(&said, "a graph cannot be launched into a stream that is being captured");
        return rt_return(cudaErrorStreamCaptureUnsupported);
    }
    cudaError_t error = rt_request(VP_CALL, "cudaGraphLaunch", stream);
    if (!error)
        error = free_before(exec, stream);
    if (!error)
        error = conditions_set(exec->graph, stream);
    if (!error && !exec->lanes && !(exec->lanes = graph_lanes_new(exec->graph)))
        error = cudaErrorMemoryAllocation;
    return rt_return(error ? error : graph_lanes_run(exec->lanes, exec->graph, stream));
}

struct CUgraphNode_st *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t origin)
{
    for (size_t i = 0; exec && origin && i < exec->graph->count; i++)
        if (exec->graph->nodes[i]->origin == origin)
            return exec->graph->nodes[i];
    return NULL;
}

RT(cudaGraphExecKernelNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t origin, const struct cudaKernelNodeParams *p),
   graph_kernel_set(graph_exec_node(exec, origin), p))

/* Copies the contents of a graph of equal structure; the old graph's nodes remain the origins. */
API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                    cudaGraphExecUpdateResultInfo *info)
{
    if (!exec || !graph)
        return rt_return(cudaErrorInvalidValue);
    bool same = graph->count == exec->graph->count;
    struct CUgraph_st *copy = same ? graph_copy(graph) : NULL;
    same = same && copy && graph_sort(copy);
    for (size_t i = 0; same && i < copy->count; i++)
        same = copy->nodes[i]->type == exec->graph->nodes[i]->type;
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){
            .result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged};
    if (!same) {
        graph_free(copy);
        return rt_return(cudaErrorGraphExecUpdateFailure);
    }
    for (size_t i = 0; i < copy->count; i++)
        copy->nodes[i]->origin = exec->graph->nodes[i]->origin;
    graph_lanes_free(exec->lanes);
    exec->lanes = NULL;
    graph_free(exec->graph);
    exec->graph = copy;
    return cudaSuccess;
}
