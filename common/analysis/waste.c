#include "analysis/waste.h"

#include "vgpu/probe/model.h"

#include <math.h>
#include <string.h>

enum { LANES = 32, SECTOR_BYTES = 32, WAVEFRONT_BYTES = 128 };

static double part(double needed, double used)
{
    return used > 0 ? fmin(1, needed / used) : 1;
}

/* The passes or sectors that are needed: at least one per request, and enough for the requested
 * bytes. If threads share words, they request more bytes than are moved. */
static double least(double requests, double bytes, double unit_bytes)
{
    return fmax(requests, bytes / unit_bytes);
}

static void use_of_counters(struct an_use *use, const struct an_kernel *k)
{
    const struct tr_counters *c = &k->counters;
    const double loads = least(c->shared_load_requests, c->shared_load_bytes, WAVEFRONT_BYTES),
                 stores = least(c->shared_store_requests, c->shared_store_bytes, WAVEFRONT_BYTES);
    use->lanes = part(c->thread_instructions, LANES * c->warp_instructions);
    use->wavefronts =
        part(fmin(loads, c->shared_load_wavefronts) + fmin(stores, c->shared_store_wavefronts),
             c->shared_load_wavefronts + c->shared_store_wavefronts);
    const double reads = least(c->global_load_requests, c->global_load_bytes, SECTOR_BYTES),
                 writes = least(c->global_store_requests, c->global_store_bytes, SECTOR_BYTES);
    use->sectors = part(fmin(reads, c->global_load_sectors) + fmin(writes, c->global_store_sectors),
                        c->global_load_sectors + c->global_store_sectors);
    use->dram =
        part(c->global_load_bytes + c->global_store_bytes + SECTOR_BYTES * c->global_atomic_sectors,
             k->dram_bytes);
}

struct an_use an_use_of(const struct an_kernel *k, const struct vg_profile *gpu)
{
    const struct tr_row *row = k->longest;
    struct an_use use = {1, 1, 1, 1, 1, 1, 0, ""};
    if (k->counted)
        use_of_counters(&use, k);
    const double blocks = tr_blocks(row), chips = gpu ? gpu->multiprocessors : 0;
    if (chips < 1 || blocks < 1)
        return use;
    use.fill = blocks / (ceil(blocks / chips) * chips);
    use.resident_blocks = vg_clock_resident(
        gpu, (uint32_t)tr_threads(row), row->registers,
        (size_t)(row->static_shared_bytes + row->dynamic_shared_bytes), &use.resident_limit);
    if (use.resident_blocks > 0)
        use.resident = fmin(1, blocks / (use.resident_blocks * chips));
    return use;
}

/* ---- savings -------------------------------------------------------------------------------- */

static double saved(const struct an_kernel *k, const double term_ns[VG_TERMS])
{
    const double now = vg_clock_combine(k->term_ns);
    return k->has_terms && now > 0 ? fmax(0, 1 - vg_clock_combine(term_ns) / now) : 0;
}

/* Scales the terms @p first to @p last. */
static void scale(double term_ns[VG_TERMS], double factor, enum vg_term first, enum vg_term last)
{
    for (int i = (int)first; i <= (int)last; i++)
        term_ns[i] *= factor;
}

double an_saved_lanes(const struct an_kernel *k, const struct an_use *use)
{
    double t[VG_TERMS];
    memcpy(t, k->term_ns, sizeof t);
    scale(t, use->lanes, VG_TERM_ISSUE, VG_TERM_TENSOR);
    t[VG_TERM_LATENCY] *= use->lanes;
    return saved(k, t);
}

double an_saved_wavefronts(const struct an_kernel *k, const struct an_use *use)
{
    const struct tr_counters *c = &k->counters;
    double t[VG_TERMS];
    memcpy(t, k->term_ns, sizeof t);
    /* Shared memory and L1 share a data path; the larger term covers both. */
    const double shared = c->shared_load_wavefronts + c->shared_store_wavefronts,
                 all = shared + fmax(0, k->l1_wavefronts);
    const double factor = all > 0 ? 1 - (1 - use->wavefronts) * shared / all : 1;
    t[VG_TERM_SHARED] *= factor;
    if (t[VG_TERM_SHARED] == 0)
        t[VG_TERM_L1] *= factor;
    return saved(k, t);
}

double an_saved_sectors(const struct an_kernel *k, const struct an_use *use)
{
    double t[VG_TERMS];
    memcpy(t, k->term_ns, sizeof t);
    t[VG_TERM_L1] *= use->sectors;
    t[VG_TERM_L2] *= use->sectors;
    t[VG_TERM_DRAM] *= use->dram;
    return saved(k, t);
}

/* Assumes that the work inside a multiprocessor is distributed evenly. */
double an_saved_fill(const struct an_kernel *k, const struct an_use *use)
{
    double t[VG_TERMS];
    memcpy(t, k->term_ns, sizeof t);
    scale(t, use->fill, VG_TERM_ISSUE, VG_TERM_L1);
    t[VG_TERM_CONSTANT] *= use->fill;
    t[VG_TERM_BARRIERS] *= use->fill;
    return saved(k, t);
}

void an_term_shares(const struct an_kernel *k, double share[VG_TERMS])
{
    double sum = 0;
    for (int i = 0; i < VG_TERMS; i++) {
        /* The derivative of the time with respect to this term alone. */
        double t[VG_TERMS];
        memcpy(t, k->term_ns, sizeof t);
        t[i] *= 0.999;
        share[i] = saved(k, t);
        sum += share[i];
    }
    for (int i = 0; i < VG_TERMS; i++)
        share[i] = sum > 0 ? share[i] / sum : 0;
}
