/** @file
 * The tensors of an inference: in memory or, if memory is too small, in files on disk.
 */
#pragma once

#include "grader/stages/grading.h"
#include "nn/network.h"

/** Opens the arena: clears the one that the last grading kept, or creates one. */
enum st_code gr_arena_begin(struct grading *g, struct st_error *err);

/** Keeps the arena for the next grading, or closes it. All processes that use it must have
 * ended. */
void gr_arena_end(struct grading *g);

/** The maximum memory for one size, in bytes. */
struct gr_memory_need {
    size_t arena, inputs; /**< of a layer; these may be on disk */
    size_t rest;          /**< for the comparison and the virtual GPU */
};

/** Adds a layer: raises the need if the layer needs more than the layers so far.
 * @param keeps  whether all expected outputs of the layer are kept */
void gr_memory_need_add(struct gr_memory_need *need, const struct conv_shape *shape,
                        const struct gr_host *host, bool keeps);

/** Makes room for a size. Moves tensors that do not fit into memory to a disk: then g->arena is
 * replaced, and g->session has ended. @return false with @p check skipped */
bool gr_tensors_make_room(struct grading *g, const struct gr_memory_need *need,
                          struct gr_check *check);

/** Makes room for a layer's inputs, in memory or on disk like the arena @p like. Close @p inputs
 * with arena_close(). */
enum st_code gr_inputs_open(const struct arena *like, size_t elems, struct arena *inputs,
                            struct st_error *err);

/** Makes the next layer's inputs from the outputs of @p layer in the arena, which stay unchanged.
 * @param shape   of the layer
 * @param inputs  of the layer, then of the next layer; closed by the caller, even after an error */
enum st_code gr_inputs_pool(const struct nn_network *net, int layer, const struct conv_shape *shape,
                            const struct arena *arena, struct arena *inputs, struct st_error *err);
