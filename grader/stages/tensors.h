/** @file
 * Where the tensors of an inference are: in memory or, where it cannot hold them, in files on disk.
 */
#pragma once

#include "grader/stages/grading.h"
#include "nn/network.h"

/** The most memory that one size needs, in bytes. */
struct gr_memory_need {
    size_t arena, inputs; /**< of a layer; these may be on disk */
    size_t rest;          /**< the comparison's and the virtual GPU's */
};

/** Adds a layer: what it needs more than those before it.
 * @param keeps  whether all its expected outputs are kept */
void gr_memory_need_add(struct gr_memory_need *need, const struct conv_shape *shape,
                        const struct gr_host *host, bool keeps);

/** Makes room for a size. Tensors that memory cannot hold go to a disk: then g->arena is another one, and
 * g->session has ended. @return false with @p check skipped */
bool gr_tensors_make_room(struct grading *g, const struct gr_memory_need *need,
                          struct gr_check *check);

/** Room for a layer's inputs, in memory or on disk as the arena @p like. Close with arena_close(). */
enum st_code gr_inputs_open(const struct arena *like, size_t elems, struct arena *inputs,
                            struct st_error *err);

/** Makes the next layer's inputs from the outputs of @p layer in the arena, and gives their memory back.
 * @param shape   of the layer
 * @param inputs  of the layer, then of the next one; closed by the caller, also after an error */
enum st_code gr_inputs_pool(const struct nn_network *net, int layer, const struct conv_shape *shape,
                            const struct arena *arena, struct arena *inputs, struct st_error *err);
