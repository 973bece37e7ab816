/* The time of a kernel, from its counters and the rates of the GPU:
 *
 * 1. Find the number of blocks that fit a multiprocessor, and the busiest multiprocessor's share of
 *    all work.
 * 2. Find the clocks that this multiprocessor (for L2 and DRAM: the whole chip) needs on each
 *    resource. Resources that the same work passes one after another, such as L2 and DRAM, form a
 *    group; the slowest counts for the group:
 *
 *        arithmetic    the issue of machine instructions; the pipes that execute them
 *        load/store    wavefronts of 128 bytes (bank conflicts count, in L1 as in shared memory);
 *                      tags: four lines of a request are looked up per clock
 *        memory        traffic past L1, from the replayed sample; L2, DRAM, atomics
 *        latency       the clocks in which a warp waits in its longest chain of dependent
 *                      instructions, times the number of rounds in which the warps take turns
 *        blocks        the time to start a block, whatever the block does
 *        constant, barriers
 *
 * 3. The groups overlap, but not perfectly: they take the fourth root of the sum of their fourth
 *    powers. A single group gives its time; two equal ones give a fifth more. Latency overlaps less
 *    with the other groups, because the warps of a block wait for each other (LATENCY_POWER). The
 *    start of blocks overlaps with the work of other blocks, and with their waiting.
 * 4. The largest term is the limiter; latency is, if the whole chain is longer than all terms. */
#include "vgpu/probe/model.h"

#include "vgpu/probe/occupancy.h"

#include <math.h>
#include <stdbool.h>

static int at_most(double a, double b)
{
    double r = floor(a / (b > 0 ? b : 1));
    return r > 1e6 ? 1000000 : (int)r;
}

struct vg_clock_limits vg_clock_limits(const struct vg_profile *p, uint32_t threads, int registers,
                                       size_t shared_bytes)
{
    const int warps = (int)((threads + 31) / 32);
    const size_t shared = (shared_bytes + p->shared_reserved_bytes + 127) / 128 * 128;
    struct vg_clock_limits l = {
        .blocks = p->max_blocks_per_multiprocessor,
        .warps = at_most(p->max_threads_per_multiprocessor / 32, warps),
        .registers =
            at_most(occupancy_warps(p->registers_per_multiprocessor, registers > 0 ? registers : 1),
                    warps)};
    l.shared =
        shared ? at_most((double)p->shared_per_multiprocessor_bytes, (double)shared) : l.blocks;
    l.resident = l.blocks, l.why = "blocks";
    if (l.warps < l.resident)
        l.resident = l.warps, l.why = "warps";
    if (l.registers < l.resident)
        l.resident = l.registers, l.why = "registers";
    if (l.shared < l.resident)
        l.resident = l.shared, l.why = "shared memory";
    return l;
}

int vg_clock_resident(const struct vg_profile *p, uint32_t threads, int registers,
                      size_t shared_bytes, const char **limit)
{
    const struct vg_clock_limits l = vg_clock_limits(p, threads, registers, shared_bytes);
    if (limit)
        *limit = l.why;
    return l.resident;
}

