/** @file
 * A launch: one grid of a kernel, while its blocks run.
 */
#pragma once

#include "vgpu/exec/vg_module.h"

#include <stdatomic.h>

/** Bytes of shared memory that the system reserves in each block. */
enum { VG_RESERVED_SHARED = 1024 };

/** Notes on each word of an allocation; see block_races.c. */
struct vg_noted {
    _Atomic(const struct vg_allocation *) of;
    atomic_ullong *writers; /**< [bytes / 4], or NULL */
    atomic_int *readers;    /**< as these; of neighbours only */
};
/** The stores to an address that all blocks have. */
struct vg_common {
    uint64_t address, value;   /**< value: of the first store */
    unsigned long long lowest; /**< note of the lowest block */
    bool differs, by_several;
};
enum { VG_NOTED = 4, VG_COMMON = 16 };

/** The work of a block; see block_work.c. */
struct vg_block_work {
    uint64_t issued; /**< issued instructions */
    uint64_t asks;   /**< atomics whose results depend on other blocks: its work may depend on the
                          order */
};

struct vg_launch {
    struct vg_device *device;
    struct vg_kernel *kernel;
    struct vg_module *module;
    struct vg_dim grid, block;
    struct vg_dim cluster;   /**< size in blocks; 1 x 1 x 1: none */
    uint32_t cluster_blocks; /**< number of blocks in a cluster */
    bool has_clusters;       /**< the launch or the kernel sets a cluster size */
    bool cluster_is_checked; /**< for races between the cluster's blocks, see distributed.h */
    bool is_first;           /**< the kernel was not launched before */
    bool reads_async;        /**< bulk copies or wgmma read shared memory: see shared_ranges.c */
    uint32_t threads, warps;
    uint64_t blocks;
    size_t shared_bytes, dynamic_start, dynamic_bytes;
    size_t reserved_start; /**< of the VG_RESERVED_SHARED bytes after the block's shared memory, if
                                used */
    const char *parameters;
    char *parameter_copy; /**< readable at PTX_PARAM_BASE, padded */
    size_t parameter_bytes;
    size_t local_bytes, stack_bytes; /**< per thread; above the stack: parameters of launches */
    size_t local_stride; /**< distance of two lanes' local memory: an odd number of cache lines */
    size_t child_room;   /**< for the parameters of one launch */
    uint64_t workspace;  /**< workspace of cooperative groups */
    _Alignas(64) atomic_ullong next_block; /**< (constant members are in other cache lines) */
    atomic_ullong fault_block;             /**< number of the smallest block that faulted */
    atomic_int active;                     /**< number of workers that are not done */
    atomic_bool reads_host; /**< a worker that only spins has read memory shared with the host */
    _Atomic(const char *) host_waits; /**< the call in which the host only waits, or NULL */
    atomic_ullong quiet;              /**< count of workers that only spin | their progress << 32 */
    _Alignas(64) uint64_t number;
    const struct vg_child *child;     /**< the kernel request that it runs, or NULL */
    bool concurrent;                  /**< several workers run it: atomics must be atomic */
    double begin_s;                   /**< clock_now_s() when the workers began */
    uint64_t order_start, order_step; /**< the i-th block is number (start + i * step) % blocks */
    uint64_t seed;                    /**< for the order of blocks and warps; 0: by their numbers */
    struct vg_block_work *work;       /**< [blocks] NULL: not recorded */
    struct vg_noted added[VG_NOTED], neighbours[VG_NOTED];
    struct vg_common common[VG_COMMON];
    struct grid_races *grid_races; /**< see grid_races.h, or NULL */
};

/** @return the coordinates of the thread or block with this number in a block or grid of this
 * size. */
static inline struct vg_dim vg_place(struct vg_dim size, uint64_t number)
{
    return (struct vg_dim){(uint32_t)(number % size.x), (uint32_t)(number / size.x % size.y),
                           (uint32_t)(number / size.x / size.y)};
}
