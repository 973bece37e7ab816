#include "analysis/measured.h"

#include "vgpu/probe/model.h"

#include <math.h>

/* Half of the FP32 units also multiply integers. If this half is busier than the average of both
 * halves by this factor, it is busy with integers. */
#define HEAVY_IS_INTEGER 1.3

static const enum vg_term idle_terms[] = {VG_TERM_LATENCY, VG_TERM_BARRIERS, VG_TERM_ATOMIC};

/* @return the term of the most frequent reason why warps wait. */
static enum vg_term idle_term(const struct tr_row *row)
{
    const struct tr_hardware *h = &row->hardware;
    const double others = fmax(fmax(h->stalled_memory_cycles, h->stalled_execution_cycles),
                               fmax(h->stalled_fetch_cycles, h->stalled_pipe_cycles));
    if (h->stalled_barrier_cycles > fmax(others, h->stalled_throttle_cycles))
        return VG_TERM_BARRIERS;
    if (row->counters.global_atomic_requests > 0 && h->stalled_throttle_cycles > others)
        return VG_TERM_ATOMIC;
    return VG_TERM_LATENCY;
}

bool an_measured_terms(const struct tr_row *row, double term_ns[VG_TERMS])
{
    const struct tr_hardware *h = &row->hardware;
    const struct tr_counters *c = &row->counters;
    const double ns = (double)tr_ns(row);
    if (h->busy_issue <= 0)
        return false;
    const bool multiplies = h->busy_fma_heavy > HEAVY_IS_INTEGER * h->busy_fma;
    const bool shared =
        c->shared_load_wavefronts + c->shared_store_wavefronts > fmax(0, row->l1_wavefronts);
    double busy[VG_TERMS] = {[VG_TERM_ISSUE] = h->busy_issue,
                             [VG_TERM_FP32] = multiplies ? 0 : h->busy_fma,
                             [VG_TERM_FP64] = h->busy_fp64,
                             [VG_TERM_INT] = fmax(h->busy_alu, multiplies ? h->busy_fma_heavy : 0),
                             [VG_TERM_SPECIAL] = h->busy_special,
                             [VG_TERM_TENSOR] = h->busy_tensor,
                             [VG_TERM_L2] = h->busy_l2,
                             [VG_TERM_DRAM] = h->busy_dram,
                             [VG_TERM_CONSTANT] = h->busy_constant};
    busy[shared ? VG_TERM_SHARED : VG_TERM_L1] = h->busy_load_store;
    double most = 0;
    for (int i = 0; i < VG_TERMS; i++)
        most = fmax(most, fmin(1, busy[i]));
    busy[idle_term(row)] = 1 - most;
    for (int i = 0; i < VG_TERMS; i++)
        term_ns[i] = fmin(1, busy[i]) * ns;
    return true;
}

void an_measured_finish(struct an_kernel *k, const struct vg_profile *gpu)
{
    if (!k->measured || !gpu)
        return;
    const double launches = fmin((double)k->total_ns, (double)k->calls * gpu->kernel_overhead_ns);
    const double left = k->total_ns ? 1 - launches / (double)k->total_ns : 0;
    k->term_ns[VG_TERM_LAUNCH] = launches;
    k->term_ns[VG_TERM_BLOCKS] = (double)k->calls * vg_clock_start_ns(gpu, tr_blocks(k->longest));
    for (size_t i = 0; i < sizeof idle_terms / sizeof *idle_terms; i++) {
        double *idle = &k->term_ns[idle_terms[i]];
        *idle = fmax(0, fmin(*idle * left, (double)k->total_ns - k->term_ns[VG_TERM_BLOCKS]));
    }
}
