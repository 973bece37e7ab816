/* 1. How many blocks fit a multiprocessor, hence how many waves the grid takes and how full the
 * last one leaves the chip.
 * 2. For each resource: the clocks that the busiest multiprocessor needs, or for L2 and DRAM the
 * time of the whole chip.
 * 3. The latency bound: a warp issues one instruction after another; with few warps nobody else
 * fills the gaps. Dependent instructions are assumed to come in pairs (two are in flight).
 * 4. The largest is the duration, and names the limiter. */
#include "vgpu/probe/model.h"

#include <math.h>

static int at_most(double a, double b)
{
    double r = floor(a / (b > 0 ? b : 1));
    return r > 1e6 ? 1000000 : (int)r;
}

int vg_clock_resident(const struct vg_profile *p, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit)
{
    int warps = (int)((threads + 31) / 32);
    int most = p->max_blocks_per_multiprocessor;
    const char *why = "blocks";
    int by_warps = at_most(p->max_threads_per_multiprocessor / 32, warps);
    /* Registers are given out by warp, in units of 256. */
    double per_warp = ceil((double)(registers > 0 ? registers : 1) * 32 / 256) * 256;
    int by_registers = at_most(floor(p->registers_per_multiprocessor / per_warp), warps);
    size_t shared = shared_bytes + p->shared_reserved_bytes;
    shared = (shared + 127) / 128 * 128;
    int by_shared =
        shared ? at_most((double)p->shared_per_multiprocessor_bytes, (double)shared) : most;
    if (by_warps < most)
        most = by_warps, why = "warps";
    if (by_registers < most)
        most = by_registers, why = "registers";
    if (by_shared < most)
        most = by_shared, why = "shared memory";
    if (limit)
        *limit = why;
    return most;
}

struct candidate {
    const char *name;
    double ns;
};

static void consider(struct candidate *best, const char *name, double ns)
{
    if (ns > best->ns)
        *best = (struct candidate){name, ns};
}

static double rate(double lanes)
{
    return lanes > 0 ? lanes / 32 : 1;
}

struct vg_clock_result vg_clock_kernel(const struct vg_profile *p, const struct vg_counters *c,
                                       const struct vg_clock_facts *f)
{
    int resident = vg_clock_resident(p, f->threads, f->registers, f->shared_bytes, NULL);
    int chips = p->multiprocessors > 0 ? p->multiprocessors : 1;
    double warps = (f->threads + 31) / 32, ns = p->clock_hz > 0 ? 1e9 / p->clock_hz : 1;
    resident = resident > 0 ? resident : 1;

    /* 1. The busiest multiprocessor has this share of the blocks. */
    double blocks = (double)(f->blocks ? f->blocks : 1);
    double busiest = ceil(blocks / chips);
    double share = busiest / blocks;
    double at_once = fmin(busiest, resident);
    double max_warps = p->max_threads_per_multiprocessor / 32.0;
    double used = fmin(1, blocks / chips);
    struct vg_clock_result r = {.blocks_per_multiprocessor = resident};
    r.occupancy =
        fmin(1, at_once * warps / (max_warps > 0 ? max_warps : 64)) * (blocks < chips ? 1 : 1);

    /* 2. Clocks of that multiprocessor on each of its resources. */
    struct candidate best = {"launch", 0};
    const double *s = f->slots;
    double tensor_rate = rate(p->fp16_lanes) / 2;
    consider(&best, "issue",
             f->issue_slots * share / (p->issue_slots > 0 ? p->issue_slots : 4) * ns);
    consider(&best, "fp32", s[IR_CLASS_FP32] * share / rate(p->fp32_lanes) * ns);
    consider(&best, "fp64", s[IR_CLASS_FP64] * share / rate(p->fp64_lanes) * ns);
    consider(&best, "fp16", s[IR_CLASS_FP16] * share / rate(p->fp16_lanes) * ns);
    consider(&best, "int", s[IR_CLASS_INT] * share / rate(p->int_lanes) * ns);
    consider(&best, "special",
             (s[IR_CLASS_SPECIAL] + s[IR_CLASS_CONVERT]) * share / rate(p->special_lanes) * ns);
    consider(&best, "tensor", s[IR_CLASS_TENSOR] * share / tensor_rate * ns);
    double requests =
        (double)(c->global_load_requests + c->global_store_requests + c->global_atomic_requests +
                 c->local_load_requests + c->local_store_requests + c->shared_load_requests +
                 c->shared_store_requests);
    consider(&best, "load/store",
             (requests + s[IR_CLASS_EXCHANGE]) * share / rate(p->ldst_lanes) * ns);
    double wavefronts = (double)(c->shared_load_wavefronts + c->shared_store_wavefronts);
    consider(&best, "shared",
             wavefronts * 128 * share /
                 (p->shared_bytes_per_clock > 0 ? p->shared_bytes_per_clock : 128) * ns);
    double sectors = (double)(c->global_load_sectors + c->global_store_sectors +
                              c->local_load_sectors + c->local_store_sectors);
    consider(&best, "l1",
             sectors * 32 * share / (p->l1_bytes_per_clock > 0 ? p->l1_bytes_per_clock : 128) * ns);

    /* The L1 catches part of the loads: no cache is simulated, so take the reuse that the footprint
     * shows, and let a quarter of what is reused miss. */
    double bytes = sectors * 32 + (double)c->global_atomic_sectors * 32;
    double l2 = fmin(bytes, f->dram_bytes + (bytes - f->dram_bytes) * 0.25);
    l2 = fmax(l2, (double)(c->global_store_sectors + c->global_atomic_sectors) * 32);
    consider(&best, "l2", l2 / (p->l2_bytes_per_s > 0 ? p->l2_bytes_per_s : 1e12) * 1e9 / used);
    consider(&best, "dram",
             f->dram_bytes / (p->dram_bytes_per_s > 0 ? p->dram_bytes_per_s : 1e11) * 1e9);
    consider(&best, "atomic",
             (double)c->global_atomic_sectors * 32 /
                 (p->l2_bytes_per_s > 0 ? p->l2_bytes_per_s : 1e12) * 4e9);

    /* 3. One warp's chain of instructions, as often as the busiest multiprocessor's warps take
     * turns. */
    double total_warps = blocks * warps;
    double per_warp = (f->issue_slots * p->alu_latency_clocks * 0.5 +
                       (double)(c->global_load_requests + c->local_load_requests) *
                           p->global_latency_clocks * 0.25 +
                       (double)c->shared_load_requests * p->shared_latency_clocks * 0.25) /
                      total_warps;
    consider(&best, "latency", per_warp * ceil(busiest / resident) * ns);

    r.limiter = best.name;
    r.ns = best.ns + p->launch_overhead_ns;
    return r;
}
