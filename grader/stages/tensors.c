#include "grader/stages/tensors.h"

#include "grader/compare/verify.h"
#include "grader/course/machine.h"
#include "nn/oracle.h"

/* Touching new memory for the first time takes up to 1 s per GB, so the gradings of one command
 * share an arena. */
enum st_code gr_arena_begin(struct grading *g, struct st_error *err)
{
    if (!g->kept || g->kept->fd < 0)
        return arena_open(&g->arena, err);
    g->arena = *g->kept;
    *g->kept = (struct arena){.fd = -1};
    gr_arena_clear(&g->arena);
    return ST_OK;
}

void gr_arena_end(struct grading *g)
{
    if (!g->kept || g->arena.on_disk || g->arena.fd < 0) {
        arena_close(&g->arena);
        return;
    }
    *g->kept = g->arena;
    g->arena = (struct arena){.fd = -1};
}

static void larger(size_t *most, size_t bytes)
{
    *most = bytes > *most ? bytes : *most;
}

/* The virtual GPU has a copy of the tensors, with one bit per byte that marks it as initialised. An
 * exercise with host pointers has one more copy, in page-locked memory. */
void gr_memory_need_add(struct gr_memory_need *need, const struct conv_shape *shape,
                        const struct gr_host *host, bool keeps)
{
    const size_t arena = arena_layout_for(shape).bytes,
                 copy = host->device == RUNNER_ON_VIRTUAL_GPU ? arena / 8 * 9 : 0,
                 page_locked = host->exercise && host->exercise->host_tensors ? arena : 0,
                 expected = keeps ? nn_conv_y_elems(shape) * sizeof(float) : 0;
    larger(&need->arena, arena);
    larger(&need->inputs, nn_conv_x_elems(shape) * sizeof(float));
    larger(&need->rest, copy + page_locked + expected + gr_arena_compare_bytes(shape));
}

/* @return whether a disk has enough space for the tensors */
static bool move_to_disk(struct grading *g, size_t bytes)
{
    struct st_error ignored;
    struct arena disk;
    if (arena_open_on_disk(&disk, &ignored) || arena_reserve(&disk, bytes, &ignored)) {
        arena_close(&disk);
        return false;
    }
    gr_session_end(&g->session);
    arena_close(&g->arena);
    g->arena = disk;
    return true;
}

bool gr_tensors_make_room(struct grading *g, const struct gr_memory_need *need,
                          struct gr_check *check)
{
    static const size_t PAGES_IN_USE_BYTES = (size_t)64 << 20; /* cached pages of tensors on disk */
    const size_t available = gr_memory_available_bytes() + arena_memory_bytes(&g->arena),
                 whole = need->arena + need->inputs + need->rest;
    if (whole <= available ||
        (g->host.device != RUNNER_ON_GPU && need->rest + PAGES_IN_USE_BYTES <= available &&
         move_to_disk(g, need->arena)))
        return true;
    gr_check_set(check, GR_SKIP, "not enough memory: needs %zu MiB, %zu MiB are available",
                 whole >> 20, available >> 20);
    gr_check_hint(
        check,
        "close other programs, free that much disk space in /var/tmp, or omit this size with --images");
    return false;
}

enum st_code gr_inputs_open(const struct arena *like, size_t elems, struct arena *inputs,
                            struct st_error *err)
{
    enum st_code code = like->on_disk ? arena_open_on_disk(inputs, err) : arena_open(inputs, err);
    return code ? code : arena_reserve(inputs, elems * sizeof(float), err);
}

/* Pools PART_IMAGES images at a time. */
enum st_code gr_inputs_pool(const struct nn_network *net, int layer, const struct conv_shape *shape,
                            const struct arena *arena, struct arena *inputs, struct st_error *err)
{
    enum { PART_IMAGES = 256 };
    const struct arena_layout layout = arena_layout_for(shape);
    const size_t images = (size_t)shape->B, y = nn_conv_y_elems(shape) / images,
                 pooled = nn_network_pooled_elems(net, layer, 1);
    arena_close(inputs);
    const enum st_code code = gr_inputs_open(arena, images * pooled, inputs, err);
    for (size_t done = 0; !code && done < images; done += PART_IMAGES) {
        const size_t n = images - done < PART_IMAGES ? images - done : PART_IMAGES,
                     at = layout.y + done * y * sizeof(float);
        nn_network_activate(net, layer, n, (const float *)(arena->base + at),
                            (float *)inputs->base + done * pooled);
    }
    return code;
}
