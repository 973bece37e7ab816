/* Executes the nodes of graphs. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

/* Runs a fill. The device fills only with bytes; wider elements are copied from a row that is
 * filled here. */
static cudaError_t fill_run(const struct cudaMemsetParams *p, cudaStream_t stream)
{
    size_t width = p->width * p->elementSize;
    unsigned v = p->value & 0xff;
    if (p->elementSize == 1 || p->value == v * (p->elementSize == 2 ? 0x0101u : 0x01010101u))
        return rt_fill(p->dst, p->pitch ? p->pitch : width, (int)v, width, p->height, stream, "");
    char *row = malloc(width ? width : 1);
    if (!row)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < width; i += p->elementSize)
        memcpy(row + i, &p->value, p->elementSize);
    cudaError_t error = cudaSuccess;
    for (size_t y = 0; y < p->height && !error; y++)
        error = rt_copy((char *)p->dst + y * p->pitch, width, row, width, width, 1,
                        cudaMemcpyHostToDevice, stream, 0, "");
    free(row);
    return error;
}

static cudaError_t condition_get(cudaGraphConditionalHandle handle, uint64_t *value,
                                 cudaStream_t stream)
{
    struct call c = rt_call(VP_CONDITION, "", stream, handle, 0);
    cudaError_t error = rt_exchange(&c);
    *value = error ? 0 : c.reply.r[1];
    return error;
}

static cudaError_t graph_run(struct CUgraph_st *graph, cudaStream_t stream);

static cudaError_t branch_run(const struct graph_branch *b, cudaStream_t stream)
{
    uint64_t value;
    cudaError_t error = condition_get(b->handle, &value, stream);
    if (b->type == cudaGraphCondTypeIf)
        value = !value;
    while (b->type == cudaGraphCondTypeWhile && value && !error) {
        error = graph_run(b->graphs[0], stream);
        if (!error)
            error = condition_get(b->handle, &value, stream);
    }
    if (b->type == cudaGraphCondTypeWhile || error || value >= b->count)
        return error;
    return graph_run(b->graphs[value], stream);
}

cudaError_t graph_node_run(const struct CUgraphNode_st *node, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (node->is_disabled)
        return cudaSuccess;
    switch (node->type) {
    case cudaGraphNodeTypeKernel:
        return rt_launch(&node->as.kernel, stream, "");
    case cudaGraphNodeTypeMemcpy:
        for (size_t i = 0; i < node->as.copy.count && !error; i++) {
            const struct graph_copy *c = &node->as.copy.list[i];
            error = rt_copy(c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->height,
                            c->kind, stream, VP_ASYNC, "");
        }
        return error;
    case cudaGraphNodeTypeMemset:
        return fill_run(&node->as.fill, stream);
    case cudaGraphNodeTypeHost:
        return rt_host_function(stream, node->as.host.function, node->as.host.with_status,
                                node->as.host.data, "");
    case cudaGraphNodeTypeGraph:
        return graph_run(node->as.child, stream);
    case cudaGraphNodeTypeEventRecord:
        return rt_request(VP_EVENT_RECORD, "", stream, HANDLE(node->as.event));
    case cudaGraphNodeTypeWaitEvent:
        return rt_request(VP_STREAM_WAIT, "", stream, HANDLE(node->as.event));
    case cudaGraphNodeTypeMemAlloc:
        return graph_alloc_run(node->as.alloc);
    case cudaGraphNodeTypeMemFree:
        return rt_request(VP_FREE, "", stream, HANDLE(node->as.freed), VP_MEMORY_DEVICE, 1);
    case cudaGraphNodeTypeConditional:
        return branch_run(&node->as.branch, stream);
    default:
        return cudaSuccess;
    }
}

/* Runs a graph's nodes in one stream, in an order that their dependencies allow. */
static cudaError_t graph_run(struct CUgraph_st *graph, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graph->count && !error; i++)
        error = graph_node_run(graph->nodes[i], stream);
    return error;
}
