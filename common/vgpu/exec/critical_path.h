/** @file
 * How long one warp alone would need: the longest chain of dependent instructions of each basic
 * block, for the latency term of the clock's model.
 */
#pragma once

#include "vgpu/exec/tally.h"

/** Clocks from the issue of an instruction to that of one which needs its result. */
struct path_latencies {
    double alu, shared, global, atomic;
};

/** @return the clocks of all warps of a launch together, if each ran alone: for each basic block
 * the longest chain in it, times its executions. Blocks with short forward branches between them are
 * one, as ptxas makes predicates of these. Others follow one another; a load at the end of
 * one may delay the next, never run beside it, as in a loop that needs what it loads. */
double path_clocks(const struct vg_module *module, const struct vg_tally *tally,
                   const struct path_latencies *latencies);
