#include "analysis/limiter.h"

#include "analysis/measured.h"
#include "analysis/waste.h"
#include "base/numbers.h"
#include "vgpu/probe/model.h"

#include <math.h>
#include <stdarg.h>

/* A waste is the limiter if it costs at least this part of the kernel's time... */
#define MUCH_SAVED 0.20
/* ... and is worth a remark if it costs this part. */
#define SOME_SAVED 0.10
/* Most issue slots are used by multiply-adds if FP32 units are busy for this part of the issue
 * time.
 */
#define MOSTLY_FP32 0.70
/* The next largest term is worth a remark above this part of the longest term. For latency the part
 * is smaller: on an H200, kernels whose latency term is less than half wait noticeably
 * (docs/results/h200/analysis.md).
 */
#define NEXT_PART    0.75
#define NEXT_LATENCY 0.40
/* A rate above this part of the peak counts as the limit. */
#define NEAR_PEAK 0.60
/* If a launch takes less than this multiple of an empty launch's time, the launch itself
 * dominates. */
#define SHORT_LAUNCHES 2.0
/* Below this share of a multiprocessor's maximum number of warps, too few warps hide latency. */
#define LOW_OCCUPANCY 0.25

static const struct {
    const char *text, *title, *advice;
} limiters[AN_LIMITERS] = {
#define LIMITER(name, text, title, advice) {#text, title, advice},
#include "analysis/limiters.def"
#undef LIMITER
};

const char *an_limiter_text(enum an_limiter limiter)
{
    return limiters[limiter].text;
}

const char *an_limiter_title(enum an_limiter limiter)
{
    return limiters[limiter].title;
}

void an_figures_text(char to[AN_FIGURES_TEXT], const struct an_verdict *v)
{
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; i < v->figures; i++)
        n += (size_t)snprintf(to + n, AN_FIGURES_TEXT - n, "%s%s %s", i ? ", " : "",
                              v->figure[i].name, v->figure[i].value);
}

/* ---- the limiter ---------------------------------------------------------------------------- */

/* For each term of the model: the limiter if the term is the largest, and its text. */
static const struct {
    enum an_limiter limiter;
    const char *figure;
} terms[VG_TERMS] = {[VG_TERM_ISSUE] = {AN_ISSUE, "issue slots busy"},
                     [VG_TERM_FP32] = {AN_FP32, "FP32 units busy"},
                     [VG_TERM_FP64] = {AN_FP64, "FP64 units busy"},
                     [VG_TERM_FP16] = {AN_FP16, "FP16 units busy"},
                     [VG_TERM_INT] = {AN_INT, "integer units busy"},
                     [VG_TERM_SPECIAL] = {AN_SPECIAL, "special units busy"},
                     [VG_TERM_TENSOR] = {AN_TENSOR, "tensor cores busy"},
                     [VG_TERM_SHARED] = {AN_SHARED, "shared memory busy"},
                     [VG_TERM_L1] = {AN_L1, "L1 busy"},
                     [VG_TERM_L2] = {AN_L2, "L2 busy"},
                     [VG_TERM_DRAM] = {AN_DRAM, "DRAM busy"},
                     [VG_TERM_ATOMIC] = {AN_ATOMIC, "atomic operations"},
                     [VG_TERM_LATENCY] = {AN_LATENCY, "longest chain"},
                     [VG_TERM_BLOCKS] = {AN_SMALL_BLOCKS, "starting blocks"},
                     [VG_TERM_CONSTANT] = {AN_CONSTANT, "constant memory"},
                     [VG_TERM_BARRIERS] = {AN_BARRIERS, "barriers"},
                     [VG_TERM_LAUNCH] = {AN_LAUNCH, "launch"}};

const char *an_term_text(enum vg_term term)
{
    return terms[term].figure;
}

/* The busiest part. If most issued instructions are multiply-adds, FP32 is the limiter. If half of
 * L2's traffic goes to or comes from DRAM, DRAM is the limiter. */
static enum an_limiter busiest(const struct an_kernel *k, enum vg_term most)
{
    const double *t = k->term_ns;
    if (most == VG_TERM_L2 && k->dram_bytes > 0.5 * (k->l2_read_bytes + k->l2_write_bytes))
        return AN_DRAM;
    if (most == VG_TERM_ISSUE && t[VG_TERM_FP32] > MOSTLY_FP32 * t[VG_TERM_ISSUE])
        return AN_FP32;
    return terms[most].limiter;
}

/* Whether most loads and stores access local memory, in any cache. */
static bool is_local(const struct an_kernel *k)
{
    const struct tr_counters *c = &k->counters;
    const double local = c->local_load_sectors + c->local_store_sectors;
    return local > c->global_load_sectors + c->global_store_sectors;
}