/* @return a profile's value; @p otherwise if it is not positive, as in some tests' profiles. */
static double or_else(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* Measured on an H200 (docs/results/h200), and used for all GPUs. */
#define ISSUE_OVERHEAD      1.1 /* factor for machine instructions without a row in opcodes.def */
#define CONSTANT_WAY_CLOCKS 3   /* for each further address in a load from constant memory */
#define BARRIER_CLOCKS      2.2 /* for each warp at a barrier */
#define ATOMIC_QUEUE_CLOCKS 2.5 /* between two atomics on one address: 3.5 float, 1.5 int */
#define POWER               4   /* 1: groups of resources do not overlap, infinity: perfectly */
#define LATENCY_POWER       1.1 /* the same for latency and the others */
#define BLOCKS_POWER        6   /* the same for the start of blocks and all others */

enum group { ARITHMETIC, LOAD_STORE, MEMORY, LATENCY, BLOCKS, CONSTANT, BARRIERS, GROUPS, NONE };

static const struct {
    const char *text;
    enum group group;
} terms[VG_TERMS] = {
#define TERM(name, text, group) {#text, group},
    VG_TERM_MAP(TERM)
#undef TERM
};

static void consider(double term_ns[VG_TERMS], enum vg_term term, double ns)
{
    term_ns[term] = fmax(term_ns[term], ns);
}

const char *vg_clock_term_name(enum vg_term term)
{
    return terms[term].text;
}

static double overlap(double a, double b, double power)
{
    return pow(pow(a, power) + pow(b, power), 1 / power);
}

/* step 3 above */
static double combine(const double group[GROUPS])
{
    double busy = 0;
    for (int i = 0; i < GROUPS; i++)
        if (i != LATENCY && i != BLOCKS)
            busy = overlap(busy, group[i], POWER);
    const double works = overlap(busy, group[LATENCY], LATENCY_POWER);
    return overlap(works, group[BLOCKS], BLOCKS_POWER);
}

double vg_clock_combine(const double term_ns[VG_TERMS])
{
    double group_ns[GROUPS] = {0};
    for (int i = 0; i < VG_TERMS; i++)
        if (terms[i].group != NONE)
            group_ns[terms[i].group] = fmax(group_ns[terms[i].group], term_ns[i]);
    return combine(group_ns) + term_ns[VG_TERM_LAUNCH];
}

_Static_assert((int)GROUPS == (int)VG_CLOCK_GROUPS, "all groups exist");

/* Other kernels run while the warps of one wait, but only on the slots that it leaves free. A
 * multiprocessor's own resources are idle while it has less work than the busiest one, and so are
 * those of a scheduler; L2 and DRAM are shared by all multiprocessors. */
struct vg_clock_use vg_clock_use_of(const double term_ns[VG_TERMS], double balance,
                                    double scheduler_balance, double slots, double ns)
{
    struct vg_clock_use use = {{0}};
    for (int i = 0; i < VG_TERMS && ns > 0; i++) {
        const bool is_shared = i == VG_TERM_L2 || i == VG_TERM_DRAM || i == VG_TERM_ATOMIC;
        const double own = terms[i].group == LATENCY      ? fmin(1, slots)
                           : terms[i].group == ARITHMETIC ? balance * scheduler_balance
                                                          : balance;
        const double part = term_ns[i] / ns * (is_shared ? 1 : own);
        if (terms[i].group != NONE)
            use.of[terms[i].group] = fmin(1, fmax(use.of[terms[i].group], part));
    }
    return use;
}

/* @return the time of both kernels as if they were one. */
static double together(const struct vg_clock_use *a, const struct vg_clock_use *b, double speed)
{
    double all[GROUPS];
    for (int i = 0; i < GROUPS; i++)
        all[i] = a->of[i] + speed * b->of[i];
    return combine(all);
}

double vg_clock_speed(const struct vg_clock_use *taken, const struct vg_clock_use *use)
{
    enum { STEPS = 40 };
    double slow = 0, fast = 1;
    if (together(taken, use, 1) <= 1 + 1e-9)
        return 1;
    for (int i = 0; i < STEPS; i++) {
        const double middle = (slow + fast) / 2;
        if (together(taken, use, middle) <= 1 + 1e-9)
            slow = middle;
        else
            fast = middle;
    }
    return slow;
}

/* step 4 above */
enum vg_term vg_clock_limiter(const double term_ns[VG_TERMS])
{
    enum vg_term most = VG_TERM_LAUNCH;
    for (int i = 0; i < VG_TERMS; i++)
        if (term_ns[i] > term_ns[most])
            most = (enum vg_term)i;
    return most;
}

/* @return the share of the stored sectors that a store fills only in part. Such a sector lacks half
 * its 32 bytes on average. */
static double partial_sectors(const struct vg_counters *c)
{
    const double sectors = (double)c->global_store_sectors;
    const double lacking = 32 * sectors - (double)c->global_store_bytes;
    return sectors > 0 ? fmin(1, fmax(0, lacking / 16 / sectors)) : 0;
}

static double rate(double lanes)
{
    return lanes > 0 ? lanes / 32 : 1;
}

/* Computes the terms of the issue of instructions and of the pipes, which belong to the schedulers.
 * @param each  duration of a clock, times the part of all work that a multiprocessor would have
 * whose schedulers were all as busy as the busiest one */
static void own_pipes(double e[VG_TERMS], const struct vg_profile *p,
                      const struct vg_clock_facts *f, double each)
{
    const double *s = f->slots;
    const double simple = fmin(f->int_simple, s[IR_CLASS_INT]);
    consider(e, VG_TERM_ISSUE, f->issue_slots * ISSUE_OVERHEAD * each / or_else(p->issue_slots, 4));
    consider(e, VG_TERM_FP32, s[IR_CLASS_FP32] * each / rate(p->fp32_lanes));
    consider(e, VG_TERM_FP64, s[IR_CLASS_FP64] * each / rate(p->fp64_lanes));
    consider(e, VG_TERM_FP16, s[IR_CLASS_FP16] * each / rate(p->fp16_lanes));
    consider(e, VG_TERM_INT,
             (simple / rate(or_else(p->int_add_lanes, p->int_lanes)) +
              (s[IR_CLASS_INT] - simple) / rate(p->int_lanes)) *
                 each);
    /* Half of the conversions (those to integers) use the pipe of the special functions. */
    consider(e, VG_TERM_SPECIAL,
             (s[IR_CLASS_SPECIAL] + 0.5 * s[IR_CLASS_CONVERT]) * each / rate(p->special_lanes));
    consider(e, VG_TERM_TENSOR, s[IR_CLASS_TENSOR] * each / (rate(p->fp16_lanes) / 2));
}

/* Computes the terms of a multiprocessor's other resources. @param each  duration of a clock, times
 * the busiest multiprocessor's part of all work */
static void own_resources(double e[VG_TERMS], const struct vg_profile *p,
                          const struct vg_counters *c, const struct vg_clock_facts *f, double each)
{
    const double *s = f->slots;
    const double shared =
        (double)(c->shared_load_wavefronts + c->shared_store_wavefronts) + s[IR_CLASS_EXCHANGE];
    const double global = f->l1_wavefronts + f->local_sectors / 4;
    consider(e, shared > global ? VG_TERM_SHARED : VG_TERM_L1,
             (shared + global) * each * 128 / or_else(p->shared_bytes_per_clock, 128));
    consider(e, VG_TERM_L1, (f->l1_tags + f->local_sectors / 4) * each);
    consider(e, VG_TERM_L2,
             (f->l2_read_sectors + f->l2_write_sectors) * 32 * each /
                 or_else(p->l2_bytes_per_clock, 64));

    const double ways = (double)c->constant_wavefronts - (double)c->constant_requests;
    consider(e, VG_TERM_CONSTANT, fmax(0, ways) * CONSTANT_WAY_CLOCKS * each);
    consider(e, VG_TERM_BARRIERS, (double)c->barriers * BARRIER_CLOCKS * each);
}

double vg_clock_load_latency(const struct vg_profile *p, const struct vg_clock_facts *f,
                             double missed, double sectors)
{
    const double from_dram =
        f->l2_read_sectors > 0 ? fmin(1, f->dram_read_bytes / (32 * f->l2_read_sectors)) : 0;
    const double any_from_dram = 1 - pow(1 - from_dram, sectors);
    return p->l1_latency_clocks +
           missed * (p->l2_latency_clocks - p->l1_latency_clocks +
                     any_from_dram * fmax(0, p->dram_latency_clocks - p->l2_latency_clocks));
}

double vg_clock_start_ns(const struct vg_profile *p, double blocks)
{
    const double ns = p->clock_hz > 0 ? 1e9 / p->clock_hz : 1;
    const double chips = p->multiprocessors > 0 ? p->multiprocessors : 1;
    return ceil(blocks / chips) * p->block_launch_clocks * ns;
}

struct vg_clock_result vg_clock_kernel(const struct vg_profile *p, const struct vg_counters *c,
                                       const struct vg_clock_facts *f)
{
    const double ns = p->clock_hz > 0 ? 1e9 / p->clock_hz : 1;
    const double chips = p->multiprocessors > 0 ? p->multiprocessors : 1;
    const double warps = (f->threads + 31) / 32, blocks = (double)(f->blocks ? f->blocks : 1);
    int resident = vg_clock_resident(p, f->threads, f->registers, f->shared_bytes, NULL);
    resident = resident > 0 ? resident : 1;

    /* step 1 */
    const double busiest = ceil(blocks / chips), at_once = fmin(busiest, resident);
    const double share = fmax(busiest / blocks, f->busiest_share);
    const double max_warps = or_else(p->max_threads_per_multiprocessor / 32.0, 64);
    struct vg_clock_result r = {.occupancy = fmin(1, at_once * warps / max_warps)};

    /* step 2 */
    double *const e = r.term_ns;
    consider(e, VG_TERM_LAUNCH, p->kernel_overhead_ns);
    /* The scheduler with the most warps works longest. */
    const double at_work = at_once * warps;
    r.scheduler_balance = at_work / SCHEDULERS / ceil(at_work / SCHEDULERS);
    own_pipes(e, p, f, share * ns / r.scheduler_balance);
    own_resources(e, p, c, f, share * ns);
    const double l2 = or_else(p->l2_bytes_per_s, 1e12), partial = partial_sectors(c);
    consider(e, VG_TERM_L2,
             32e9 * ((f->l2_read_sectors + f->l2_write_sectors * (1 - partial)) / l2 +
                     f->l2_write_sectors * partial / or_else(p->l2_write_bytes_per_s, l2)));
    consider(e, VG_TERM_DRAM, f->dram_bytes / or_else(p->dram_bytes_per_s, 1e11) * 1e9);
    consider(e, VG_TERM_ATOMIC, f->atomic_passes / or_else(p->l2_atomics_per_clock, 30) * ns);
    consider(e, VG_TERM_ATOMIC, f->atomic_queue * ATOMIC_QUEUE_CLOCKS * ns);
    const double in_turn = ceil(busiest / resident) / blocks;
    const double turn_ns = fmax(in_turn, f->largest_share) / warps * ns;
    const double chain_ns = f->warp_clocks * turn_ns;
    consider(e, VG_TERM_LATENCY, fmax(0, chain_ns - f->issue_slots * ISSUE_OVERHEAD * turn_ns));
    consider(e, VG_TERM_BLOCKS, vg_clock_start_ns(p, blocks));

    /* step 4 */
    r.balance = 1 / (share * chips);
    r.ns = vg_clock_combine(e);
    const enum vg_term most = vg_clock_limiter(e);
    r.limiter = vg_clock_term_name(chain_ns > e[most] ? VG_TERM_LATENCY : most);
    return r;
}
