/** @file
 * The kernel model of the virtual clock: the time of a launch on a profile's GPU, and its limiter.
 * It is a roofline model of all pipes, memories and latency; see model.c.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/ptx/ptx_ir.h"

/** Increase this when modelled times change, and run `make modelled-times`. */
enum { VG_CLOCK_VERSION = 4 };

/** Facts about a launch that the model needs, besides the launch's counters. */
struct vg_clock_facts {
    uint64_t blocks;
    uint32_t threads;              /**< per block */
    int registers;                 /**< per thread */
    size_t shared_bytes;           /**< per block */
    double issue_slots;            /**< of all warps' instructions, which may take several */
    double slots[IR_CLASSES];      /**< issue slots per class */
    double int_simple;             /**< IR_CLASS_INT without multiplications and expansions */
    double l1_wavefronts, l1_tags; /**< clocks of L1's data and tags for global accesses */
    double l2_read_sectors;        /**< sectors of loads that are not in L1 */
    double l2_write_sectors;       /**< sectors written by stores */
    double local_sectors;          /**< sectors of local memory, including spilled registers */
    double atomic_passes;          /**< sum over sectors of the operations on their busiest word */
    double atomic_queue;           /**< of these, passes that one cache line serialises */
    double dram_bytes, dram_read_bytes; /**< both directions; loads alone */
    double warp_clocks;   /**< sum over all warps of the clocks that each would take alone */
    double busiest_share; /**< the busiest multiprocessor's part of the work; 0: blocks are equal */
    double largest_share; /**< the largest block's part of the work; 0: blocks are equal */
};

struct vg_clock_result {
    double ns, occupancy;
    const char *limiter;
    double term_ns[VG_TERMS];
    double balance;           /**< mean work of a multiprocessor / work of the busiest one */
    double scheduler_balance; /**< mean work of its schedulers / work of the busiest one */
};

/** How many blocks of a kernel fit one multiprocessor, for each of its resources. */
struct vg_clock_limits {
    int blocks, warps, registers, shared;
    int resident;    /**< the smallest of these */
    const char *why; /**< the resource that limits it */
};
struct vg_clock_limits vg_clock_limits(const struct vg_profile *profile, uint32_t threads,
                                       int registers, size_t shared_bytes);

/** @return the number of blocks of a kernel that fit one multiprocessor, and the limiting resource.
 * 0: the launch is too large. */
int vg_clock_resident(const struct vg_profile *profile, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit);

/** @return mean clocks from the issue of a global load to the use of its value. A request waits
 * for the last of its sectors, which come from L1, L2 or DRAM.
 * @param missed  share of the requests that do not find all sectors in L1
 * @param sectors  such sectors per such request */
double vg_clock_load_latency(const struct vg_profile *profile, const struct vg_clock_facts *facts,
                             double missed, double sectors);

struct vg_clock_result vg_clock_kernel(const struct vg_profile *profile,
                                       const struct vg_counters *counters,
                                       const struct vg_clock_facts *facts);

/** @return the time that these terms give together. Callers shorten a term to estimate its
 * effect. */
double vg_clock_combine(const double term_ns[VG_TERMS]);

/** A running kernel's share of the GPU: 0 to 1 for each group of resources. */
enum { VG_CLOCK_GROUPS = 7 };
struct vg_clock_use {
    double of[VG_CLOCK_GROUPS];
};

/** @return a kernel's share of the GPU. @param balance, scheduler_balance  see vg_clock_result
 * @param slots  the share of the block slots that it fills @param ns  the kernel's time */
struct vg_clock_use vg_clock_use_of(const double term_ns[VG_TERMS], double balance,
                                    double scheduler_balance, double slots, double ns);

/** @return the relative speed of a kernel that runs beside others: 1: all of them fit, 0: nothing
 * is left for this kernel.
 * @param taken  the other kernels' share */
double vg_clock_speed(const struct vg_clock_use *taken, const struct vg_clock_use *use);

/** @return the time in which a GPU starts @p blocks blocks, one after another. */
double vg_clock_start_ns(const struct vg_profile *profile, double blocks);

/** @return the largest of the terms. */
enum vg_term vg_clock_limiter(const double term_ns[VG_TERMS]);

/** @return a term's name in the trace. */
const char *vg_clock_term_name(enum vg_term term);
