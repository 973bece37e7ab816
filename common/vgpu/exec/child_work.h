/** @file
 * What kernels launch: kernels, copies, fills, and the events between them.
 *
 * 1. A thread asks for a parameter buffer. It is in its own local memory, above the stack, so that its
 *    address does not depend on the cores. With the buffer come the kernel and the sizes, which are
 *    checked.
 * 2. The thread stores the parameters, and launches: they are copied, and the work is added to the list of
 *    the block.
 * 3. When the grid has ended, the lists of its blocks become one, in the order of the blocks. Nothing in a
 *    grid can wait for what it launches, so this work may run then, one after the other, each with all
 *    that it launches itself; work for the tail comes last. That keeps the order of every stream: of a
 *    block's default stream, and of those that it makes. The owner of the device does it, with the
 *    same checks, counters and rows of the trace as for the host's launches (device/session_children.c).
 *
 * A grid that faults launches nothing.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Parameter buffers that a thread can have at a time. */
enum { CHILD_BUFFERS = 4 };

/** The cudaError_t values that device code gets. */
enum child_error {
    CHILD_OK = 0,
    CHILD_INVALID_VALUE = 1,
    CHILD_OUT_OF_MEMORY = 2,
    CHILD_INVALID_CONFIGURATION = 9,
    CHILD_INVALID_DIRECTION = 21,
    CHILD_TOO_DEEP = 65,
    CHILD_TOO_MANY_PENDING = 69,
    CHILD_INVALID_FUNCTION = 98,
    CHILD_INVALID_DEVICE = 101,
    CHILD_OUT_OF_RESOURCES = 701,
};

/** Of a launch: what and how large. */
struct child_config {
    struct vg_kernel *kernel;
    struct vg_dim grid, block;
    uint32_t shared_bytes;
};

/** Bytes of a parameter buffer of the module's kernels; 0 if they launch nothing. */
size_t child_parameter_room(const struct vg_module *m);
/** @return the kernel at an address as device code knows it, or NULL. */
struct vg_kernel *child_kernel_at(const struct vg_module *m, uint64_t address);
/** @return the error of a launch with that configuration. */
enum child_error child_config_check(const struct vg_launch *l, const struct child_config *config);
/** A parameter buffer of a lane. @param config  NULL: comes with the launch. @return 0: there is none left */
uint64_t child_buffer_take(struct vg_warp *w, int lane, const struct child_config *config);
/** Launches a kernel with the parameters in a lane's buffer. @param config  NULL: came with the buffer. */
enum child_error child_launch(struct vg_warp *w, const struct ir_insn *in, int lane,
                              uint64_t buffer, const struct child_config *config, uint64_t stream);
/** Adds a copy, a fill, or an event. */
enum child_error child_add(struct vg_warp *w, struct vg_child child);
/** A name for a new stream or event of the block, not 0. */
uint64_t child_name_new(struct vg_warp *w);
/** Sets a lane's last error unless it is CHILD_OK. @return it */
enum child_error child_error_set(struct vg_warp *w, int lane, enum child_error error);
/** @return a lane's last error. @param forget  it is CHILD_OK from then on */
enum child_error child_error_last(struct vg_warp *w, int lane, bool forget);

/** Requests of a block so far, if one of them may run before it ends; else 0. */
uint32_t child_launches(const struct vg_block *b);
/** Where its accesses since are noted (child_races.h). */
struct child_watch **child_watch_of(struct vg_block *b);
/** Before a block starts: it has launched nothing. */
void child_work_reset(struct vg_block *b);
void child_work_free(struct child_work *work);
/** A block has ended: the worker takes over what it launched. */
void children_keep(struct vg_worker *w, struct vg_block *b);
/** After a launch: the device takes over what all blocks launched; nothing if one of them faulted. */
void children_collect(struct vg_device *d, uint64_t fault_block);
