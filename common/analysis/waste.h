/** @file
 * What a kernel does in vain, and what its time would be without.
 */
#pragma once

#include "analysis/kernels.h"

/** Shares of what is used that are needed: 1 without waste. */
struct an_use {
    double lanes;      /**< of warps: thread instructions */
    double wavefronts; /**< of shared memory: passes over the banks */
    double sectors;    /**< of global memory: 32-byte sectors */
    double dram;       /**< of DRAM: bytes that were requested */
    double fill;       /**< of the multiprocessors, by a grid that does not divide evenly */
    double resident;   /**< of the places for blocks on all multiprocessors that the grid fills */
    int resident_blocks;
    const char *resident_limit; /**< what stops more blocks on a multiprocessor */
};

/** Looks at the counters (only with kernel->counted) and at the grid of the longest launch. @param
 * gpu  may be NULL. */
struct an_use an_use_of(const struct an_kernel *kernel, const struct vg_profile *gpu);

/** Saved parts of the time without one waste each; 0 if its terms are not known. */
double an_saved_lanes(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_wavefronts(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_sectors(const struct an_kernel *kernel, const struct an_use *use);
double an_saved_fill(const struct an_kernel *kernel, const struct an_use *use);

/** How much of the time is each term's: the share by which the time shrinks when the term does.
 * @param share  [VG_TERMS], they add up to 1; all 0 if they are not known. */
void an_term_shares(const struct an_kernel *kernel, double share[VG_TERMS]);
