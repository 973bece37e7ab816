#include "vgpu/exec/launch_report.h"

#include "vgpu/exec/block_work.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/critical_path.h"
#include "vgpu/exec/cache_sample.h"
#include "vgpu/exec/tally.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/exec/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls visit() once for each allocation touched by loads (or stores) of this launch. */
static void each_touched(struct vg_launch *l, bool of_stores,
                         void (*visit)(struct vg_launch *, struct vg_allocation *, double *),
                         double *sum)
{
    const struct vg_memory *m = &l->device->memory;
    bool *visited = calloc(m->count + 1, sizeof *visited);
    const struct ir_function *f;
    for (size_t at = 0; visited && (f = vg_code_next(l->kernel, &at));)
        for (size_t k = 0; k < f->insn_count; k++) {
            const struct ir_insn *in = &f->insns[k];
            if (!in->site || (in->op == IR_ST || bulk_is_store(in)) != of_stores)
                continue;
            for (int i = 0; i < l->device->worker_count; i++) {
                const struct vg_worker *w = &l->device->workers[i];
                const uint32_t site = in->op == IR_CP_ASYNC ? in->site - 1 : in->site;
                const struct vg_site *s = &w->sites[site];
                if (w->used_by != l->number || !s->span)
                    continue;
                if (s->allocation->shared && (of_stores || in->op == IR_ATOM))
                    l->device->told_host = l->number;
                if (!(in->mode & (MODE_STRONG | MODE_VOLATILE)) && in->op != IR_ATOM)
                    *(of_stores ? &s->allocation->stored_by : &s->allocation->loaded_by) =
                        l->number;
                if (ir_rows[in->op].class == IR_CLASS_ATOMIC)
                    s->allocation->changed_by = l->number;
                if (visited[s->allocation - m->list])
                    continue;
                visited[s->allocation - m->list] = true;
                visit(l, s->allocation, sum);
            }
        }
    free(visited);
}

static void add_bytes(struct vg_launch *l, struct vg_allocation *a, double *sum)
{
    (void)l;
    *sum += (double)a->bytes;
}

static void add_bytes_not_in_l2(struct vg_launch *l, struct vg_allocation *a, double *sum)
{
    if (!vg_memory_in_l2(&l->device->memory, a, (double)l->device->profile.l2_bytes))
        *sum += (double)a->bytes;
}

static void pass_l2(struct vg_launch *l, struct vg_allocation *a, double *most)
{
    vg_memory_pass_l2(&l->device->memory, a, fmin((double)a->bytes, *most));
}

/* Loaded data comes from DRAM once, unless earlier work left it in the L2 cache. Stored data goes
 * to DRAM, except what the cache keeps (25 of 60 MB on an H200). */
static void find_dram_bytes(struct vg_launch *l, struct vg_clock_facts *f)
{
    const double kept = 0.4 * (double)l->device->profile.l2_bytes;
    double loaded = 0, stored = 0, read = 32 * f->l2_read_sectors,
           written = 32 * f->l2_write_sectors;
    each_touched(l, false, add_bytes_not_in_l2, &loaded);
    each_touched(l, true, add_bytes, &stored);
    each_touched(l, false, pass_l2, &read);
    each_touched(l, true, pass_l2, &written);
    f->dram_read_bytes = fmin(loaded, read);
    f->dram_bytes = f->dram_read_bytes + fmax(0, fmin(stored, written) - kept);
}

int vg_resident_blocks(const struct vg_launch *l)
{
    int n = vg_clock_resident(&l->device->profile, l->threads, vg_kernel_registers(l->kernel),
                              l->shared_bytes, NULL);
    return n > 0 ? n : 1;
}

/* Adds the loads and stores of spilled registers, with the share of all instructions that they have
 * in the machine code. If the machine code uses no local memory, the PTX's arrays have become
 * registers. */
static void correct_local(const struct vg_kernel *k, struct vg_clock_facts *f,
                          const struct vg_counters *c)
{
    f->local_sectors = (double)(c->local_load_sectors + c->local_store_sectors);
    if (!k->cubin.registers)
        return;
    if (!k->cubin.local_bytes)
        f->local_sectors = 0;
    if (k->cubin.spills && k->cubin.instructions)
        f->local_sectors += 4 * f->issue_slots * k->cubin.spills / k->cubin.instructions;
}

/* Replays the sample of the launch, and sets the facts that follow from its accesses. */
static void find_memory_facts(struct vg_launch *l, const struct vg_tally *tally,
                              struct vg_clock_facts *facts)
{
    const struct vg_profile *p = &l->device->profile;
    const size_t sites = l->module->ir.site_count + 1;
    struct sample_misses *misses = calloc(sites, sizeof *misses);
    double *loads = calloc(sites, sizeof *loads);
    if (misses && loads) {
        sample_play(l->device->sample, l, vg_resident_blocks(l), tally->sites, misses, facts);
        find_dram_bytes(l, facts);
        for (size_t i = 0; i < sites; i++)
            loads[i] = vg_clock_load_latency(p, facts, (double)misses[i].requests,
                                             (double)misses[i].sectors);
        const struct path_latencies latencies = {.alu = p->alu_latency_clocks,
                                                 .shared = p->shared_latency_clocks,
                                                 .atomic = p->l2_latency_clocks,
                                                 .loads = loads};
        facts->warp_clocks = path_clocks(l->kernel, tally, &latencies);
    }
    free(loads);
    free(misses);
}

void vg_launch_report_fill(struct vg_launch *l, struct vg_launch_report *report)
{
    const struct ir_function *f = l->kernel->function;
    const struct vg_profile *p = &l->device->profile;
    struct vg_clock_facts facts = {.blocks = l->blocks,
                                   .threads = l->threads,
                                   .registers = vg_kernel_registers(l->kernel),
                                   .shared_bytes = l->shared_bytes};
    report->registers = facts.registers;
    report->registers_sm = l->kernel->cubin.registers ? l->kernel->cubin.sm : 0;
    report->static_shared_bytes = f->shared_bytes;
    report->dynamic_shared_bytes = l->dynamic_bytes;
    report->local_bytes = vg_kernel_local_bytes(l->kernel);
    struct vg_tally *tally = vg_tally_launch(l, report, &facts);
    find_memory_facts(l, tally, &facts);
    correct_local(l->kernel, &facts, &report->counters);
    vg_tally_free(tally);
    block_work_end(l, vg_resident_blocks(l), &facts);
    struct vg_clock_result r = vg_clock_kernel(p, &report->counters, &facts);
    report->modelled_ns = r.ns;
    report->occupancy = r.occupancy;
    snprintf(report->limiter, sizeof report->limiter, "%s", r.limiter);
    report->balance = r.balance;
    report->scheduler_balance = r.scheduler_balance;
    memcpy(report->term_ns, r.term_ns, sizeof r.term_ns);
    report->dram_bytes = facts.dram_bytes;
    report->l2_read_bytes = 32 * facts.l2_read_sectors;
    report->l2_write_bytes = 32 * facts.l2_write_sectors;
    report->l1_wavefronts = facts.l1_wavefronts + facts.local_sectors / 4;
    l->kernel->tally->last = *report;
    l->kernel->tally->modelled_ns += r.ns;
}
