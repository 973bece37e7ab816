/** @file
 * A device, the outermost structure inside the virtual GPU.
 *
 *     device ── workers (threads) ── resident blocks ── warps ── fragments
 *
 *     vg_device.h      this structure
 *     vg_memory.h      its global memory
 *     vg_module.h      modules and kernels
 *     vg_launch.h      the running launch
 *     workers.h        a worker, and its counts and findings
 *     access_sites.h   what it counts for a memory instruction
 *     vg_block.h       a block, its barriers and its cluster
 *     vg_warp.h        a warp, its fragments and meetings
 *     frames.h         the registers of a fragment
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/exec/vg_memory.h"

#include <pthread.h>
#include <stdatomic.h>

struct vg_device {
    struct vg_profile profile;
    struct vg_memory memory;
    struct vg_module *modules;
    int worker_count, started;
    bool uses_all_cores;       /**< has a worker for each core */
    bool one_core;             /**< for the next launch */
    uint64_t grid_accesses;    /**< compared so far, see grid_races.c */
    struct vg_dim cluster;     /**< for the next launch; x 0: the kernel decides */
    struct vg_worker *workers; /**< [worker_count]; number 0 is the caller's thread */
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    unsigned generation;
    int busy;
    bool quit;
    bool keeps_blocks;         /**< see vg_blocks_keep() */
    uint64_t seed;             /**< see vg_device_seed() */
    atomic_bool interrupt;     /**< the running launch must end soon */
    vg_host_waits *host_waits; /**< see vg_host_set() */
    void *host;
    struct progress_shared *progress; /**< see vg_progress_set(), or NULL */
    struct vg_launch *launch;
    struct vg_fault *faults;
    size_t fault_count, fault_room;
    char *printed;
    size_t printed_bytes, printed_room;
    atomic_size_t printing;    /**< bytes that kernels have tried to print since vg_printf_take() */
    struct vg_child *children; /**< of the last launch */
    size_t child_count;
    int nesting;                  /**< depth of the next launch; 0: launched by the host */
    const struct vg_child *child; /**< the next launch's request, or NULL */
    size_t limits[16];            /**< indexed by enum cudaLimit */
    uint32_t *conditions;         /**< of graphs, see vg_condition_new() */
    size_t condition_count, condition_room;
    char *retired; /**< counter rows of unloaded modules: a lab's library is unloaded at exit */
    size_t retired_bytes;
    uint64_t launches;
    char *kept; /**< the contents of the memory before a launch, or NULL: see written_bytes.c */
    uint64_t told_host; /**< number of the last launch that wrote to memory shared with the host */
    struct vg_sample *sample;         /**< of the running launch, see cache_sample.h */
    struct vg_recordings *recordings; /**< recordings of blocks, or NULL: see block_recording.h */
    uint64_t workspace;               /**< for the grid barrier of cooperative groups */
    const struct vg_handlers *handlers;
    const char *target; /**< instruction set of the handlers */
    struct vg_engine_state *engine;
    struct proof *proof; /**< the running proof, or NULL */
};
