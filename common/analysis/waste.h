/** @file
 * The waste of a kernel, and its time without it.
 */
#pragma once

#include "analysis/kernels.h"

/** The necessary shares of the used resources: 1 without waste. */
struct an_use {
    double lanes;      /**< for warps: thread instructions */
    double wavefronts; /**< for shared memory: passes over the banks */
    double sectors;    /**< for global memory: 32-byte sectors */
    double dram;       /**< for DRAM: requested bytes */
    double fill;       /**< for multiprocessors: the effect of a grid that does not divide evenly */
    double resident;   /**< the filled part of the places for blocks on all multiprocessors */
    int resident_blocks;
    const char *resident_limit; /**< the limit for blocks per multiprocessor */
};

/** Computes it from the counters (only with kernel->counted) and the grid of the longest launch.
 * @param gpu  may be NULL. */
struct an_use an_use_of(const struct an_kernel *kernel, const struct vg_profile *gpu);

/** The saved part of the time without each single waste; 0 if the kernel's terms are unknown. */
double an_saved_lanes(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_wavefronts(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_sectors(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_fill(const struct an_kernel *kernel, const struct an_use *use);

/** The share of each term in the time: by which the time shrinks with the term. @param share
 * [VG_TERMS], with sum 1; all 0 if unknown. */
void an_term_shares(const struct an_kernel *kernel, double share[VG_TERMS]);
