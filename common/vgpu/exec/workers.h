/** @file
 * The threads that run a launch's blocks.
 */
#pragma once

#include "vgpu/exec/access_sites.h"
#include "vgpu/exec/cache_sample.h"
#include "vgpu/exec/vg_device.h"

struct vg_launch;
struct vg_warp;

/** A thread of the device's pool, and its counts and findings during a launch. */
struct vg_worker {
    _Alignas(64) atomic_uint progress; /**< changes when one of its blocks does more than spin */
    struct vg_device *device;
    int index;
    pthread_t thread;
    struct vg_launch *launch;
    size_t site_room, block_room;
    uint64_t used_by; /**< number of the launch to which the counts belong */
    struct vg_site *sites;
    /** [site_room + 1] Runs of native code's spans (native/spans.h): how many began at an access less
     * how many ended at the one before it. */
    uint64_t *span_edges;
    uint64_t *block_warps, *block_threads;
    struct vg_shape *shapes; /**< [VG_SHAPE_PLACES][VG_SHAPES_PER_PLACE], see access_shape.inc */
    struct vg_finding *findings;
    size_t finding_count, finding_room;
    struct vg_block *idle, *resident;
    struct vg_frame *free_frames;
    struct shapes *native_shapes; /**< for native code, in one allocation */
    struct sample_pattern sampled[SAMPLE_PATTERNS];
    struct vg_printed {
        uint64_t block;
        char *text;
        size_t bytes;
    } * printed;
    size_t printed_count, printed_room;
    struct vg_child *children; /**< requests of blocks that ended on this worker */
    size_t child_count, child_room;
    uint64_t barriers;
    struct vg_left {
        const struct ir_insn *barrier; /**< NULL: none */
        uint64_t block;
        uint32_t threads;
    } left;          /**< threads that had ended when a barrier opened: the first block with such */
    uint64_t worked; /**< counted work of its blocks so far, see block_work.c */
    uint64_t asked;  /**< how often their warps executed code that uses other blocks' results */
    bool no_memory;
    bool drew; /**< in a proof: a block got a number from a counter in global memory */
    void (*settle)(struct vg_warp *w); /**< writes back saved registers, see translator.h */
};

/** Records that a worker's block made progress. Each worker has its own count: a common one would
 * move from core to core with each barrier. */
static inline void vg_progressed(struct vg_worker *w)
{
    const unsigned now = atomic_load_explicit(&w->progress, memory_order_relaxed);
    atomic_store_explicit(&w->progress, now + 1, memory_order_release);
}

/** Runs the blocks of a launch until all have ended: on the caller's thread if there is only one
 * block or their order matters, otherwise on all workers. */
void vg_workers_run(struct vg_device *device, struct vg_launch *launch);
/** Sets a worker's counts for a module to zero. @return false: out of memory. */
bool vg_counts_clear(struct vg_worker *worker, const struct vg_module *module);