/* The waste of the limiting resource if it is large, else the resource. @param saved  set to the
 * share of time that the waste costs. */
static enum an_limiter waste_of(const struct an_kernel *k, const struct an_use *use,
                                enum an_limiter limit, double *saved)
{
    const double lanes = an_saved_lanes(k, use), banks = an_saved_wavefronts(k, use),
                 sectors = an_saved_sectors(k, use), fill = an_saved_fill(k, use);
    const bool arithmetic = limit == AN_FP32 || limit == AN_ISSUE || limit == AN_INT ||
                            limit == AN_SPECIAL || limit == AN_FP64 || limit == AN_FP16;
    const bool memory = limit == AN_L1 || limit == AN_L2 || limit == AN_DRAM;
    *saved = 0;
    if (limit == AN_LATENCY && use->resident < 0.5)
        return AN_FEW_BLOCKS;
    if (fill > MUCH_SAVED && limit != AN_LATENCY)
        return *saved = fill, AN_FEW_BLOCKS;
    if ((arithmetic || limit == AN_LATENCY) && lanes > MUCH_SAVED)
        return *saved = lanes, AN_DIVERGENCE;
    if (memory && is_local(k))
        return AN_LOCAL;
    if (memory && sectors > MUCH_SAVED)
        return *saved = sectors, AN_UNCOALESCED;
    if ((limit == AN_SHARED || limit == AN_L1) && banks > MUCH_SAVED)
        return *saved = banks, AN_BANK_CONFLICTS;
    return limit;
}

/* The second remark: the waste that costs most, or the next resource if its time is almost as
 * long. */
static enum an_limiter second_of(const struct an_kernel *k, const struct an_use *use,
                                 enum an_limiter first, enum vg_term most)
{
    const struct {
        enum an_limiter limiter;
        double saved;
    } waste[] = {{AN_BANK_CONFLICTS, an_saved_wavefronts(k, use)},
                 {AN_UNCOALESCED, an_saved_sectors(k, use)},
                 {AN_DIVERGENCE, an_saved_lanes(k, use)},
                 {AN_FEW_BLOCKS, an_saved_fill(k, use)}};
    enum an_limiter second = AN_UNKNOWN;
    double best = SOME_SAVED;
    for (size_t i = 0; i < sizeof waste / sizeof *waste; i++)
        if (waste[i].limiter != first && waste[i].saved > best) {
            best = waste[i].saved;
            second = waste[i].limiter;
        }
    if (second != AN_UNKNOWN)
        return second;
    double next_ns = NEXT_PART * k->term_ns[most];
    for (int i = 0; i < VG_TERMS; i++)
        if (i != (int)most && i != VG_TERM_ISSUE && k->term_ns[i] > next_ns) {
            next_ns = k->term_ns[i];
            second = terms[i].limiter;
        }
    if (second == AN_UNKNOWN && most != VG_TERM_LATENCY &&
        k->term_ns[VG_TERM_LATENCY] > NEXT_LATENCY * k->term_ns[most])
        second = AN_LATENCY;
    return second == first ? AN_UNKNOWN : second;
}

static double rate(double amount, const struct an_kernel *k)
{
    return k->total_ns ? amount * 1e9 / (double)k->total_ns : 0;
}

static double peak_flops(const struct vg_profile *gpu)
{
    return 2 * gpu->fp32_lanes * gpu->multiprocessors * gpu->clock_hz;
}

/* Determines the limiter without a model, from times, the grid and known rates. */
static enum an_limiter of_rates(const struct an_kernel *k, const struct vg_profile *gpu,
                                const struct an_use *use)
{
    if (!gpu)
        return AN_UNKNOWN;
    const double mean_ns = k->calls ? (double)k->total_ns / (double)k->calls : 0;
    if (mean_ns < SHORT_LAUNCHES * gpu->kernel_overhead_ns)
        return AN_LAUNCH;
    if (k->dram_bytes >= 0 && rate(k->dram_bytes, k) > NEAR_PEAK * gpu->dram_bytes_per_s)
        return use->dram < 0.5 ? AN_UNCOALESCED : AN_DRAM;
    if (k->counted && rate(an_flop(k), k) > NEAR_PEAK * peak_flops(gpu))
        return AN_FP32;
    if (use->fill < 0.5 || use->resident < 0.25)
        return AN_FEW_BLOCKS;
    const double warps = use->resident_blocks * ceil(tr_threads(k->longest) / 32);
    if (warps > 0 && warps * 32 < LOW_OCCUPANCY * gpu->max_threads_per_multiprocessor && k->counted)
        return AN_LATENCY;
    return AN_UNKNOWN;
}

/* ---- evidence ---------------------------------------------------------------------------------
 */

