/** @file
 * Work launched by kernels: kernels, copies, fills, and the events between them.
 *
 * 1. A thread requests a parameter buffer. The buffer is in the thread's local memory, above the
 *    stack, so that its address does not depend on the number of cores. The request names the
 *    kernel and the sizes, which are checked.
 * 2. The thread stores the parameters and launches: the parameters are copied, and the work is
 *    added to the list of the block.
 * 3. When the grid has ended, the lists of its blocks are joined, in the order of the blocks. A
 *    grid cannot wait for work that it launches, so this work may run after the grid, one item
 *    after the other, each followed by all the work that it launches itself; tail launches come
 *    last. This keeps the order of every stream: of a block's default stream, and of streams that
 *    it creates. The owner of the device runs the work, with the same checks, counters and rows of
 *    the trace as for launches of the host (device/session_children.c).
 *
 * A grid that faults launches nothing.
 */
#pragma once

#include "vgpu/api/vgpu.h"

struct child_watch;
struct child_work;
struct ir_insn;
struct vg_block;
struct vg_launch;
struct vg_warp;
struct vg_worker;

/** Parameter buffers that a thread can have at a time. */
enum { CHILD_BUFFERS = 4 };

/** The cudaError_t values that device code gets. */
enum child_error {
    CHILD_OK = 0,
    CHILD_INVALID_VALUE = 1,
    CHILD_OUT_OF_MEMORY = 2,
    CHILD_INVALID_CONFIGURATION = 9,
    CHILD_INVALID_DIRECTION = 21,
    CHILD_TOO_MANY_PENDING = 69,
    CHILD_INVALID_FUNCTION = 98,
};

/** Kernel and sizes of a launch from a kernel. */
struct child_config {
    struct vg_kernel *kernel;
    struct vg_dim grid, block;
    uint32_t shared_bytes;
};

/** @return bytes of a parameter buffer for the module's kernels; 0 if they launch nothing. */
size_t child_parameter_room(const struct vg_module *m);
/** @return the kernel at an address in device code, or NULL. */
struct vg_kernel *child_kernel_at(const struct vg_module *m, uint64_t address);
/** @return the error of a launch with this configuration, or CHILD_OK. */
enum child_error child_config_check(const struct vg_launch *l, const struct child_config *config);
/** @return the address of a new parameter buffer of a lane; 0: no buffer is left. @param config
 * NULL: the launch sets it */
uint64_t child_buffer_take(struct vg_warp *w, int lane, const struct child_config *config);
/** Launches a kernel with the parameters in a lane's buffer. @param config  NULL: the configuration
 * given with the request of the buffer */
enum child_error child_launch(struct vg_warp *w, const struct ir_insn *in, int lane,
                              uint64_t buffer, const struct child_config *config, uint64_t stream);
/** Adds a copy, a fill, or an event. */
enum child_error child_add(struct vg_warp *w, int lane, struct vg_child child);
/** @return a handle for a new stream or event of the block, not 0. */
uint64_t child_name_new(struct vg_warp *w);
/** Sets a lane's last error unless it is CHILD_OK. @return the error */
enum child_error child_error_set(struct vg_warp *w, int lane, enum child_error error);
/** @return a lane's last error. @param forget  resets it to CHILD_OK */
enum child_error child_error_last(struct vg_warp *w, int lane, bool forget);

/** @return the number of a block's requests so far, if one of them may run before the block ends;
 * otherwise 0. */
uint32_t child_launches(const struct vg_block *b);
/** @return the record of the block's accesses since its first launch (child_races.h). */
struct child_watch **child_watch_of(struct vg_block *b);
/** Called before a block starts: clears its launches. */
void child_work_reset(struct vg_block *b);
void child_work_free(struct child_work *work);
/** Called after a block: its worker takes over its launches. */
void children_keep(struct vg_worker *w, struct vg_block *b);
/** Called after a launch: the device takes over the launches of all blocks, or none if a block
 * faulted. */
void children_collect(struct vg_device *d, uint64_t fault_block);
