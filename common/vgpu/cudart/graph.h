/** @file
 * CUDA graphs inside the shim. The device executes all requests in order, so a launch of a graph
 * sends its operations one by one, in an order that its edges allow; independent branches are sent
 * to streams of their own.
 *
 *     graph.c        graphs and their nodes, created one by one
 *     graph_dot.c    graphs as text for Graphviz
 *     graph_edit.c   parameters and edges, read and changed
 *     graph_block.c  memory of nodes that allocate
 *     graph_nodes.c  nodes of any kind; nodes that allocate and free memory; nodes with a condition
 *     graph_exec.c   instances and their launches
 *     graph_lanes.c  streams for the branches of an instance
 *     graph_run.c    the execution of nodes
 *     user_object.c  data of the program that graphs keep
 *     capture.c      graphs captured from a program's operations in a stream
 */
#pragma once

#include "vgpu/cudart/shim.h"

/** A launch whose arguments are packed as the kernel's parameter block. */
struct graph_kernel {
    struct function *function;
    dim3 grid, block, cluster; /**< cluster.x 0: as the kernel states */
    size_t shared_bytes;
    bool cooperative;
    unsigned char *parameters; /**< owned */
};

struct graph_copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind kind;
};

/** The address of a node's allocation, shared by its copies. */
struct graph_block {
    void *address;
    size_t bytes;
    int nodes;            /**< number of nodes that use it */
    bool is_instantiated; /**< used by a graph that can be launched; at most one may */
};

/** The graphs of a node with a condition, which selects the ones that run. */
struct graph_branch {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned count;
    struct CUgraph_st **graphs; /**< [count]; array and graphs are owned */
};

/** Target of a cudaGraphNode_t. */
struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    struct CUgraph_st *graph;
    struct CUgraphNode_st *origin;        /**< for a copy: the original node */
    struct CUgraphNode_st **dependencies; /**< owned array */
    size_t dependency_count;
    bool done;        /**< while sorting */
    size_t place;     /**< after sorting: its index in the graph */
    bool is_disabled; /**< in an instance: it is not executed */
    void **arguments; /**< for a kernel, for queries; owned */
    union {
        struct graph_kernel kernel;
        struct {
            struct graph_copy *list; /**< owned; several for three dimensions */
            size_t count;
            struct cudaMemcpy3DParms given; /**< unless the extent is 0: as the program gave it */
        } copy;
        struct cudaMemsetParams fill;
        struct {
            cudaHostFn_t function;
            cudaStreamCallback_t with_status;
            void *data;
        } host;
        struct CUgraph_st *child; /**< owned */
        cudaEvent_t event;
        struct graph_block *alloc;
        void *freed;
        struct graph_branch branch;
    } as;
};

/** Target of a cudaGraph_t; nodes in order of creation. */
struct CUgraph_st {
    struct CUgraphNode_st **nodes;
    size_t count;
    struct CUgraph_st *around; /**< the graph that has this graph in a node with a condition, or
                                    NULL */
    struct graph_condition {
        cudaGraphConditionalHandle handle;
        unsigned first; /**< value at each launch, if is_set */
        bool is_set, is_used;
    } * conditions;
    size_t condition_count;
    struct graph_user {
        struct CUuserObject_st *object;
        unsigned count; /**< references that the graph holds */
    } * users;
    size_t user_count;
};

/** Releases a graph's user objects. */
void graph_users_drop(struct CUgraph_st *graph);
/** Gives a copy of a graph references of its own. @return false: out of memory */
bool graph_users_copy(struct CUgraph_st *to, const struct CUgraph_st *from);

struct CUgraph_st *graph_new(void);
void graph_free(struct CUgraph_st *graph);
/** @return a deep copy; NULL: out of memory. */
struct CUgraph_st *graph_copy(const struct CUgraph_st *from);
/** Adds a node; the graph takes ownership of its contents. @return NULL (with the contents freed)
 * if a dependency is not a node of this graph, or if out of memory. */
struct CUgraphNode_st *graph_add(struct CUgraph_st *graph, const struct CUgraphNode_st *node,
                                 struct CUgraphNode_st *const *dependencies, size_t n);
