/* The address of an allocation that a graph's node makes. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>

cudaError_t graph_block_new(struct graph_block **block, size_t bytes, const char *api)
{
    struct call c = rt_call(VP_GRAPH_MEMORY, api, 0, VP_GRAPH_RESERVE, bytes);
    *block = NULL;
    cudaError_t error = bytes ? rt_exchange(&c) : cudaErrorInvalidValue;
    if (error)
        return error;
    struct graph_block *b = malloc(sizeof *b);
    if (!b)
        return cudaErrorMemoryAllocation;
    *b = (struct graph_block){.address = POINTER(c.reply.r[0]), .bytes = bytes, .nodes = 1};
    *block = b;
    return cudaSuccess;
}

void graph_block_drop(struct graph_block *block)
{
    if (--block->nodes)
        return;
    rt_request(VP_GRAPH_MEMORY, "", 0, VP_GRAPH_RELEASE, HANDLE(block->address));
    free(block);
}

cudaError_t graph_alloc_run(const struct graph_block *block)
{
    return rt_request(VP_GRAPH_MEMORY, "", 0, VP_GRAPH_ALLOC, HANDLE(block->address));
}
