/** @file
 * The waste of a kernel, and the time that each waste costs.
 */
#pragma once

#include "analysis/kernels.h"

/** For each resource, the share of its use that is needed; 1: no waste. */
struct an_use {
    double lanes;      /**< of warps: active threads per instruction */
    double wavefronts; /**< of shared memory: passes over the banks */
    double sectors;    /**< of global memory: 32-byte sectors */
    double dram;       /**< of DRAM: requested bytes */
    double fill;       /**< of multiprocessors: below 1 if the grid does not divide evenly */
    double resident;   /**< resident blocks, as a share of the block slots of all multiprocessors */
    int resident_blocks;
    const char *resident_limit; /**< what limits blocks per multiprocessor */
};

/** Computes the shares from the counters (only with kernel->counted) and the grid of the longest
 * launch.
 * @param gpu  may be NULL. */
struct an_use an_use_of(const struct an_kernel *kernel, const struct vg_profile *gpu);

/** The share of the time that each waste costs; 0 if the kernel's terms are unknown. */
double an_saved_lanes(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_wavefronts(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_sectors(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_fill(const struct an_kernel *kernel, const struct an_use *use);

/** The share of each term in the time: how strongly the time shrinks if the term shrinks.
 * @param share  [VG_TERMS], with sum 1; all 0 if unknown. */
void an_term_shares(const struct an_kernel *kernel, double share[VG_TERMS]);
