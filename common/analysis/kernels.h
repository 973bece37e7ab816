/** @file
 * The launches of a trace in groups, with their sums.
 */
#pragma once

#include "trace/trace.h"

/** A group of launches of one kernel, with any grids or with the same grid. Or a group of copies,
 * fills or API calls of one name, for which only the times are set. */
struct an_kernel {
    const struct tr_row *first;
    const struct tr_row *longest; /**< the longest launch: name, grid, registers, ... */
    uint64_t calls, total_ns, min_ns, max_ns;
    double occupancy; /**< mean over time */
    bool counted;     /**< counters are known for all launches */
    bool has_terms;   /**< term_ns is known: modelled on the virtual GPU, measured on a real one */
    bool measured;    /**< by ncu */
    struct tr_counters counters;
    double dram_bytes, l2_read_bytes, l2_write_bytes, l1_wavefronts; /**< negative: unknown */
    double term_ns[VG_TERMS];
};

/** The key by which launches are grouped. */
enum an_by {
    AN_BY_LAUNCH,   /**< kernels only: name, grid, block and dynamic shared memory */
    AN_BY_ACTIVITY, /**< kernels, copies and fills: name */
    AN_BY_CALL      /**< API calls: name */
};

struct an_kernels {
    struct an_kernel *group; /**< longest total first; equal totals in the trace's order */
    size_t n;
    uint64_t total_ns; /**< sum over all groups */
};

/** Groups the rows of a trace; the groups point into these rows. Free with an_kernels_free(). */
enum st_code an_kernels_sum(struct an_kernels *kernels, const struct tr_trace *trace, enum an_by by,
                            struct st_error *err);

/** Copies counters and measurements of the launches in another run; times are unchanged. */
void an_kernel_count(struct an_kernel *kernel, const struct an_kernel *counted);

/** @return the group of the same kernel (with AN_BY_LAUNCH also of the same grid and block), or
 NULL.
 */
const struct an_kernel *an_kernels_find(const struct an_kernels *kernels,
                                        const struct an_kernel *like, enum an_by by);

/** Releases the groups; harmless on a zeroed struct. */
void an_kernels_free(struct an_kernels *kernels);

/** @return the number of floating-point operations; a multiply-add counts as two. */
double an_flop(const struct an_kernel *kernel);