static void __attribute__((format(printf, 3, 4)))
put(struct an_verdict *v, const char *name, const char *value, ...)
{
    if (v->figures == AN_FIGURES_MAX)
        return;
    struct an_figure *f = &v->figure[v->figures++];
    va_list args;
    va_start(args, value);
    vsnprintf(f->value, sizeof f->value, value, args);
    va_end(args);
    snprintf(f->name, sizeof f->name, "%s", name);
}

/* Writes the busiest resources as shares of the time: "FP32 units busy 83%". */
static void put_terms(struct an_verdict *v, const struct an_kernel *k)
{
    bool shown[VG_TERMS] = {false};
    for (int n = 0; n < 3; n++) {
        int most = -1;
        for (int i = 0; i < VG_TERMS; i++)
            if (!shown[i] && (most < 0 || k->term_ns[i] > k->term_ns[most]))
                most = i;
        const double part = k->total_ns ? k->term_ns[most] / (double)k->total_ns : 0;
        if (n > 0 && part < 0.2)
            return;
        shown[most] = true;
        put(v, terms[most].figure, "%.0f%%", 100 * fmin(1, part));
    }
}

static void put_counters(struct an_verdict *v, const struct an_kernel *k)
{
    const struct tr_counters *c = &k->counters;
    if (c->global_load_requests > 0)
        put(v, "sectors per load", "%.1f", ratio(c->global_load_sectors, c->global_load_requests));
    if (c->global_store_requests > 0)
        put(v, "sectors per store", "%.1f",
            ratio(c->global_store_sectors, c->global_store_requests));
    const double requests = c->shared_load_requests + c->shared_store_requests;
    if (requests > 0)
        put(v, "wavefronts per shared access", "%.2f",
            ratio(c->shared_load_wavefronts + c->shared_store_wavefronts, requests));
    const double warp_fma = c->fp32_fma / 32; /* as instructions of full warps */
    if (warp_fma > 0.01 * c->warp_instructions)
        put(v, "multiply-adds", "%.0f of 100 instructions",
            100 * ratio(warp_fma, c->warp_instructions *
                                      ratio(c->thread_instructions, 32 * c->warp_instructions)));
    put(v, "active lanes", "%.0f%%",
        100 * ratio(c->thread_instructions, 32 * c->warp_instructions));
    if (an_flop(k) > 0)
        put(v, "GFLOP/s", "%.0f", rate(an_flop(k), k) * 1e-9);
}

static void put_grid(struct an_verdict *v, const struct an_kernel *k, const struct an_use *use,
                     const struct vg_profile *gpu)
{
    if (gpu)
        put(v, "blocks", "%.0f on %d multiprocessors", tr_blocks(k->longest), gpu->multiprocessors);
    if (use->resident_blocks > 0)
        put(v, "resident blocks", "%d (%s)", use->resident_blocks, use->resident_limit);
    if (k->dram_bytes > 0)
        put(v, "DRAM", "%.0f GB/s", rate(k->dram_bytes, k) * 1e-9);
}

/* The longest chain of a warp: its waits, which are the model's term, and the issue of its
 * instructions between them. */
static double chain_ns(const struct an_kernel *k, const struct vg_profile *gpu)
{
    const double warps = k->occupancy * gpu->max_threads_per_multiprocessor / 32;
    return k->term_ns[VG_TERM_LATENCY] +
           k->term_ns[VG_TERM_ISSUE] / fmax(1, warps / fmax(1, gpu->issue_slots));
}

/* ---- the verdict ---------------------------------------------------------------------------- */

void an_judge(struct an_verdict *v, const struct an_kernel *kernel, const struct vg_profile *gpu)
{
    struct an_kernel finished = *kernel;
    an_measured_finish(&finished, gpu);
    if (kernel->has_terms && !kernel->measured && gpu && kernel->occupancy > 0)
        finished.term_ns[VG_TERM_LATENCY] = chain_ns(kernel, gpu);
    const struct an_kernel *k = &finished;
    const struct an_use use = an_use_of(k, gpu);
    *v = (struct an_verdict){.second = AN_UNKNOWN};
    if (k->has_terms) {
        const enum vg_term most = vg_clock_limiter(k->term_ns);
        v->limiter = waste_of(k, &use, busiest(k, most), &v->saved);
        v->second = second_of(k, &use, v->limiter, most);
        put_terms(v, k);
    } else {
        v->limiter = of_rates(k, gpu, &use);
    }
    if (k->occupancy > 0)
        put(v, "occupancy", "%.0f%%", 100 * k->occupancy);
    if (k->counted)
        put_counters(v, k);
    put_grid(v, k, &use, gpu);
    snprintf(v->advice, sizeof v->advice, "%s", limiters[v->limiter].advice);
}
