/* Stream capture: between BeginCapture and EndCapture, a program's operations in a stream become
 * nodes of a graph, each after the previous node of its stream. A stream that waits for an event
 * recorded in a captured stream is captured with it. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <pthread.h>
#include <stdlib.h>

/* The nodes after which the next operation comes. */
struct front {
    struct CUgraphNode_st **nodes;
    size_t count;
};

/* A stream or an event in a capture. */
struct captured {
    const void *handle;
    struct front front;
};

struct capture {
    struct capture *next;
    cudaStream_t origin;
    struct CUgraph_st *graph;
    struct captured *streams; /* the origin first */
    size_t stream_count;
    struct captured *events; /* recorded in these streams */
    size_t event_count;
    bool broken;       /* out of memory for a node, or a forbidden call */
    bool is_of_caller; /* the caller owns the graph */
    unsigned long long id;
};

static struct capture *captures;
static unsigned long long capture_ids;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct captured *in_list(struct captured *list, size_t count, const void *handle)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].handle == handle)
            return &list[i];
    return NULL;
}

/* @return a captured stream, or NULL. @param of  set to its capture @pre the lock is held */
static struct captured *find(cudaStream_t stream, struct capture **of)
{
    for (*of = captures; *of; *of = (*of)->next) {
        struct captured *s = in_list((*of)->streams, (*of)->stream_count, stream);
        if (s)
            return s;
    }
    return NULL;
}

static bool front_add(struct front *f, struct CUgraphNode_st *const *nodes, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t i = 0;
        while (i < f->count && f->nodes[i] != nodes[k])
            i++;
        if (i < f->count)
            continue;
        if (!ARRAY_ROOM(f->nodes, f->count))
            return false;
        f->nodes[f->count++] = nodes[k];
    }
    return true;
}

static bool front_set(struct front *f, struct CUgraphNode_st *const *nodes, size_t count)
{
    if (nodes == f->nodes && count <= f->count) { /* as cudaStreamGetCaptureInfo() returned them */
        f->count = count;
        return true;
    }
    f->count = 0;
    return front_add(f, nodes, count);
}

/* Adds a stream to a capture. */
static struct captured *join(struct capture *c, cudaStream_t stream)
{
    if (!ARRAY_ROOM(c->streams, c->stream_count)) {
        c->broken = true;
        return NULL;
    }
    struct captured *s = &c->streams[c->stream_count++];
    *s = (struct captured){.handle = stream};
    return s;
}

/* Adds a node to the capture of a stream. */
static bool append(cudaStream_t stream, const struct CUgraphNode_st *node)
{
    if (!captures) /* most often, without the lock: a capture begins before its streams are used */
        return false;
    pthread_mutex_lock(&lock);
    struct capture *c;
    struct captured *s = find(stream, &c);
    if (s) {
        struct CUgraphNode_st *added = graph_add(c->graph, node, s->front.nodes, s->front.count);
        c->broken |= !added || !front_set(&s->front, &added, 1);
    }
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

bool capture_is_active(cudaStream_t stream)
{
    if (!captures)
        return false;
    struct capture *c;
    pthread_mutex_lock(&lock);
    bool active = find(stream, &c) != NULL;
    pthread_mutex_unlock(&lock);
    return active;
}

bool capture_forbids(cudaStream_t stream)
{
    if (!captures)
        return false;
    struct capture *c;
    pthread_mutex_lock(&lock);
    const bool active = find(stream, &c) != NULL;
    if (active)
        c->broken = true;
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
    struct capture *c;
    const struct captured *s = find(stream, &c);
    struct captured *e = s ? in_list(c->events, c->event_count, event) : NULL;
    if (s && !e && ARRAY_ROOM(c->events, c->event_count)) {
        e = &c->events[c->event_count++];
        *e = (struct captured){.handle = event};
    }
    if (s)
        c->broken |= !e || !front_set(&e->front, s->front.nodes, s->front.count);
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

bool capture_event_wait(cudaStream_t stream, cudaEvent_t event)
{
    const struct captured *e = NULL;
    if (!captures)
        return false;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures, *of; c && !e; c = c->next) {
        e = in_list(c->events, c->event_count, event);
        struct captured *s = e ? find(stream, &of) : NULL;
        s = e && (!s || of != c) ? join(c, stream) : s;
        c->broken |= s && !front_add(&s->front, e->front.nodes, e->front.count);
    }
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

/* Captures a stream into the caller's graph or a new graph. */
static cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                         size_t n, enum cudaStreamCaptureMode mode)
{
    if (mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (!stream || stream == cudaStreamLegacy)
        return cudaErrorStreamCaptureUnsupported;
    struct capture *c = calloc(1, sizeof *c);
    struct capture *other;
    pthread_mutex_lock(&lock);
    cudaError_t error = find(stream, &other) ? cudaErrorIllegalState : cudaSuccess;
    if (!error && c && (c->graph = graph ? graph : graph_new())) {
        c->is_of_caller = graph != NULL;
        c->origin = stream;
        c->id = ++capture_ids;
        struct captured *s = join(c, stream);
        c->broken |= !s || !front_add(&s->front, after, n);
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
   begin(stream, NULL, NULL, 0, mode))
RT(cudaStreamBeginCaptureToGraph,
   (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
    const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode),
   graph && (dependencies || !n) ? begin(stream, graph, dependencies, n, mode)
                                 : cudaErrorInvalidValue)

API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                    const cudaGraphEdgeData *edges, size_t n,
                                                    unsigned flags)
{
    if ((n && !nodes) || flags > cudaStreamSetCaptureDependencies)
        return rt_return(cudaErrorInvalidValue);
    struct capture *c;
    pthread_mutex_lock(&lock);
    struct captured *s = find(stream, &c);
    if (s)
        c->broken |= !(flags == cudaStreamSetCaptureDependencies ? front_set : front_add)(&s->front,
                                                                                          nodes, n);
    pthread_mutex_unlock(&lock);
    return rt_return(s ? cudaSuccess : cudaErrorIllegalState);
}

static void free_list(struct captured *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].front.nodes);
    free(list);
}

API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (graph)
        *graph = NULL;
    pthread_mutex_lock(&lock);
    struct capture **at = &captures, *c = NULL, *of;
    while (*at && (*at)->origin != stream)
        at = &(*at)->next;
    bool other = !*at && find(stream, &of);
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
    free_list(c->streams, c->stream_count);
    free_list(c->events, c->event_count);
    free(c);
    return rt_return(error);
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status)
        return rt_return(cudaErrorInvalidValue);
    struct capture *c;
    pthread_mutex_lock(&lock);
    *status = !find(stream, &c) ? cudaStreamCaptureStatusNone
              : c->broken       ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
    pthread_mutex_unlock(&lock);
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
    struct capture *c;
    const struct captured *s = find(stream, &c);
    if (s && id)
        *id = c->id;
    if (s && graph)
        *graph = c->graph;
    if (s && dependencies)
        *dependencies = s->front.nodes;
    if (s && n)
        *n = s->front.count;
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
