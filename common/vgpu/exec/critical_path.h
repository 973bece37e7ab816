/** @file
 * The time of a single warp: the longest chain of dependent instructions of each basic block, for
 * the latency term of the clock's model.
 */
#pragma once

#include "vgpu/exec/tally.h"

/** Clocks from the issue of an instruction to the issue of one that uses its result. */
struct path_latencies {
    double alu, shared, atomic;
    const double *loads; /**< from global memory, for each site */
};

/** @return the sum of the clocks that each warp of a launch would take alone: for each basic block
 * its longest chain, times its executions. Basic blocks with short forward branches between them
 * count as one, since ptxas replaces these branches by predicates. Other basic blocks never
 * overlap: the next one waits for a load at the end of the last one, as in a loop that uses the
 * values that it loads. */
double path_clocks(const struct vg_kernel *kernel, const struct vg_tally *tally,
                   const struct path_latencies *latencies);
