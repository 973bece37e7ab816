/* Stream capture: between BeginCapture and EndCapture, a program's operations in a stream become
 * nodes of a graph, each after the previous node. A stream that waits for an event recorded in a
 * captured stream is captured with it. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <pthread.h>
#include <stdlib.h>

struct capture {
    struct capture *next;
    cudaStream_t origin;
    struct CUgraph_st *graph;
    cudaStream_t *streams; /* all captured streams, the origin first */
    size_t stream_count;
    cudaEvent_t *events; /* recorded in these streams */
    size_t event_count;
    bool broken;                 /* out of memory for a node */
    bool is_of_caller;           /* the caller owns the graph */
    struct CUgraphNode_st *last; /* for cudaStreamGetCaptureInfo() */
    unsigned long long id;
};

static struct capture *captures;
static unsigned long long capture_ids;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* @return the capture of a stream, or NULL. @pre the lock is held */
static struct capture *find(cudaStream_t stream)
{
    for (struct capture *c = captures; c; c = c->next)
        for (size_t i = 0; i < c->stream_count; i++)
            if (c->streams[i] == stream)
                return c;
    return NULL;
}

static void join(struct capture *c, cudaStream_t stream)
{
    if (ARRAY_ROOM(c->streams, c->stream_count))
        c->streams[c->stream_count++] = stream;
    else
        c->broken = true;
}

/* Adds a node to the capture of a stream, after its last one. */
static bool append(cudaStream_t stream, const struct CUgraphNode_st *node)
{
    if (!captures) /* most often, without the lock: a capture begins before its streams are used */
        return false;
    pthread_mutex_lock(&lock);
    struct capture *c = find(stream);
    if (c) {
        struct CUgraph_st *g = c->graph;
        struct CUgraphNode_st *last = g->count ? g->nodes[g->count - 1] : NULL;
        c->broken |= !graph_add(g, node, &last, last ? 1 : 0);
    }
    pthread_mutex_unlock(&lock);
    return c != NULL;
}

bool capture_is_active(cudaStream_t stream)
{
    if (!captures)
        return false;
    pthread_mutex_lock(&lock);
    bool active = find(stream) != NULL;
    pthread_mutex_unlock(&lock);
    return active;
}

bool capture_kernel(cudaStream_t stream, const struct graph_kernel *kernel)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeKernel, .as.kernel = *kernel};
    return append(stream, &node);
}

bool capture_copy(cudaStream_t stream, const struct graph_copy *copy)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemcpy};
    if (!capture_is_active(stream) || !graph_copy_append(&node, copy))
        return false;
    return append(stream, &node);
}

bool capture_fill(cudaStream_t stream, const struct cudaMemsetParams *fill)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemset, .as.fill = *fill};
    return append(stream, &node);
}

bool capture_alloc(cudaStream_t stream, struct graph_block *block)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemAlloc, .as.alloc = block};
    return append(stream, &node);
}

bool capture_free(cudaStream_t stream, void *p)
{
    struct CUgraphNode_st node = {.type = cudaGraphNodeTypeMemFree, .as.freed = p};
    return append(stream, &node);
}

bool capture_host(cudaStream_t stream, cudaHostFn_t function, cudaStreamCallback_t with_status,
                  void *data)
{
    struct CUgraphNode_st node = {
        .type = cudaGraphNodeTypeHost,
        .as.host = {.function = function, .with_status = with_status, .data = data}};
    return append(stream, &node);
}

bool capture_event_record(cudaStream_t stream, cudaEvent_t event)
{
    if (!captures)
        return false;
    pthread_mutex_lock(&lock);
    struct capture *c = find(stream);
    if (c && ARRAY_ROOM(c->events, c->event_count))
        c->events[c->event_count++] = event;
    pthread_mutex_unlock(&lock);
    return c != NULL;
}

bool capture_event_wait(cudaStream_t stream, cudaEvent_t event)
{
    bool taken = false;
    if (!captures)
        return false;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c && !taken; c = c->next)
        for (size_t i = 0; i < c->event_count && !taken; i++)
            if (c->events[i] == event) {
                taken = true;
                if (find(stream) != c)
                    join(c, stream);
            }
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Captures a stream into the caller's graph or a new graph. */
static cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, enum cudaStreamCaptureMode mode)
{
    if (mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (!stream || stream == cudaStreamLegacy)
        return cudaErrorStreamCaptureUnsupported;
    struct capture *c = calloc(1, sizeof *c);
    pthread_mutex_lock(&lock);
    cudaError_t error = find(stream) ? cudaErrorIllegalState : cudaSuccess;
    if (!error && c && (c->graph = graph ? graph : graph_new())) {
        c->is_of_caller = graph != NULL;
        c->origin = stream;
        c->id = ++capture_ids;
        join(c, stream);
        c->next = captures;
        captures = c;
    } else {
        free(c);
        error = error ? error : cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

RT(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
   begin(stream, NULL, mode))
RT(cudaStreamBeginCaptureToGraph,
   (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
    const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode),
   graph && (dependencies || !n) ? begin(stream, graph, mode) : cudaErrorInvalidValue)

/* Each captured node follows its graph's last node, even one that the program added. */
API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                    const cudaGraphEdgeData *edges, size_t n,
                                                    unsigned flags)
{
    if ((n && !nodes) || flags > cudaStreamSetCaptureDependencies)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(capture_is_active(stream) ? cudaSuccess : cudaErrorIllegalState);
}

API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (graph)
        *graph = NULL;
    pthread_mutex_lock(&lock);
    struct capture **at = &captures, *c = NULL;
    while (*at && (*at)->origin != stream)
        at = &(*at)->next;
    bool other = !*at && find(stream);
    if (*at && (graph || (*at)->is_of_caller)) {
        c = *at;
        *at = c->next;
    }
    const bool is_left = *at && !c;
    pthread_mutex_unlock(&lock);
    if (!c)
        return rt_return(is_left ? cudaErrorInvalidValue
                         : other ? cudaErrorStreamCaptureUnmatched
                                 : cudaErrorIllegalState);
    cudaError_t error = c->broken ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (error && !c->is_of_caller)
        graph_free(c->graph);
    else if (!error && graph)
        *graph = c->graph;
    free(c->streams);
    free(c->events);
    free(c);
    return rt_return(error);
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status)
        return rt_return(cudaErrorInvalidValue);
    *status =
        capture_is_active(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                         unsigned long long *id, cudaGraph_t *graph,
                                         const cudaGraphNode_t **dependencies,
                                         const cudaGraphEdgeData **edges, size_t *n)
{
    cudaError_t error = cudaStreamIsCapturing(stream, status);
    if (error)
        return error;
    if (dependencies)
        *dependencies = NULL;
    if (edges)
        *edges = NULL;
    if (n)
        *n = 0;
    pthread_mutex_lock(&lock);
    struct capture *c = find(stream);
    if (c && id)
        *id = c->id;
    if (c && graph)
        *graph = c->graph;
    if (c && c->graph->count) {
        c->last = c->graph->nodes[c->graph->count - 1];
        if (dependencies)
            *dependencies = &c->last;
        if (n)
            *n = 1;
    }
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* Modes only forbid calls that could be unsafe; in this library all calls are safe. */
API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode || *mode > cudaStreamCaptureModeRelaxed)
        return rt_return(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return cudaSuccess;
}
