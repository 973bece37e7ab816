/* cudaGraphDebugDotPrint(): the picture of a graph as a text for Graphviz. The flags ask for more
 * details, which this text does not have. */
#include "vgpu/cudart/graph.h"

static const char *const type_names[cudaGraphNodeTypeCount] = {
    [cudaGraphNodeTypeKernel] = "KERNEL",
    [cudaGraphNodeTypeMemcpy] = "MEMCPY",
    [cudaGraphNodeTypeMemset] = "MEMSET",
    [cudaGraphNodeTypeHost] = "HOST",
    [cudaGraphNodeTypeGraph] = "GRAPH",
    [cudaGraphNodeTypeEmpty] = "EMPTY",
    [cudaGraphNodeTypeWaitEvent] = "EVENT_WAIT",
    [cudaGraphNodeTypeEventRecord] = "EVENT_RECORD",
    [cudaGraphNodeTypeMemAlloc] = "MEM_ALLOC",
    [cudaGraphNodeTypeMemFree] = "MEM_FREE",
    [cudaGraphNodeTypeConditional] = "CONDITIONAL",
};

static size_t place_of(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    size_t i = 0;
    while (graph->nodes[i] != node)
        i++;
    return i;
}

/* Writes the nodes and edges of a graph, and those of its child graphs and branches. */
static void print_graph(FILE *out, const struct CUgraph_st *graph, int *number)
{
    const int me = (*number)++;
    fprintf(out, "subgraph cluster_%d {\nlabel=\"graph_%d\"\n", me, me);
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *n = graph->nodes[i];
        const char *name = (int)n->type < (int)cudaGraphNodeTypeCount ? type_names[n->type] : NULL;
        fprintf(out, "\"graph_%d_node_%zu\"[shape=\"record\" label=\"{%s | %zu%s%s}\"];\n", me, i,
                name ? name : "OTHER", i, n->type == cudaGraphNodeTypeKernel ? " | " : "",
                n->type == cudaGraphNodeTypeKernel ? n->as.kernel.function->name : "");
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            fprintf(out, "\"graph_%d_node_%zu\" -> \"graph_%d_node_%zu\";\n", me,
                    place_of(graph, graph->nodes[i]->dependencies[k]), me, i);
    fprintf(out, "}\n");
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *n = graph->nodes[i];
        if (n->type == cudaGraphNodeTypeGraph)
            print_graph(out, n->as.child, number);
        for (unsigned k = 0; n->type == cudaGraphNodeTypeConditional && k < n->as.branch.count; k++)
            print_graph(out, n->as.branch.graphs[k], number);
    }
}

API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    if (!graph || !path)
        return rt_return(cudaErrorInvalidValue);
    FILE *out = fopen(path, "w");
    if (!out)
        return rt_return(cudaErrorOperatingSystem);
    int number = 0;
    fprintf(out, "digraph dot {\n");
    print_graph(out, graph, &number);
    fprintf(out, "}\n");
    bool failed = ferror(out);
    return rt_return(fclose(out) || failed ? cudaErrorOperatingSystem : cudaSuccess);
}
