/** @file
 * The kernel model of the virtual clock: how long a launch would take on a profile's GPU, and what
 * limits it. A roofline over all pipes and memories, with latency as one more; see model.c.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/ptx/ptx_ir.h"

/** Raise it when modelled times change, and run `make modelled-times`. */
enum { VG_CLOCK_VERSION = 1 };

/** The model's view of a launch, beside its counters. */
struct vg_clock_facts {
    uint64_t blocks;
    uint32_t threads;              /**< of a block */
    int registers;                 /**< of a thread */
    size_t shared_bytes;           /**< of a block */
    double issue_slots;            /**< warp instructions, expanded ones by their slots */
    double slots[IR_CLASSES];      /**< the same per class */
    double int_simple;             /**< IR_CLASS_INT without multiplications, expansions */
    double l1_wavefronts, l1_tags; /**< of global accesses: clocks in L1's data and tags */
    double load_sectors;           /**< that loads requested, and of these */
    double l2_read_sectors;        /**< those that L1 did not have */
    double l2_write_sectors;       /**< that stores wrote */
    double local_sectors;          /**< of local memory, spilled registers included */
    double atomic_passes;          /**< sectors times operations on the same address */
    double atomic_queue;           /**< of them, those that wait for one another in one line */
    double dram_bytes;
    double warp_clocks; /**< of all warps together, if each ran alone */
    double
        busiest_share; /**< of the work, by the busiest multiprocessor; 0: all blocks are equal */
    double largest_share; /**< of the work, by the largest block; 0: the same */
};

struct vg_clock_result {
    double ns, occupancy;
    const char *limiter;
    int blocks_per_multiprocessor;
    double term_ns[VG_TERMS];
    double balance; /**< work of all multiprocessors, by that of as many busiest ones */
};

/** How many blocks of a kernel fit one multiprocessor by each of its resources. */
struct vg_clock_limits {
    int blocks, warps, registers, shared;
    int resident;    /**< the smallest */
    const char *why; /**< what stops more */
};
struct vg_clock_limits vg_clock_limits(const struct vg_profile *profile, uint32_t threads,
                                       int registers, size_t shared_bytes);

/** Blocks of a kernel that fit one multiprocessor, and what stops more. 0: the launch is too large.
 */
int vg_clock_resident(const struct vg_profile *profile, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit);

/** @return clocks from the issue of a global load to the use of its value, on average: from L1, L2
 * or DRAM. */
double vg_clock_load_latency(const struct vg_profile *profile, const struct vg_clock_facts *facts);

struct vg_clock_result vg_clock_kernel(const struct vg_profile *profile,
                                       const struct vg_counters *counters,
                                       const struct vg_clock_facts *facts);

/** @return the time that these terms make together: for "what if one of them were shorter". */
double vg_clock_combine(const double term_ns[VG_TERMS]);

/** A running kernel's share of the GPU: a part, 0 to 1, of each group of resources. */
enum { VG_CLOCK_GROUPS = 7 };
struct vg_clock_use {
    double of[VG_CLOCK_GROUPS];
};

/** @param balance  see vg_clock_result @param ns  the kernel's time */
struct vg_clock_use vg_clock_use_of(const double term_ns[VG_TERMS], double balance, double ns);

/** How fast a kernel runs beside others: 1 if there is room for all, 0 if there is none for it.
 * @param taken  by the others together */
double vg_clock_speed(const struct vg_clock_use *taken, const struct vg_clock_use *use);

/** @return the time that a GPU takes to start so many blocks one after another. */
double vg_clock_start_ns(const struct vg_profile *profile, double blocks);

/** @return the largest term. */
enum vg_term vg_clock_limiter(const double term_ns[VG_TERMS]);

/** @return a term's name in the trace. */
const char *vg_clock_term_name(enum vg_term term);
