/** @file
 * The time of a single warp: the longest chain of dependent instructions of each basic block, for
 * the latency term of the clock's model.
 */
#pragma once

#include "vgpu/exec/tally.h"

/** Clocks from the issue of an instruction to the issue of one that uses its result. */
struct path_latencies {
    double alu, shared, global, atomic;
};

/** @return the clocks of all warps of a launch together, if each ran alone: for each basic block
 * the longest chain in it, times its executions. Blocks with short forward branches between them
 * count as one block, since ptxas replaces these by predicates. Other blocks follow one another; a
 * load at the end of one block may delay the next, but never overlaps it, as in a loop that uses
 * its loaded values. */
double path_clocks(const struct vg_module *module, const struct vg_tally *tally,
                   const struct path_latencies *latencies);
