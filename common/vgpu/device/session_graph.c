/* Memory allocated by nodes of graphs, and conditions of graphs. The client has the graphs
 * themselves. A GPU gives memory to graphs in pieces of GRAPH_PIECE bytes (measured on an H200),
 * and counts it as used until it is trimmed (measured on an H100). */
#include "vgpu/device/client_session.h"

enum { GRAPH_PIECE = 32 << 20 };

static void raise(uint64_t *most, uint64_t to)
{
    if (*most < to)
        *most = to;
}

static int reserve(struct session *s, struct exchange *x, size_t bytes)
{
    struct st_error err;
    enum st_code code = vg_memory_reserve(s->device, bytes, &x->reply.r[0], &err);
    return code ? session_error(s, code, &err, x->request.api) : VP_OK;
}

static int allocate(struct session *s, struct exchange *x, uint64_t address)
{
    uint64_t *counts = s->graph_memory;
    struct st_error err;
    size_t bytes = 0;
    enum st_code code = vg_memory_occupy(s->device, address, &bytes, &err);
    if (code == ST_USAGE)
        return VP_INVALID_VALUE;
    if (code)
        return session_error(s, code, &err, x->request.api);
    if (!session_allocation_add(s, (struct allocation){.address = address,
                                                       .bytes = bytes,
                                                       .kind = VP_MEMORY_DEVICE,
                                                       .of_graph = true})) {
        vg_memory_free(s->device, address, &err);
        return VP_OUT_OF_MEMORY;
    }
    counts[VP_GRAPH_USED] += bytes;
    raise(&counts[VP_GRAPH_RESERVED], counts[VP_GRAPH_USED]);
    raise(&counts[VP_GRAPH_USED_MOST], counts[VP_GRAPH_RESERVED]);
    raise(&counts[VP_GRAPH_RESERVED_MOST], counts[VP_GRAPH_RESERVED]);
    return VP_OK;
}

SESSION_OP(GRAPH_MEMORY)
{
    const uint64_t argument = x->request.a[1];
    bool live = false;
    switch ((enum vp_graph_memory)x->request.a[0]) {
    case VP_GRAPH_RESERVE:
        return reserve(s, x, argument);
    case VP_GRAPH_STATE:
        x->reply.r[0] = vg_memory_is_reserved(s->device, argument, &live);
        x->reply.r[1] = live;
        return VP_OK;
    case VP_GRAPH_ALLOC:
        return allocate(s, x, argument);
    case VP_GRAPH_RELEASE:
        vg_memory_release(s->device, argument);
        return VP_OK;
    case VP_GRAPH_COUNTS:
        for (int i = 0; i < VP_GRAPH_AMOUNTS; i++) {
            const uint64_t bytes = s->graph_memory[i == VP_GRAPH_USED ? VP_GRAPH_RESERVED : i];
            x->reply.r[i] = (bytes + GRAPH_PIECE - 1) / GRAPH_PIECE * GRAPH_PIECE;
        }
        return VP_OK;
    case VP_GRAPH_RESET:
        if (argument != VP_GRAPH_USED_MOST && argument != VP_GRAPH_RESERVED_MOST)
            return VP_INVALID_VALUE;
        s->graph_memory[argument] = s->graph_memory[VP_GRAPH_RESERVED];
        return VP_OK;
    case VP_GRAPH_TRIM:
        s->graph_memory[VP_GRAPH_RESERVED] = s->graph_memory[VP_GRAPH_USED];
        return VP_OK;
    default:
        return VP_INVALID_VALUE;
    }
}

SESSION_OP(CONDITION)
{
    const uint64_t handle = x->request.a[0] ? x->request.a[0] : vg_condition_new(s->device);
    uint32_t *condition = vg_condition(s->device, handle);
    if (!condition)
        return VP_INVALID_VALUE;
    if (x->request.a[1])
        *condition = (uint32_t)x->request.a[2];
    x->reply.r[0] = handle;
    x->reply.r[1] = *condition;
    return VP_OK;
}
