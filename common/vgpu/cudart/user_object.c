/* User objects: data of the program that graphs keep until they are destroyed. */
#include "base/array_room.h"
#include "vgpu/cudart/graph.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Target of a cudaUserObject_t. */
struct CUuserObject_st {
    atomic_uint count; /* references; at 0 the object is destroyed */
    cudaHostFn_t destroy;
    void *data;
};

static void release(struct CUuserObject_st *object, unsigned count)
{
    if (atomic_fetch_sub(&object->count, count) > count)
        return;
    object->destroy(object->data);
    free(object);
}

void graph_users_drop(struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->user_count; i++)
        release(graph->users[i].object, graph->users[i].count);
    free(graph->users);
    graph->users = NULL;
    graph->user_count = 0;
}

/* Adds references to those of a graph. */
static bool add(struct CUgraph_st *graph, struct CUuserObject_st *object, unsigned count)
{
    if (!ARRAY_ROOM(graph->users, graph->user_count))
        return false;
    graph->users[graph->user_count++] = (struct graph_user){object, count};
    return true;
}

bool graph_users_copy(struct CUgraph_st *to, const struct CUgraph_st *from)
{
    for (size_t i = 0; i < from->user_count; i++) {
        if (!add(to, from->users[i].object, 1))
            return false;
        atomic_fetch_add(&from->users[i].object->count, 1);
    }
    return true;
}

static cudaError_t create(cudaUserObject_t *to, void *data, cudaHostFn_t destroy, unsigned count,
                          unsigned flags)
{
    if (!to || !destroy || !count || flags != cudaUserObjectNoDestructorSync)
        return cudaErrorInvalidValue;
    struct CUuserObject_st *object = malloc(sizeof *object);
    if (!object)
        return cudaErrorMemoryAllocation;
    atomic_init(&object->count, count);
    object->destroy = destroy;
    object->data = data;
    *to = object;
    return cudaSuccess;
}

static cudaError_t change(struct CUuserObject_st *object, unsigned count, bool more)
{
    if (!object || !count)
        return cudaErrorInvalidValue;
    if (more)
        atomic_fetch_add(&object->count, count);
    else
        release(object, count);
    return cudaSuccess;
}

static cudaError_t retain(struct CUgraph_st *graph, struct CUuserObject_st *object, unsigned count,
                          unsigned flags)
{
    if (!graph || !object || !count || flags & ~(unsigned)cudaGraphUserObjectMove)
        return cudaErrorInvalidValue;
    if (!add(graph, object, count))
        return cudaErrorMemoryAllocation;
    if (!(flags & cudaGraphUserObjectMove))
        atomic_fetch_add(&object->count, count);
    return cudaSuccess;
}

static cudaError_t give_back(struct CUgraph_st *graph, const struct CUuserObject_st *object,
                             unsigned count)
{
    for (size_t i = 0; graph && i < graph->user_count; i++) {
        struct graph_user *u = &graph->users[i];
        if (u->object != object || u->count < count || !count)
            continue;
        u->count -= count;
        struct CUuserObject_st *of = u->object;
        if (!u->count)
            *u = graph->users[--graph->user_count];
        release(of, count);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

RT(cudaUserObjectCreate,
   (cudaUserObject_t * to, void *data, cudaHostFn_t destroy, unsigned count, unsigned flags),
   create(to, data, destroy, count, flags))
RT(cudaUserObjectRetain, (cudaUserObject_t object, unsigned count), change(object, count, true))
RT(cudaUserObjectRelease, (cudaUserObject_t object, unsigned count), change(object, count, false))
RT(cudaGraphRetainUserObject,
   (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags),
   retain(graph, object, count, flags))
RT(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
   give_back(graph, object, count))
