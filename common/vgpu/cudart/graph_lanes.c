/* The independent branches of a graph, in streams of their own, so that their operations overlap on
 * the virtual clock. The first branch runs in the stream of the launch. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>

enum { LANES = 8 };

struct graph_lanes {
    int count;          /* lanes in use */
    int *lane;          /* [nodes] */
    bool *is_awaited;   /* [nodes] another lane waits for this node */
    cudaEvent_t *event; /* [nodes] recorded after awaited nodes */
    cudaEvent_t begin;
    cudaStream_t stream[LANES]; /* of the lanes after the first */
    size_t nodes, tail[LANES];  /* the last node of each lane */
};

/* @return the lane of a node: the one that ends with a node it depends on, or a new one. */
static int lane_of(struct graph_lanes *l, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < node->dependency_count; i++) {
        const size_t before = node->dependencies[i]->place;
        if (l->tail[l->lane[before]] == before)
            return l->lane[before];
    }
    return l->count < LANES ? l->count++ : (int)(node->place % LANES);
}

static void choose_lanes(struct graph_lanes *l, const struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        l->lane[i] = lane_of(l, node);
        l->tail[l->lane[i]] = i;
        for (size_t k = 0; k < node->dependency_count; k++)
            if (l->lane[node->dependencies[k]->place] != l->lane[i])
                l->is_awaited[node->dependencies[k]->place] = true;
    }
    for (int k = 1; k < l->count; k++)
        l->is_awaited[l->tail[k]] = true;
}

static cudaError_t event_new(cudaEvent_t *event)
{
    struct call c = rt_call(VP_EVENT_CREATE, "", 0, cudaEventDisableTiming);
    const cudaError_t error = rt_exchange(&c);
    *event = error ? NULL : POINTER(c.reply.r[0]);
    return error;
}

static cudaError_t make_handles(struct graph_lanes *l)
{
    cudaError_t error = l->count > 1 ? event_new(&l->begin) : cudaSuccess;
    for (size_t i = 0; i < l->nodes && !error; i++)
        if (l->is_awaited[i])
            error = event_new(&l->event[i]);
    for (int k = 1; k < l->count && !error; k++) {
        struct call c = rt_call(VP_STREAM_CREATE, "", 0, cudaStreamNonBlocking, 0);
        error = rt_exchange(&c);
        l->stream[k] = error ? NULL : POINTER(c.reply.r[0]);
    }
    return error;
}

struct graph_lanes *graph_lanes_new(const struct CUgraph_st *graph)
{
    struct graph_lanes *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->nodes = graph->count;
    l->lane = calloc(graph->count + 1, sizeof *l->lane);
    l->is_awaited = calloc(graph->count + 1, sizeof *l->is_awaited);
    l->event = calloc(graph->count + 1, sizeof(cudaEvent_t));
    if (l->lane && l->is_awaited && l->event) {
        choose_lanes(l, graph);
        if (make_handles(l) == cudaSuccess)
            return l;
    }
    graph_lanes_free(l);
    return NULL;
}

void graph_lanes_free(struct graph_lanes *l)
{
    if (!l)
        return;
    for (int k = 1; k < l->count; k++)
        if (l->stream[k])
            rt_request(VP_STREAM_DESTROY, "", l->stream[k]);
    for (size_t i = 0; l->event && i < l->nodes; i++)
        if (l->event[i])
            rt_request(VP_EVENT_DESTROY, "", 0, HANDLE(l->event[i]));
    if (l->begin)
        rt_request(VP_EVENT_DESTROY, "", 0, HANDLE(l->begin));
    free(l->lane);
    free(l->is_awaited);
    free(l->event);
    free(l);
}

/* Runs a node after those that it depends on. */
static cudaError_t run_one(const struct graph_lanes *l, const struct CUgraphNode_st *node,
                           cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const int lane = l->lane[node->place];
    if (lane && !node->dependency_count)
        error = rt_request(VP_STREAM_WAIT, "", stream, HANDLE(l->begin));
    for (size_t k = 0; k < node->dependency_count && !error; k++) {
        const size_t before = node->dependencies[k]->place;
        if (l->lane[before] != lane)
            error = rt_request(VP_STREAM_WAIT, "", stream, HANDLE(l->event[before]));
    }
    if (!error)
        error = graph_node_run(node, stream);
    if (!error && l->is_awaited[node->place])
        error = rt_request(VP_EVENT_RECORD, "", stream, HANDLE(l->event[node->place]));
    return error;
}

cudaError_t graph_lanes_run(const struct graph_lanes *l, const struct CUgraph_st *graph,
                            cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (l->count > 1)
        error = rt_request(VP_EVENT_RECORD, "", stream, HANDLE(l->begin));
    for (size_t i = 0; i < graph->count && !error; i++)
        error = run_one(l, graph->nodes[i], l->lane[i] ? l->stream[l->lane[i]] : stream);
    for (int k = 1; k < l->count && !error; k++)
        error = rt_request(VP_STREAM_WAIT, "", stream, HANDLE(l->event[l->tail[k]]));
    return error;
}