/** graph_add() as the last step of a runtime function. */
cudaError_t graph_node_add(cudaGraphNode_t *to, cudaGraph_t graph,
                           const struct CUgraphNode_st *node, const cudaGraphNode_t *dependencies,
                           size_t n);
/** @return whether a graph or its child graphs have nodes of a type. */
bool graph_has(const struct CUgraph_st *graph, enum cudaGraphNodeType type);
/** Reserves the address of a new node's allocation. */
cudaError_t graph_block_new(struct graph_block **block, size_t bytes, const char *api);
/** Releases a block for one of its nodes. */
void graph_block_drop(struct graph_block *block);
/** Allocates the memory when the node runs. */
cudaError_t graph_alloc_run(const struct graph_block *block);
/** Sorts the nodes of a graph and of its child graphs. @return false for a cycle. */
bool graph_sort(struct CUgraph_st *graph);
/** Removes a node from its graph, with its edges. */
void graph_node_remove(struct CUgraphNode_st *node);
/** @return whether a fill is valid. */
bool graph_is_fill(const struct cudaMemsetParams *p);
/** @return the node of an instance that was created from @p origin, or NULL. */
struct CUgraphNode_st *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t origin);
/** Adds a copy to the list of a copy node. */
bool graph_copy_append(struct CUgraphNode_st *node, const struct graph_copy *copy);
/** Replaces the launch of a kernel's node. @return cudaErrorInvalidValue for another kind of node
 * or NULL. */
cudaError_t graph_kernel_set(struct CUgraphNode_st *node, const struct cudaKernelNodeParams *p);
cudaError_t graph_node_run(const struct CUgraphNode_st *node, cudaStream_t stream);
/** Streams for the branches of a sorted graph. @return NULL: out of memory, or no device */
struct graph_lanes *graph_lanes_new(const struct CUgraph_st *graph);
void graph_lanes_free(struct graph_lanes *lanes);
/** Runs a graph's nodes: those without a path between them may overlap. */
cudaError_t graph_lanes_run(const struct graph_lanes *lanes, const struct CUgraph_st *graph,
                            cudaStream_t stream);

/** These functions capture an operation if its stream is being captured. @return whether it was
 * captured. */
bool capture_kernel(cudaStream_t stream, const struct graph_kernel *kernel);
bool capture_copy(cudaStream_t stream, const struct graph_copy *copy);
bool capture_fill(cudaStream_t stream, const struct cudaMemsetParams *fill);
bool capture_host(cudaStream_t stream, cudaHostFn_t function, cudaStreamCallback_t with_status,
                  void *data);
/** Capture a stream-ordered allocation, and its release. */
bool capture_alloc(cudaStream_t stream, struct graph_block *block);
bool capture_free(cudaStream_t stream, void *p);
bool capture_event_record(cudaStream_t stream, cudaEvent_t event);
bool capture_event_wait(cudaStream_t stream, cudaEvent_t event);
/** @return whether a stream is being captured. */
bool capture_is_active(cudaStream_t stream);

/** @return whether a stream is being captured; then the capture is invalid from now on, as after a
 * call that CUDA forbids in a capture. */
bool capture_forbids(cudaStream_t stream);

/** Allocates memory; 0 bytes give NULL. */
cudaError_t rt_alloc(void **to, size_t bytes, const char *api);
/** Unless the program handles SIGSEGV: an access of the host to device memory prints the reason. */
void rt_explain_crashes(void);
/** Frees memory; NULL is accepted. @param in_order  as cudaFreeAsync() does in @p stream, without
 * waiting */
cudaError_t rt_free(void *p, enum vp_memory kind, bool in_order, cudaStream_t stream,
                    const char *api);

/** The operations that the nodes of graphs execute; they never capture. They are in launch.c,
 * memory.c and host_function.c. */
cudaError_t rt_launch(const struct graph_kernel *kernel, cudaStream_t stream, const char *api);
cudaError_t rt_fill(void *to, size_t pitch, int value, size_t width, size_t height,
                    cudaStream_t stream, const char *api);
cudaError_t rt_host_function(cudaStream_t stream, cudaHostFn_t function,
                             cudaStreamCallback_t with_status, void *data, const char *api);
