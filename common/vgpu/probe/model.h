/** @file
 * The kernel model of the virtual clock: the time of a launch on a profile's GPU, and its limiter.
 * It is a roofline over all pipes and memories and the latency; see model.c.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/ptx/ptx_ir.h"

/** Raise it when modelled times change, and run `make modelled-times`. */
enum { VG_CLOCK_VERSION = 2 };

/** Facts of a launch for the model, besides its counters. */
struct vg_clock_facts {
    uint64_t blocks;
    uint32_t threads;              /**< of a block */
    int registers;                 /**< of a thread */
    size_t shared_bytes;           /**< of a block */
    double issue_slots;            /**< of warp instructions; expanded ones by their slots */
    double slots[IR_CLASSES];      /**< per class */
    double int_simple;             /**< IR_CLASS_INT without multiplications, expansions */
    double l1_wavefronts, l1_tags; /**< of global accesses: clocks in L1's data and tags */
    double load_sectors;           /**< requested by loads */
    double l2_read_sectors;        /**< of these, missing in L1 */
    double l2_write_sectors;       /**< written by stores */
    double local_sectors;          /**< of local memory, with spilled registers */
    double atomic_passes;          /**< sectors times operations on the same address */
    double atomic_queue;           /**< of these, the ones that wait for each other in one line */
    double dram_bytes;
    double warp_clocks;   /**< sum over all warps, as if each ran alone */
    double busiest_share; /**< the busiest multiprocessor's part of the work; 0: equal blocks */
    double largest_share; /**< the largest block's part of the work; 0: all blocks are equal */
};

struct vg_clock_result {
    double ns, occupancy;
    const char *limiter;
    int blocks_per_multiprocessor;
    double term_ns[VG_TERMS];
    double balance; /**< mean work of a multiprocessor / work of the busiest one */
};

/** The number of a kernel's blocks that fit one multiprocessor, by each of its resources. */
struct vg_clock_limits {
    int blocks, warps, registers, shared;
    int resident;    /**< the smallest */
    const char *why; /**< the resource that limits it */
};
struct vg_clock_limits vg_clock_limits(const struct vg_profile *profile, uint32_t threads,
                                       int registers, size_t shared_bytes);

/** @return the number of blocks of a kernel that fit one multiprocessor, and the limiting resource.
 0: the launch is too large.
 */
int vg_clock_resident(const struct vg_profile *profile, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit);

/** @return clocks from the issue of a global load to the use of its value, on average: from L1, L2
 * or DRAM. */
double vg_clock_load_latency(const struct vg_profile *profile, const struct vg_clock_facts *facts);

struct vg_clock_result vg_clock_kernel(const struct vg_profile *profile,
                                       const struct vg_counters *counters,
                                       const struct vg_clock_facts *facts);

/** @return the time that these terms give together, for estimates with one term made shorter. */
double vg_clock_combine(const double term_ns[VG_TERMS]);

/** A running kernel's share of the GPU: a part, 0 to 1, of each group of resources. */
enum { VG_CLOCK_GROUPS = 7 };
struct vg_clock_use {
    double of[VG_CLOCK_GROUPS];
};

/** @param balance  see vg_clock_result @param ns  the kernel's time */
struct vg_clock_use vg_clock_use_of(const double term_ns[VG_TERMS], double balance, double ns);

/** @return the speed of a kernel that runs beside others: 1 if all fit, 0 if this kernel gets
 * nothing.
 * @param taken  share of the others together */
double vg_clock_speed(const struct vg_clock_use *taken, const struct vg_clock_use *use);

/** @return the time in which a GPU starts @p blocks blocks, one after another. */
double vg_clock_start_ns(const struct vg_profile *profile, double blocks);

/** @return the largest term. */
enum vg_term vg_clock_limiter(const double term_ns[VG_TERMS]);

/** @return a term's name in the trace. */
const char *vg_clock_term_name(enum vg_term term);
